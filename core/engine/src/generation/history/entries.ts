/** Entries of the history: how an attempt becomes one, and which one a rollback goes to. */

import { type Clock, GatewayError } from "@sluice/contract";
import type { OpenedConfig, OpenOptions } from "../../config/load.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import type { Definitions } from "../../registry/definitions.ts";
import { effectsOf } from "../diff/effects/effects.ts";
import { changesOf, snapshotOfTexts, textsOf } from "./file-texts.ts";
import type { Author, GenerationHistory, GenerationOrigin, HistoryEntry } from "./history.ts";
import type { ApplyResult } from "../rollout/apply.ts";
import { isForced } from "../rollout/shrink-guard.ts";

/** Maximum of stored effects of an edit: the worst ones are kept. */
const KEPT_EFFECTS = 50;

/** The author of a saved file: the file does not tell which user saved it. */
const FILE_AUTHOR: Author = Object.freeze({ name: "file", from: "file" });

/** The author of an automatic rollback. */
export const AUTO_ROLLBACK: Author = Object.freeze({ name: "auto_rollback", from: "gateway" });

/** The author that a caller names. `undefined`: the caller gave no name. */
export function callerOf(name: string | undefined): Author | undefined {
  return name === undefined ? undefined : { name, from: "caller" };
}

/** The parts of the entries. */
export interface EntryParts {
  readonly history: GenerationHistory;
  readonly clock: Clock;
  readonly place: OpenOptions;
  readonly definitions: Definitions;
}

/** The origin of a generation, and the snapshots before and after it. */
export interface EntryOrigin {
  readonly origin: GenerationOrigin;
  readonly contentsOf?: number | undefined;
  /** The files on disk, when other contents run. */
  readonly onDisk?: string | undefined;
  readonly force?: string | undefined;
  /** Absent: no caller asked, or the caller gave no name. */
  readonly author?: Author | undefined;
  /** The previous snapshot. Absent at a start: the edits since the last run count. */
  readonly from?: Snapshot | undefined;
  /** The running snapshot; absent for one that never served all keys. */
  readonly to?: Snapshot | undefined;
}

/** The entry of a generation that an attempt made. */
export function entryOf(
  result: ApplyResult,
  opened: OpenedConfig,
  parts: EntryParts,
  how: EntryOrigin,
): HistoryEntry {
  const { history, clock, place, definitions } = parts;
  const last = history.entries.findLast(({ returned }) => returned === undefined);
  const before = last === undefined ? undefined : history.textsOf(last.generation);
  const from =
    how.from ?? (before === undefined ? undefined : snapshotOfTexts(before, place, definitions));
  const effects =
    from === undefined || how.to === undefined ? [] : effectsOf(from, how.to, definitions.steps);
  const texts = textsOf(opened);
  // A start and a rollback apply contents that no caller has just saved.
  const isEdit = how.origin === "files" || how.origin === "canary";
  const isSaved = isEdit && opened.own === undefined && before !== undefined;
  const author = how.author ?? (isSaved ? FILE_AUTHOR : undefined);
  return {
    ...(author !== undefined && { author }),
    generation: result.generation ?? 0,
    digest: result.digest ?? "",
    atMs: clock.now(),
    origin: how.origin,
    contentsOf: how.contentsOf,
    ...(how.onDisk !== undefined && { onDisk: how.onDisk }),
    isForced:
      (how.origin === "files" || how.origin === "push") &&
      how.to !== undefined &&
      isForced(how.to, how.force),
    ...(how.origin === "rollback" && result.reason !== undefined && { reason: result.reason }),
    path: opened.path,
    changes: before === undefined ? [] : changesOf(before, texts, opened.cwd),
    effects: effects
      .slice(0, KEPT_EFFECTS)
      .map(({ risk, about, message }) => ({ risk, about, message })),
  };
}

/**
 * The entry to go back to: the one that is named, or the newest before what runs that differs from
 * it. Throws `not_found`.
 */
export function rollbackTarget(
  entries: readonly HistoryEntry[],
  running: HistoryEntry | undefined,
  generation: number | undefined,
): HistoryEntry {
  if (generation !== undefined) {
    const named = entries.find((entry) => entry.generation === generation);
    if (named !== undefined) return named;
    const kept = entries.map((entry) => entry.generation);
    throw notFound(
      `Generation ${generation} is not in the history, which holds ${kept.join(", ") || "none"}.`,
    );
  }
  const from = running?.contentsOf ?? running?.generation ?? 0;
  const earlier = entries.findLast(
    ({ generation: number, digest, returned }) =>
      number < from && digest !== running?.digest && returned === undefined,
  );
  if (earlier === undefined)
    throw notFound("The history has no generation before the running one.");
  return earlier;
}

/**
 * An entry that another worker made, with its contents, held back from the files as it is there.
 * Throws `not_found`.
 */
export function entryToFollow(history: GenerationHistory, generation: number) {
  history.refresh();
  const entry = history.entries.find((one) => one.generation === generation);
  const texts = entry === undefined ? undefined : history.textsOf(generation);
  if (entry === undefined || texts === undefined)
    throw notFound(`The files of generation ${generation} are not in the history.`);
  const { contentsOf = generation, onDisk } = entry;
  return { entry, texts, held: onDisk === undefined ? undefined : { texts, contentsOf, onDisk } };
}

/**
 * Whether a generation's number may be used again: a start with the same contents is the same
 * generation. A canary that was returned never served all keys: with its contents it is another
 * one.
 */
export function lastNumberBefore(snapshot: Snapshot, { entries }: GenerationHistory): number {
  const last = entries.at(-1);
  if (last === undefined) return 0;
  return last.digest === snapshot.digest && last.returned === undefined
    ? last.generation - 1
    : last.generation;
}

/** A refusal for what is not there. */
export function notFound(message: string): GatewayError {
  return new GatewayError("not_found", message, { param: "generation" });
}
