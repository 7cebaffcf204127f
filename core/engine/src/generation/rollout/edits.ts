/**
 * Edits of the configuration: files that were saved, requests to reload or to roll back, and what
 * other workers run.
 */

import type { OpenedConfig } from "../../config/load.ts";
import { EditHistory } from "../history/edit-history.ts";
import { entryToFollow, notFound } from "../history/entries.ts";
import { driftOf } from "../history/file-texts.ts";
import type { FileTexts, HistoryEntry } from "../history/history.ts";
import type { ApplyResult, EditPort } from "./apply.ts";
import type { CanaryEnd, CanaryPlan } from "./canary/canary.ts";
import type { EditSource, StoredEdit } from "./candidate.ts";
import { Candidates } from "./candidates.ts";
import type { EditParts, EditStatus } from "./edit-parts.ts";
import { type ReadingOptions, Readings } from "./readings.ts";
import { type Review, reviewOf } from "./review.ts";
import type { RolloutFault } from "./rollout-monitor.ts";

/** The edits of a running gateway. */
export class ConfigEdits implements EditPort {
  readonly #parts: EditParts;
  readonly #readings: Readings;
  readonly #history: EditHistory;
  readonly #candidates: Candidates;
  readonly #closing = new AbortController();
  /** Called after files of this machine have changed and were read. */
  onSaved: (() => void) | undefined;
  /** Rolls back at all instances, where they have one configuration. */
  rollBackAll: ((fault: RolloutFault) => Promise<ApplyResult>) | undefined;

  /**
   * Begins to watch. `first` is the result of the start, which applied `source`; `opened` are the
   * files as they were read.
   */
  constructor(parts: EditParts, first: ApplyResult, source: EditSource, opened: OpenedConfig) {
    const { manager, log } = parts;
    this.#parts = parts;
    this.#readings = new Readings({
      log,
      closing: this.#closing.signal,
      begin: () => manager.beginReading(),
    });
    this.#history = new EditHistory({ ...parts, live: () => manager.live?.snapshot });
    this.#history.add(first, source);
    manager.attach(this);
    this.#candidates = new Candidates(parts, this.#history, opened, () => this.catchUp());
  }

  get status(): EditStatus {
    const { manager, place } = this.#parts;
    const { documents } = this.#candidates.opened;
    const drift = driftOf(manager.live?.snapshot.files ?? [], documents, place.source);
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
    return this.#read({ isAsked: true, force, canary, author });
  }

  /**
   * Reads the files and applies them where they have these contents. `undefined`: they have others.
   */
  reloadTo(
    contents: string,
    how: Omit<ReadingOptions, "isAsked">,
  ): Promise<ApplyResult | undefined> {
    return this.#readings.run(() => this.#candidates.filesOf(contents, how, this.#closing.signal));
  }

  /** Applies contents of the store. */
  applyStored(edit: StoredEdit): Promise<ApplyResult> {
    return this.#readings.run(() => this.#candidates.stored(edit));
  }

  /** Checks contents of the store. `force`: a digest that the shrink guard refused. */
  reviewStored(texts: FileTexts, force: string | undefined): Review {
    return this.review(this.#candidates.reader.held(texts), force);
  }

  /** Applies what was saved while nothing watched, as a save would. */
  async catchUp(): Promise<ApplyResult> {
    const result = await this.#read({ isAsked: false });
    // A secret that contents of the store lacked may be there now.
    this.onSaved?.();
    return result;
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
    const entry = entryToFollow(history, generation);
    return this.#readings.run(() => this.#candidates.followed(entry, generation));
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

  /** The files, some of them replaced by texts, or removed by a null. Throws `invalid_field`. */
  overlaid(files: Readonly<Record<string, string | null>>): OpenedConfig {
    return this.#candidates.reader.overlaid(files);
  }

  /** Checks what was read. `force`: a digest that the shrink guard refused. */
  review(opened: OpenedConfig, force?: string): Review {
    const { definitions, manager } = this.#parts;
    return reviewOf(opened, definitions, manager, force);
  }

  /**
   * Applies the contents of an older generation as a new one, without the shrink guard. The files
   * stay unchanged. Without a number: the newest one before what runs that differs from it. Throws
   * `not_found`.
   */
  rollback(generation?: number, author?: string): Promise<ApplyResult> {
    return this.#readings.run(() => this.#candidates.earlier(generation, { author }));
  }

  rollBack(fault: RolloutFault): Promise<ApplyResult> {
    const { rollBackAll } = this;
    if (rollBackAll === undefined)
      return this.#readings.run(() => this.#candidates.earlier(fault.previous, { fault }));
    return this.#readings.run(async () => {
      const refused = await this.#candidates.obstacle(fault);
      return { result: refused === undefined ? rollBackAll(fault) : Promise.resolve(refused) };
    });
  }

  /** Ends the watch and what is being read. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#candidates.close();
    await this.#parts.history.flush();
  }

  #read(options: ReadingOptions): Promise<ApplyResult> {
    return this.#readings.files(options, (reading, onRead) =>
      this.#candidates.files(reading, this.#closing.signal, onRead),
    );
  }
}
