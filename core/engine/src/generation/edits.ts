/** Edits: how contents of files become a generation, by being noticed, by being asked for, or from the history. */

import { resolve } from "node:path";
import { type Clock, GatewayError, isGatewayError, type Log } from "@sluice/spec";
import type { Finding } from "../config/finding.ts";
import { openConfig, type OpenedConfig, type OpenOptions, resolveSnapshot } from "../config/load.ts";
import { openSettled } from "../config/settled.ts";
import type { Snapshot, SnapshotFile } from "../config/snapshot.ts";
import { diskSource, heldSource, overlaidSource, sha256 } from "../config/source.ts";
import { type ConfigWatch, watchConfig } from "../config/watch.ts";
import { checkPipelines } from "../pipeline/compile.ts";
import type { Definitions } from "../registry/definitions.ts";
import { changesOf, digestOnDisk, snapshotOfTexts, textsOf } from "./contents.ts";
import { effectsOf } from "./effects/effects.ts";
import type { FileTexts, GenerationHistory, GenerationOrigin, HistoryEntry } from "./history.ts";
import type { ApplyResult, GenerationManager, ManagerStatus } from "./manager.ts";

/** What edits need of the process. */
export interface EditParts {
  readonly place: OpenOptions;
  readonly definitions: Definitions;
  readonly manager: GenerationManager;
  readonly history: GenerationHistory;
  readonly clock: Clock;
  readonly log: Log;
}

/** A file whose contents on disk are not those that run. */
export interface DriftedFile {
  readonly path: string;
  readonly change: "changed" | "added" | "removed";
}

/** What `GET /config/status` tells. */
export interface EditStatus extends ManagerStatus {
  /** How the live generation came to be. */
  readonly entry: HistoryEntry | undefined;
  /** Files that differ from what runs: after a refused edit, a rollback, a start from the last good one. */
  readonly drift: readonly DriftedFile[];
}

/** What a candidate would come to. Nothing of it is applied. */
export interface Review {
  readonly digest: string | undefined;
  readonly isUnchanged: boolean;
  readonly findings: readonly Finding[];
  /** The candidate, when it could be read. */
  readonly snapshot: Snapshot | undefined;
}

/** Contents that run instead of the files. */
interface Held {
  readonly texts: FileTexts;
  readonly contentsOf: number;
  /** What the files were when these contents replaced them: as long as they stay so, the contents stay. */
  readonly onDisk: string;
}

interface Candidate {
  readonly opened: OpenedConfig;
  readonly origin: GenerationOrigin;
  readonly held?: Held | undefined;
  readonly force?: string | undefined;
}

/** A reading of the files that has not ended. */
interface Reading {
  /** Somebody asked for it: it replaces what was rolled back. */
  isAsked: boolean;
  readonly force: string | undefined;
  readonly result: Promise<ApplyResult>;
}

const KEPT_ATTEMPTS = 20;
/** Of an edit that rewrites everything the worst are kept. */
const KEPT_EFFECTS = 50;
/**
 * The quiet that an edit waits for while older generations still drain: a burst that a human or a script keeps up makes no
 * pile of generations, and its last edit is live within a second all the same.
 */
const BUSY_DEBOUNCE_MS = 500;
const CALM_DEBOUNCE_MS = 100;

/** The edits of a running gateway. Readings follow one another, so that an older one is never applied after a newer one. */
export class ConfigEdits {
  readonly #parts: EditParts;
  readonly #watch: ConfigWatch;
  readonly #closing = new AbortController();
  readonly #attempts: ApplyResult[] = [];
  #entry: HistoryEntry | undefined;
  #held: Held | undefined;
  /** What ran before what runs now. */
  #previous: Snapshot | undefined;
  #opened: OpenedConfig;
  #lastReading: Promise<unknown> = Promise.resolve();
  #reading: Reading | undefined;

  /** Begins to watch. `first` is what was started with, `held` its contents when they are not those of the files. */
  constructor(parts: EditParts, first: ApplyResult, opened: OpenedConfig, held?: { texts: FileTexts; contentsOf: number }) {
    this.#parts = parts;
    this.#opened = opened;
    this.#held = held === undefined ? undefined : { ...held, onDisk: digestOnDisk(opened) };
    const candidate = held === undefined ? opened : openConfig({ ...parts.place, source: heldSource(held.texts) });
    this.#remember(first, { opened: candidate, origin: held === undefined ? "start" : "last_good", held: this.#held });
    this.#watch = watchConfig({
      paths: opened.watched,
      debounceMs: () => (parts.manager.status.draining.length > 0 ? BUSY_DEBOUNCE_MS : CALM_DEBOUNCE_MS),
      // A failure is logged where it happens.
      onChange: () => void this.#reload(false).catch(() => undefined),
      onError: (error) => parts.log.warn("watching the configuration failed; polling goes on", { error }),
    });
  }

  get status(): EditStatus {
    return { ...this.#parts.manager.status, entry: this.#entry, drift: this.#drift() };
  }

  /** Generations, newest last, and the last attempts of this process. */
  get history(): { readonly entries: readonly HistoryEntry[]; readonly attempts: readonly ApplyResult[] } {
    return { entries: this.#parts.history.entries, attempts: this.#attempts };
  }

  /** Reads the files again and applies them. `force` is the digest of a candidate that the shrink guard refused. */
  reload(force?: string): Promise<ApplyResult> {
    return this.#reload(true, force);
  }

  /** What files would come to, some of them replaced by texts, or taken away by a null. Throws `invalid_field`. */
  review(files: Readonly<Record<string, string | null>>): Review {
    const { place, definitions, manager } = this.#parts;
    const texts = new Map(Object.entries(files).map(([name, text]) => [resolve(place.cwd, name), text]));
    const opened = openConfig({ ...place, source: overlaidSource(texts) });
    for (const [path, text] of texts) {
      if (text === null || opened.documents.includes(path)) continue;
      const message = `The configuration has no file ${path}: name the gateway file, the prices or a file in the folder of pipelines.`;
      throw new GatewayError("invalid_field", message, { param: "files" });
    }
    const { snapshot, findings, pipelines } = resolveSnapshot(opened, definitions.all);
    if (snapshot === undefined) {
      const order = checkPipelines(pipelines, definitions.steps);
      return { digest: undefined, isUnchanged: false, findings: [...findings, ...order], snapshot };
    }
    const isUnchanged = manager.live?.snapshot.digest === snapshot.digest;
    return { digest: snapshot.digest, isUnchanged, findings: isUnchanged ? [] : manager.review(snapshot), snapshot };
  }

  /**
   * Applies the contents of an older generation as a new one, whatever the shrink guard says, and leaves the files alone.
   * Without a number: the newest one before what runs that differs from it. Throws `not_found`.
   */
  rollback(generation?: number): Promise<ApplyResult> {
    return this.#inOrder(async () => {
      const { place, history } = this.#parts;
      const target = this.#target(generation);
      const texts = history.textsOf(target.generation);
      if (texts === undefined || !texts.has(resolve(place.cwd, place.path))) {
        throw notFound(`The files of generation ${target.generation} are not kept, or belong to another gateway file.`);
      }
      const held = { texts, contentsOf: target.generation, onDisk: digestOnDisk(this.#opened) };
      const opened = openConfig({ ...place, source: heldSource(texts) });
      const { snapshot } = resolveSnapshot(opened, this.#parts.definitions.all);
      return { result: this.#apply({ opened, origin: "rollback", held, force: snapshot?.digest }) };
    });
  }

  /** Ends the watch and what is being read. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watch.close();
  }

  #reload(isAsked: boolean, force?: string): Promise<ApplyResult> {
    const current = this.#reading;
    if (current !== undefined && current.force === force) {
      // A reading ends with a look whether the files are still what was read, so it is good for whoever asks before its end.
      current.isAsked ||= isAsked;
      return current.result;
    }
    const reading: Omit<Reading, "result"> = { isAsked, force };
    const result = this.#inOrder(async () => {
      const { place } = this.#parts;
      const opened = await openSettled(place, this.#closing.signal).finally(() => {
        if (this.#reading?.result === result) this.#reading = undefined;
      });
      this.#opened = opened;
      const held = this.#held;
      // Only something else changed, such as the file of a secret: what was rolled back stays.
      if (!reading.isAsked && held !== undefined && held.onDisk === digestOnDisk(opened)) {
        const source = heldSource(held.texts);
        return { result: this.#apply({ opened: openConfig({ ...place, source }), origin: "rollback", held }) };
      }
      return { result: this.#apply({ opened, origin: "files", force }) };
    });
    this.#reading = Object.assign(reading, { result });
    return result;
  }

  /** Runs a reading after the one before. What it applies is handed to the manager before the next one begins. */
  #inOrder(read: () => Promise<{ readonly result: Promise<ApplyResult> }>): Promise<ApplyResult> {
    const reading = this.#lastReading.then(read);
    this.#lastReading = reading.catch(() => undefined);
    const applied = reading.then(({ result }) => result);
    applied.catch((error: unknown) => {
      if (!this.#closing.signal.aborted && !isGatewayError(error)) this.#parts.log.error("an edit failed", { error });
    });
    return applied;
  }

  async #apply(candidate: Candidate): Promise<ApplyResult> {
    const { manager, definitions } = this.#parts;
    const { opened, force } = candidate;
    this.#watch.update([...new Set([...this.#opened.watched, ...opened.watched])]);
    const resolved = resolveSnapshot(opened, definitions.all);
    if (resolved.snapshot === undefined) {
      const refused = manager.refuse([...resolved.findings, ...checkPipelines(resolved.pipelines, definitions.steps)]);
      return this.#remember(refused, candidate);
    }
    return this.#remember(await manager.apply(resolved.snapshot, { force }), candidate);
  }

  #remember(result: ApplyResult, { opened, origin, held, force }: Candidate): ApplyResult {
    this.#attempts.push(result);
    this.#attempts.splice(0, this.#attempts.length - KEPT_ATTEMPTS);
    if (result.outcome === "applied" || result.outcome === "unchanged") this.#held = held;
    const { history, clock } = this.#parts;
    if (result.outcome !== "applied" || result.generation === undefined || result.digest === undefined) return result;
    const known = history.entries.find((entry) => entry.generation === result.generation);
    const previous = this.#previous;
    this.#previous = this.#parts.manager.live?.snapshot;
    if (known !== undefined) {
      this.#entry = known;
      return result;
    }
    const texts = textsOf(opened);
    const last = history.entries.at(-1);
    const before = last === undefined ? undefined : history.textsOf(last.generation);
    this.#entry = {
      generation: result.generation,
      digest: result.digest,
      atMs: clock.now(),
      origin,
      contentsOf: held?.contentsOf,
      isForced: force !== undefined && origin === "files",
      path: opened.path,
      changes: before === undefined ? [] : changesOf(before, texts, opened.cwd),
      effects: this.#effects(previous, before),
    };
    history.add(this.#entry, texts);
    return result;
  }

  /** What the edit meant; at a start, what was edited since the last run. */
  #effects(previous: Snapshot | undefined, before: FileTexts | undefined): NonNullable<HistoryEntry["effects"]> {
    const { place, definitions } = this.#parts;
    const from = previous ?? (before === undefined ? undefined : snapshotOfTexts(before, place, definitions));
    const to = this.#previous;
    if (from === undefined || to === undefined) return [];
    const effects = effectsOf(from, to, definitions.steps).slice(0, KEPT_EFFECTS);
    return effects.map(({ risk, about, message }) => ({ risk, about, message }));
  }

  #target(generation: number | undefined): HistoryEntry {
    const { entries } = this.#parts.history;
    if (generation !== undefined) {
      const named = entries.find((entry) => entry.generation === generation);
      if (named !== undefined) return named;
      const kept = entries.map((entry) => entry.generation);
      throw notFound(`Generation ${generation} is not in the history, which holds ${kept.join(", ") || "none"}.`);
    }
    const from = this.#entry?.contentsOf ?? this.#entry?.generation ?? 0;
    const earlier = entries.findLast((entry) => entry.generation < from && entry.digest !== this.#entry?.digest);
    if (earlier === undefined) throw notFound("The history holds no generation before the one that runs.");
    return earlier;
  }

  #drift(): DriftedFile[] {
    const files = this.#parts.manager.live?.snapshot.files ?? [];
    const drifted = files.flatMap(({ path, digest }: SnapshotFile): DriftedFile[] => {
      const { bytes } = diskSource.read(path);
      if (bytes === undefined) return [{ path, change: "removed" }];
      return sha256(bytes) === digest ? [] : [{ path, change: "changed" }];
    });
    const running = new Set(files.map(({ path }) => path));
    const added = this.#opened.documents.filter((path) => !running.has(path) && diskSource.has(path));
    return [...drifted, ...added.map((path) => ({ path, change: "added" as const }))];
  }
}

/** Whether a generation's number may be used again: a start with the same contents is the same generation. */
export function lastNumberBefore(snapshot: Snapshot, { entries }: GenerationHistory): number {
  const last = entries.at(-1);
  if (last === undefined) return 0;
  return last.digest === snapshot.digest ? last.generation - 1 : last.generation;
}

function notFound(message: string): GatewayError {
  return new GatewayError("not_found", message, { param: "generation" });
}
