/** Edits: how contents of files become a generation, by being noticed, by being asked for, or from the history. */

import { resolve } from "node:path";
import { isGatewayError } from "@sluice/contract";
import { type OpenedConfig, type ResolvedConfig, resolveSnapshot } from "../../config/load.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import { type ConfigWatch, watchConfig } from "../../config/files/watch.ts";
import { checkCandidate } from "../../lint/check-candidate.ts";
import type { CanaryEnd, CanaryPlan } from "./canary.ts";
import type { Candidate, PinnedConfig, Reading } from "./candidate.ts";
import { withoutUnloaded } from "../cold.ts";
import type { EditParts, EditStatus, StartedWith } from "./edit-parts.ts";
import { ConfigReader } from "./config-reader.ts";
import { digestAsRead, digestOnDisk, driftOf, textsOf } from "../history/file-texts.ts";
import {
  AUTO_ROLLBACK,
  callerOf,
  entryOf,
  type EntryOrigin,
  entryToFollow,
  notFound,
  rollbackTarget,
} from "../history/entries.ts";
import { obstacleOf } from "./widens-access.ts";
import { type Review, reviewOf } from "./review.ts";
import type { RolloutFault } from "./rollout-monitor.ts";
import type { FileTexts, HistoryEntry } from "../history/history.ts";
import type { ApplyResult } from "./apply.ts";

const KEPT_ATTEMPTS = 20;
/** The debounce while older generations drain: a burst of saves makes few generations, and its last edit is live within a second. */
const BUSY_DEBOUNCE_MS = 500;
const CALM_DEBOUNCE_MS = 100;

/** The edits of a running gateway. Readings follow one another, so that an older one is never applied after a newer one. */
export class ConfigEdits {
  readonly #parts: EditParts;
  readonly #reader: ConfigReader;
  readonly #watch: ConfigWatch;
  readonly #closing = new AbortController();
  readonly #attempts: ApplyResult[] = [];
  #entry: HistoryEntry | undefined;
  #held: PinnedConfig | undefined;
  /** The contents that run, and those of a canary. */
  #running: FileTexts | undefined;
  #trying: Candidate | undefined;
  /** The configuration before the running one. */
  #previous: Snapshot | undefined;
  #opened: OpenedConfig;
  #lastReading: Promise<unknown> = Promise.resolve();
  #reading: Reading | undefined;

  /** Begins to watch. `first` is what was started with, `held` its contents when they are not those of the files as they were read. */
  constructor(parts: EditParts, first: ApplyResult, opened: OpenedConfig, held?: StartedWith) {
    this.#parts = parts;
    this.#reader = new ConfigReader(parts.place, parts.definitions);
    this.#opened = opened;
    const { onDisk } = held ?? {};
    this.#held = held === undefined || onDisk === undefined ? undefined : { ...held, onDisk };
    parts.manager.onCanaryEnd = (result) => this.#canaryEnded(result);
    const candidate = held === undefined ? opened : this.#reader.held(held.texts);
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
    return {
      ...this.#parts.manager.status,
      entry: this.#entry,
      drift: driftOf(this.#parts.manager.live?.snapshot.files ?? [], this.#opened.documents),
    };
  }

  /** Generations, newest last, and the last attempts of this process. */
  get history(): { readonly entries: readonly HistoryEntry[]; readonly attempts: readonly ApplyResult[] } {
    return { entries: this.#parts.history.entries, attempts: this.#attempts };
  }

  /** Reads the files again and applies them, as a canary where `canary` is given. `force`: a digest that the shrink guard refused. */
  reload(force?: string, canary?: CanaryPlan, author?: string): Promise<ApplyResult> {
    return this.#reload(true, force, canary, author);
  }

  /** Applies what was saved while nothing watched, as a save would. */
  catchUp(): Promise<ApplyResult> {
    return this.#reload(false);
  }

  /** Applies another worker's generation under the same number. `undefined`: it runs here already, or an edit is under way. */
  async follow(generation: number, digest: string): Promise<ApplyResult | undefined> {
    const { manager, history } = this.#parts;
    const { live } = manager;
    if (live?.number === generation && live.snapshot.digest === digest) return undefined;
    if (manager.isBusy || this.#reading !== undefined || this.#closing.signal.aborted) return undefined;
    const { entry, texts, held } = entryToFollow(history, generation);
    return this.#inOrder(async () => {
      const opened = this.#reader.held(texts);
      const resolved = await this.#reader.resolve(opened);
      const force = resolved.snapshot?.digest;
      return { result: this.#apply({ opened, resolved, origin: entry.origin, held, force, number: generation }) };
    });
  }

  /** Ends the canary on request. Throws `not_found` when none runs. */
  endCanary(end: CanaryEnd, author = "the operator"): ApplyResult {
    const ended = this.#parts.manager.endCanary(end, `${author} said so`);
    if (ended === undefined) throw notFound("No canary runs.");
    return ended;
  }

  /** Reviews the files, some of them replaced by texts or removed by a null. Throws `invalid_field`. */
  review(files: Readonly<Record<string, string | null>>): Review {
    return reviewOf(this.#reader.overlaid(files), this.#parts.definitions, this.#parts.manager);
  }

  /**
   * Applies the contents of an older generation as a new one, without the shrink guard. The files stay unchanged.
   * Without a number: the newest one before what runs that differs from it. Throws `not_found`.
   */
  rollback(generation?: number, author?: string): Promise<ApplyResult> {
    return this.#back(generation, { author });
  }

  /** Rolls back a failing generation. `undefined`: an edit is under way, and the next failure reports again. */
  async goBack(fault: RolloutFault): Promise<ApplyResult | undefined> {
    const { manager, monitor } = this.#parts;
    if (manager.isBusy || this.#reading !== undefined || this.#closing.signal.aborted) return undefined;
    monitor?.settle();
    return this.#back(fault.previous, { fault });
  }

  #back(generation: number | undefined, { author, fault }: Pick<Candidate, "author" | "fault">): Promise<ApplyResult> {
    return this.#inOrder(async () => {
      const { place, history, manager, definitions } = this.#parts;
      const target = rollbackTarget(history.entries, this.#entry, generation);
      const texts = history.textsOf(target.generation);
      if (texts === undefined || !texts.has(resolve(place.cwd, place.path))) {
        throw notFound(`The files of generation ${target.generation} are not kept, or belong to another gateway file.`);
      }
      // A rollback by a person replaces the files on disk. An automatic one replaces the files as read, so that a later save applies.
      const onDisk = fault === undefined ? digestOnDisk(this.#opened) : digestAsRead(this.#opened);
      const held = { texts, contentsOf: target.generation, onDisk };
      const opened = this.#reader.held(texts);
      const resolved = await this.#reader.resolve(opened);
      const obstacle = fault && obstacleOf(fault, manager.live, resolved.snapshot, definitions.steps);
      if (obstacle !== undefined) return { result: Promise.resolve(this.#record(manager.refuse([obstacle]))) };
      const force = resolved.snapshot?.digest;
      return { result: this.#apply({ opened, resolved, origin: "rollback", held, force, author, fault }) };
    });
  }

  /** Ends the watch and what is being read. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watch.close();
    await this.#parts.history.flush();
  }

  #reload(isAsked: boolean, force?: string, canary?: CanaryPlan, author?: string): Promise<ApplyResult> {
    const current = this.#reading;
    if (current !== undefined && current.force === force && current.canary === undefined && canary === undefined) {
      // A reading ends with a look whether the files are still what was read, so it also answers callers that ask before its end.
      current.isAsked ||= isAsked;
      current.author ??= author;
      return current.result;
    }
    const reading: Omit<Reading, "result"> = { isAsked, force, canary, author };
    const result = this.#inOrder(async () => {
      const opened = await this.#reader.files(this.#closing.signal).finally(() => {
        if (this.#reading?.result === result) this.#reading = undefined;
      });
      this.#opened = opened;
      this.#watchFor(opened);
      const kept = reading.isAsked ? undefined : this.#heldAgainst(opened);
      if (kept !== undefined) await this.#reader.prepare(kept.texts);
      // A canary may have ended meanwhile: from here to the manager nothing may come between.
      const held = reading.isAsked ? undefined : this.#heldAgainst(opened);
      if (held !== undefined) {
        const renewed = this.#reader.held(held.texts);
        const resolved = resolveSnapshot(renewed, this.#parts.definitions.all);
        const origin = held.contentsOf === undefined ? "files" : "rollback";
        return { result: this.#apply({ opened: renewed, resolved, origin, held, isRefresh: true }) };
      }
      const resolved = await this.#reader.resolve(opened);
      return { result: this.#apply({ opened, resolved, origin: "files", force, canary, author: reading.author }) };
    });
    this.#reading = Object.assign(reading, { result });
    return result;
  }

  /** The contents that run on although a file changed: no request asked for it, or only another cause did, such as the file of a secret. */
  #heldAgainst(opened: OpenedConfig): PinnedConfig | undefined {
    const held = this.#held;
    if (held !== undefined && held.onDisk === digestOnDisk(opened)) return held;
    if (this.#parts.manager.live?.snapshot.server.reload !== "on_request" || this.#running === undefined) return undefined;
    return held ?? { texts: this.#running, onDisk: digestOnDisk(opened) };
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

  async #apply(candidate: Candidate & { readonly resolved: ResolvedConfig }): Promise<ApplyResult> {
    const { manager, definitions, history } = this.#parts;
    const { opened, resolved, force, canary, author, isRefresh, fault, number } = candidate;
    this.#watchFor(opened);
    if (resolved.snapshot === undefined) {
      const findings = checkCandidate(resolved, definitions);
      const refused = manager.refuse(withoutUnloaded(findings, manager.live?.snapshot, opened.plugins));
      return this.#remember(refused, candidate);
    }
    const hasServed = candidate.origin === "rollback" || number !== undefined;
    const back = fault && { replaces: fault.generation, reason: fault.reason };
    const by = fault === undefined ? author : AUTO_ROLLBACK.name;
    const options = { force, canary, hasServed, author: by, number, ...back, ...(isRefresh === true && { isRefresh }) };
    const result = this.#remember(await manager.apply(resolved.snapshot, options), candidate);
    await history.flush();
    // The configuration that runs by now is refreshed instead: a secret may have changed.
    if (isRefresh === true && result.outcome === "superseded") void this.#reload(false).catch(() => undefined);
    return result;
  }

  /** Watches what a candidate is made of, and the files as they were read last. */
  #watchFor({ watched }: OpenedConfig): void {
    this.#watch.update([...new Set([...this.#opened.watched, ...watched])]);
  }

  #record(result: ApplyResult): ApplyResult {
    this.#attempts.push(result);
    this.#attempts.splice(0, this.#attempts.length - KEPT_ATTEMPTS);
    return result;
  }

  #remember(result: ApplyResult, candidate: Candidate): ApplyResult {
    const { opened, origin, held, force } = candidate;
    // It is written down already, where its canary ended.
    if (result.outcome === "promoted") return result;
    this.#record(result);
    if (result.outcome === "canary") {
      // The files are the canary's. The generation of all other keys stays, also when a secret changes.
      if (this.#running !== undefined) this.#held = { texts: this.#running, onDisk: digestOnDisk(this.#opened) };
      this.#trying = candidate;
      return result;
    }
    if (result.outcome === "applied" || result.outcome === "unchanged") {
      const isOfCanary = result.outcome === "unchanged" && this.#parts.manager.status.canary !== undefined;
      if (!isOfCanary) [this.#held, this.#running] = [held, textsOf(opened)];
    }
    const { history } = this.#parts;
    if (result.outcome !== "applied" || result.generation === undefined || result.digest === undefined) return result;
    const known = history.entries.find((entry) => entry.generation === result.generation);
    const snapshots = this.#moveOn();
    if (known !== undefined) {
      this.#entry = known;
      return result;
    }
    const author = candidate.fault === undefined ? callerOf(candidate.author) : AUTO_ROLLBACK;
    const { contentsOf, onDisk } = held ?? {};
    this.#entry = entryOf(result, opened, this.#parts, { origin, contentsOf, onDisk, force, author, ...snapshots });
    history.add(this.#entry, textsOf(opened));
    return result;
  }

  #moveOn(): Pick<EntryOrigin, "from" | "to"> {
    const from = this.#previous;
    this.#previous = this.#parts.manager.live?.snapshot;
    return { from, to: this.#previous };
  }

  /** A canary has a place in the history from its end on, whatever that was. */
  #canaryEnded(result: ApplyResult): void {
    const trying = this.#trying;
    this.#trying = undefined;
    if (trying === undefined) return;
    const { opened } = trying;
    this.#attempts.push(result);
    const snapshots = result.outcome === "promoted" ? this.#moveOn() : {};
    const entry = entryOf(result, opened, this.#parts, { origin: "canary", author: callerOf(trying.author), ...snapshots });
    const texts = textsOf(opened);
    if (result.outcome === "promoted") {
      this.#entry = entry;
      this.#held = undefined;
      this.#running = texts;
    }
    this.#parts.history.add(result.outcome === "promoted" ? entry : { ...entry, returned: result.reason ?? "" }, texts);
  }
}
