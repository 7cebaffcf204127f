/** Entries of the history: how an attempt becomes one, and which one a rollback goes to. */

import { type Clock, GatewayError } from "@sluice/spec";
import type { OpenedConfig } from "../config/load.ts";
import { changesOf, textsOf } from "./file-texts.ts";
import type { GenerationHistory, GenerationOrigin, HistoryEntry } from "./history.ts";
import type { ApplyResult } from "./manager.ts";

/** The entry of a generation that an attempt made. */
export function entryOf(
  result: ApplyResult,
  opened: OpenedConfig,
  { history, clock }: { readonly history: GenerationHistory; readonly clock: Clock },
  how: { readonly origin: GenerationOrigin; readonly contentsOf?: number | undefined; readonly force?: string | undefined },
): HistoryEntry {
  const last = history.entries.findLast(({ returned }) => returned === undefined);
  const before = last === undefined ? undefined : history.textsOf(last.generation);
  return {
    generation: result.generation ?? 0,
    digest: result.digest ?? "",
    atMs: clock.now(),
    origin: how.origin,
    contentsOf: how.contentsOf,
    isForced: how.force !== undefined && how.origin === "files",
    path: opened.path,
    changes: before === undefined ? [] : changesOf(before, textsOf(opened), opened.cwd),
  };
}

/** The entry to go back to: the one that is named, or the newest before what runs that differs from it. Throws `not_found`. */
export function rollbackTarget(
  entries: readonly HistoryEntry[],
  running: HistoryEntry | undefined,
  generation: number | undefined,
): HistoryEntry {
  if (generation !== undefined) {
    const named = entries.find((entry) => entry.generation === generation);
    if (named !== undefined) return named;
    const kept = entries.map((entry) => entry.generation);
    throw notFound(`Generation ${generation} is not in the history, which holds ${kept.join(", ") || "none"}.`);
  }
  const from = running?.contentsOf ?? running?.generation ?? 0;
  const earlier = entries.findLast(
    ({ generation: number, digest, returned }) => number < from && digest !== running?.digest && returned === undefined,
  );
  if (earlier === undefined) throw notFound("The history holds no generation before the one that runs.");
  return earlier;
}

/** A refusal for what is not there. */
export function notFound(message: string): GatewayError {
  return new GatewayError("not_found", message, { param: "generation" });
}
