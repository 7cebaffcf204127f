/**
 * Edits of the configuration: files that were saved, requests to reload or to roll back, and what
 * other workers run.
 */

import { resolve } from "node:path";
import { type ConfigWatch, watchConfig } from "../../config/files/watch.ts";
import { type OpenedConfig, type ResolvedConfig, resolveSnapshot } from "../../config/load.ts";
import { checkCandidate } from "../../lint/check-candidate.ts";
import { withoutUnloaded } from "../cold.ts";
import { EditHistory } from "../history/edit-history.ts";
import { AUTO_ROLLBACK, entryToFollow, notFound, rollbackTarget } from "../history/entries.ts";
import { digestAsRead, digestOnDisk, driftOf } from "../history/file-texts.ts";
import type { FileTexts, HistoryEntry } from "../history/history.ts";
import type { ApplyOptions, ApplyResult, EditPort } from "./apply.ts";
import type { CanaryEnd, CanaryPlan } from "./canary.ts";
import {
  type Candidate,
  contentsOf,
  type EditSource,
  type PinnedConfig,
  pinnedBy,
} from "./candidate.ts";
import { ConfigReader } from "./config-reader.ts";
import type { EditParts, EditStatus } from "./edit-parts.ts";
import { type HandedOver, type ReadingOptions, Readings } from "./readings.ts";
import { type Review, reviewOf } from "./review.ts";
import type { RolloutFault } from "./rollout-monitor.ts";
import { obstacleOf } from "./widens-access.ts";

/**
 * The debounce while older generations drain: a burst of saves makes few generations, and its last
 * edit is live within a second.
 */
const BUSY_DEBOUNCE_MS = 500;
const CALM_DEBOUNCE_MS = 100;

/** The edits of a running gateway. */
export class ConfigEdits implements EditPort {
  readonly #parts: EditParts;
  readonly #reader: ConfigReader;
  readonly #readings: Readings;
  readonly #history: EditHistory;
  readonly #watch: ConfigWatch;
  readonly #closing = new AbortController();
  #opened: OpenedConfig;

  /**
   * Begins to watch. `first` is the result of the start, which applied `source`; `opened` are the
   * files as they were read.
   */
  constructor(parts: EditParts, first: ApplyResult, source: EditSource, opened: OpenedConfig) {
    const { manager, log } = parts;
    this.#parts = parts;
    this.#reader = new ConfigReader(parts.place, parts.definitions);
    this.#readings = new Readings({
      log,
      closing: this.#closing.signal,
      begin: () => manager.beginReading(),
    });
    this.#history = new EditHistory({ ...parts, live: () => manager.live?.snapshot });
    this.#history.add(first, source);
    this.#opened = opened;
    manager.attach(this);
    this.#watch = watchEdits(opened.watched, parts, () => this.catchUp());
  }

  get status(): EditStatus {
    const { manager } = this.#parts;
    const drift = driftOf(manager.live?.snapshot.files ?? [], this.#opened.documents);
    return { ...manager.status, entry: this.#history.entry, drift };
  }

  /** Generations, newest last, and the last attempts of this process. */
  get history(): {
    readonly entries: readonly HistoryEntry[];
    readonly attempts: readonly ApplyResult[];
  } {
    return { entries: this.#parts.history.entries, attempts: this.#history.attempts };
  }

  /**
   * Reads the files again and applies them, as a canary where `canary` is given. `force`: a digest
   * that the shrink guard refused.
   */
  reload(force?: string, canary?: CanaryPlan, author?: string): Promise<ApplyResult> {
    return this.#readFiles({ isAsked: true, force, canary, author });
  }

  /** Applies what was saved while nothing watched, as a save would. */
  catchUp(): Promise<ApplyResult> {
    return this.#readFiles({ isAsked: false });
  }

  /**
   * Applies another worker's generation under the same number. `undefined`: it runs here already,
   * or an edit is under way.
   */
  async follow(generation: number, digest: string): Promise<ApplyResult | undefined> {
    const { manager, history } = this.#parts;
    const { live } = manager;
    if (live?.number === generation && live.snapshot.digest === digest) return undefined;
    if (manager.isBusy || this.#closing.signal.aborted) return undefined;
    const { entry, texts, held } = entryToFollow(history, generation);
    return this.#readings.run(async () => {
      const opened = this.#reader.held(texts);
      const resolved = await this.#reader.resolve(opened);
      const force = resolved.snapshot?.digest;
      return {
        result: this.#apply(
          { opened, origin: entry.origin, held, force, number: generation },
          resolved,
        ),
      };
    });
  }

  /** Ends the canary on request. Throws `not_found` when none runs. */
  endCanary(end: CanaryEnd, author = "the operator"): ApplyResult {
    const ended = this.#parts.manager.endCanary(end, `${author} said so`);
    if (ended === undefined) throw notFound("No canary runs.");
    return ended;
  }

  canaryEnded(result: ApplyResult, source: EditSource): void {
    this.#history.addCanary(result, source);
  }

  /**
   * Checks the files, some of them replaced by texts, or removed by a null. Throws `invalid_field`.
   */
  review(files: Readonly<Record<string, string | null>>): Review {
    return reviewOf(this.#reader.overlaid(files), this.#parts.definitions, this.#parts.manager);
  }

  /**
   * Applies the contents of an older generation as a new one, without the shrink guard. The files
   * stay unchanged. Without a number: the newest one before what runs that differs from it. Throws
   * `not_found`.
   */
  rollback(generation?: number, author?: string): Promise<ApplyResult> {
    return this.#readEarlier(generation, { author });
  }

  rollBack(fault: RolloutFault): Promise<ApplyResult> {
    return this.#readEarlier(fault.previous, { fault });
  }

  /** Ends the watch and what is being read. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watch.close();
    await this.#parts.history.flush();
  }

  #readEarlier(
    generation: number | undefined,
    { author, fault }: Pick<Candidate, "author" | "fault">,
  ): Promise<ApplyResult> {
    return this.#readings.run(async () => {
      const { history, manager, definitions } = this.#parts;
      const target = rollbackTarget(history.entries, this.#history.entry, generation);
      // An operator rolls back from the files on disk; an automatic rollback from those that were
      // read, and a save since then applies.
      const onDisk = fault === undefined ? digestOnDisk(this.#opened) : digestAsRead(this.#opened);
      const held = {
        texts: keptTexts(this.#parts, target.generation),
        contentsOf: target.generation,
        onDisk,
      };
      const opened = this.#reader.held(held.texts);
      const resolved = await this.#reader.resolve(opened);
      const obstacle =
        fault && obstacleOf(fault, manager.live, resolved.snapshot, definitions.steps);
      if (obstacle !== undefined)
        return { result: Promise.resolve(this.#history.addAttempt(manager.refuse([obstacle]))) };
      const force = resolved.snapshot?.digest;
      return {
        result: this.#apply({ opened, origin: "rollback", held, force, author, fault }, resolved),
      };
    });
  }

  #readFiles(options: ReadingOptions): Promise<ApplyResult> {
    return this.#readings.files(options, async (reading, onRead): Promise<HandedOver> => {
      const opened = await this.#reader.files(this.#closing.signal).finally(onRead);
      this.#opened = opened;
      this.#watchFor(opened);
      const kept = reading.isAsked ? undefined : heldAgainst(opened, this.#parts.manager);
      if (kept !== undefined) await this.#reader.prepare(kept.texts);
      // A canary may have ended meanwhile: from here to the manager nothing may come between.
      const held = reading.isAsked ? undefined : heldAgainst(opened, this.#parts.manager);
      if (held !== undefined) {
        const renewed = this.#reader.held(held.texts);
        const origin = held.contentsOf === undefined ? "files" : "rollback";
        const resolved = resolveSnapshot(renewed, this.#parts.definitions.all);
        return {
          result: this.#apply({ opened: renewed, origin, held, isRefresh: true }, resolved),
        };
      }
      const { force, canary, author } = reading;
      const resolved = await this.#reader.resolve(opened);
      return { result: this.#apply({ opened, origin: "files", force, canary, author }, resolved) };
    });
  }

  async #apply(candidate: Candidate, resolved: ResolvedConfig): Promise<ApplyResult> {
    const { manager, definitions, history } = this.#parts;
    const { opened, isRefresh } = candidate;
    this.#watchFor(opened);
    if (resolved.snapshot === undefined) {
      const findings = checkCandidate(resolved, definitions);
      return this.#history.add(
        manager.refuse(withoutUnloaded(findings, manager.live?.snapshot, opened.plugins)),
        candidate,
      );
    }
    const result = this.#history.add(
      await manager.apply(resolved.snapshot, applyOptions(candidate)),
      candidate,
    );
    await history.flush();
    // Another generation runs by now. It is refreshed instead, because a secret may have changed.
    if (isRefresh === true && result.outcome === "superseded")
      void this.catchUp().catch(() => undefined);
    return result;
  }

  /** Watches the files of a candidate, and those that were read last. */
  #watchFor({ watched }: OpenedConfig): void {
    this.#watch.update([...new Set([...this.#opened.watched, ...watched])]);
  }
}

/** Watches files. `catchUp` applies what was saved. */
function watchEdits(
  paths: readonly string[],
  { manager, log }: EditParts,
  catchUp: () => Promise<ApplyResult>,
): ConfigWatch {
  return watchConfig({
    paths,
    debounceMs: () => (manager.status.draining.length > 0 ? BUSY_DEBOUNCE_MS : CALM_DEBOUNCE_MS),
    // The log has the failure.
    onChange: () => void catchUp().catch(() => undefined),
    onError: (error) => log.warn("watching the configuration failed; polling goes on", { error }),
  });
}

/** The texts of an earlier generation. Throws `not_found`. */
function keptTexts({ place, history }: EditParts, generation: number): FileTexts {
  const texts = history.textsOf(generation);
  if (texts?.has(resolve(place.cwd, place.path)) === true) return texts;
  throw notFound(
    `The files of generation ${generation} are not kept, or belong to another gateway file.`,
  );
}

/**
 * The contents that stay although a watched file changed: edits apply on request only, or the
 * change is another one, such as a secret.
 */
function heldAgainst(
  opened: OpenedConfig,
  { contents, live }: EditParts["manager"],
): PinnedConfig | undefined {
  const held = pinnedBy(contents);
  if (held !== undefined && held.onDisk === digestOnDisk(opened)) return held;
  if (live?.snapshot.server.reload !== "on_request" || contents.running === undefined)
    return undefined;
  return held ?? { texts: contents.running.texts, onDisk: digestOnDisk(opened) };
}

/** How a candidate is applied. */
function applyOptions(candidate: Candidate): ApplyOptions {
  const { origin, force, canary, author, isRefresh, fault, number } = candidate;
  const hasServed = origin === "rollback" || number !== undefined;
  const back = fault && { replaces: fault.generation, reason: fault.reason };
  const by = fault === undefined ? author : AUTO_ROLLBACK.name;
  const what = {
    source: candidate,
    contents: contentsOf(candidate),
    ...(isRefresh === true && { isRefresh }),
  };
  return { force, canary, hasServed, author: by, number, ...back, ...what };
}
