/** Candidates: what was read from the files or from the history, checked and applied. */

import { resolve } from "node:path";
import { type ConfigWatch, watchConfig } from "../../config/files/watch.ts";
import { type OpenedConfig, type ResolvedConfig, resolveSnapshot } from "../../config/load.ts";
import { contentsDigest } from "../../config/build.ts";
import type { Finding } from "../../config/finding.ts";
import type { EditHistory } from "../history/edit-history.ts";
import { type entryToFollow, notFound, rollbackTarget } from "../history/entries.ts";
import { digestAsRead, digestOnDisk } from "../history/file-texts.ts";
import type { FileTexts } from "../history/history.ts";
import { applyCandidate } from "./apply-candidate.ts";
import type { ApplyResult } from "./apply.ts";
import { type Candidate, type PinnedConfig, pinnedBy, type StoredEdit } from "./candidate.ts";
import { ConfigReader } from "./config-reader.ts";
import type { RolloutFault } from "./rollout-monitor.ts";
import type { EditParts } from "./edit-parts.ts";
import type { HandedOver, ReadingOptions } from "./readings.ts";
import { obstacleOf } from "./widens-access.ts";

/**
 * The debounce while older generations drain: a burst of saves makes few generations, and its last
 * edit is live within a second.
 */
const BUSY_DEBOUNCE_MS = 500;
const CALM_DEBOUNCE_MS = 100;

/** Reads candidates, watches their files, and hands them to the manager. */
export class Candidates {
  readonly #parts: EditParts;
  readonly #history: EditHistory;
  readonly #reader: ConfigReader;
  readonly #watch: ConfigWatch;
  readonly #catchUp: () => Promise<ApplyResult>;
  #opened: OpenedConfig;

  /** `opened` are the files as the start read them. `catchUp` applies what was saved. */
  constructor(
    parts: EditParts,
    history: EditHistory,
    opened: OpenedConfig,
    catchUp: () => Promise<ApplyResult>,
  ) {
    this.#parts = parts;
    this.#history = history;
    this.#reader = new ConfigReader(parts.place, parts.definitions);
    this.#opened = opened;
    this.#catchUp = catchUp;
    this.#watch = watchEdits(opened.watched, parts, catchUp);
  }

  /** The files as they were read last. */
  get opened(): OpenedConfig {
    return this.#opened;
  }

  /** Reads contents that are not applied. */
  get reader(): Pick<ConfigReader, "overlaid" | "held"> {
    return this.#reader;
  }

  close(): Promise<void> {
    return this.#watch.close();
  }

  /** Reads the files and applies them. `onRead` is called when no further read begins. */
  async files(
    reading: ReadingOptions,
    signal: AbortSignal,
    onRead: () => void,
  ): Promise<HandedOver> {
    const opened = await this.#read(signal).finally(onRead);
    const kept = reading.isAsked ? undefined : heldAgainst(opened, this.#parts);
    if (kept !== undefined) await this.#reader.prepare(kept.texts);
    // A canary may have ended meanwhile: from here to the manager nothing may come between.
    const held = reading.isAsked ? undefined : heldAgainst(opened, this.#parts);
    if (held !== undefined) {
      const renewed = this.#reader.held(held.texts);
      const origin = held.contentsOf === undefined ? "files" : "rollback";
      const resolved = resolveSnapshot(renewed, this.#parts.definitions.all);
      return {
        result: this.#apply({ opened: renewed, origin, held, isRefresh: true }, resolved),
      };
    }
    return this.#applyFiles(opened, reading);
  }

  /** As `files` on request, where the files have these contents. `undefined`: they have others. */
  async filesOf(
    contents: string,
    reading: Omit<ReadingOptions, "isAsked">,
    signal: AbortSignal,
  ): Promise<HandedOver<ApplyResult | undefined>> {
    const opened = await this.#read(signal);
    if (contentsDigest(opened) !== contents) return { result: Promise.resolve(undefined) };
    return this.#applyFiles(opened, reading);
  }

  /** Applies contents of the store. */
  async stored({ texts, isTested, ...how }: StoredEdit): Promise<HandedOver> {
    const opened = await this.#reader.heldInSlices(texts);
    const resolved = await this.#reader.resolve(opened);
    const candidate = { opened, ...how, hasServed: isTested };
    return { result: this.#apply(candidate, resolved) };
  }

  async #read(signal: AbortSignal): Promise<OpenedConfig> {
    const opened = await this.#reader.files(signal);
    this.#opened = opened;
    this.#watchFor(opened);
    return opened;
  }

  async #applyFiles(
    opened: OpenedConfig,
    { force, canary, author }: Omit<ReadingOptions, "isAsked">,
  ): Promise<HandedOver> {
    const resolved = await this.#reader.resolve(opened);
    return { result: this.#apply({ opened, origin: "files", force, canary, author }, resolved) };
  }

  /** Applies the generation of another worker, under its number. */
  async followed(
    { entry, texts, held }: ReturnType<typeof entryToFollow>,
    number: number,
  ): Promise<HandedOver> {
    const opened = this.#reader.held(texts);
    const resolved = await this.#reader.resolve(opened);
    const force = resolved.snapshot?.digest;
    const { origin } = entry;
    return { result: this.#apply({ opened, origin, held, force, number }, resolved) };
  }

  /** Applies the contents of an older generation. Throws `not_found`. */
  async earlier(
    generation: number | undefined,
    { author, fault }: Pick<Candidate, "author" | "fault">,
  ): Promise<HandedOver> {
    const { history, manager, definitions } = this.#parts;
    const target = rollbackTarget(history.entries, this.#history.entry, generation);
    const held = keptContents(this.#parts, target.generation, this.#opened, fault !== undefined);
    const opened = this.#reader.held(held.texts);
    const resolved = await this.#reader.resolve(opened);
    const obstacle = fault && obstacleOf(fault, manager.live, resolved.snapshot, definitions.steps);
    if (obstacle !== undefined) return { result: Promise.resolve(this.#refuse(obstacle)) };
    const force = resolved.snapshot?.digest;
    return {
      result: this.#apply({ opened, origin: "rollback", held, force, author, fault }, resolved),
    };
  }

  /** The refusal of an automatic rollback that would widen access; `undefined`: it may be made. */
  async obstacle(fault: RolloutFault): Promise<ApplyResult | undefined> {
    const obstacle = await obstacleToAll(fault, this.#parts, this.#reader);
    return obstacle && this.#refuse(obstacle);
  }

  #refuse(obstacle: Finding): ApplyResult {
    return this.#history.addAttempt(this.#parts.manager.refuse([obstacle]));
  }

  #apply(candidate: Candidate, resolved: ResolvedConfig): Promise<ApplyResult> {
    this.#watchFor(candidate.opened);
    return applyCandidate(candidate, resolved, {
      parts: this.#parts,
      history: this.#history,
      catchUp: this.#catchUp,
    });
  }

  /** Watches the files of a candidate, and those that were read last. */
  #watchFor({ watched }: OpenedConfig): void {
    this.#watch.update([...new Set([...this.#opened.watched, ...watched])]);
  }
}

async function obstacleToAll(fault: RolloutFault, parts: EditParts, reader: ConfigReader) {
  const opened = await reader.heldInSlices(keptTexts(parts, fault.previous));
  const { snapshot } = await reader.resolve(opened);
  return obstacleOf(fault, parts.manager.live, snapshot, parts.definitions.steps);
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

/**
 * The contents of an earlier generation, and the files that they replace. An operator rolls back
 * from the present files; an automatic rollback from those that were read, and a save since then
 * applies. Throws `not_found`.
 */
function keptContents(
  parts: EditParts,
  generation: number,
  opened: OpenedConfig,
  isAutomatic: boolean,
): PinnedConfig {
  const { source } = parts.place;
  const onDisk = isAutomatic ? digestAsRead(opened, source) : digestOnDisk(opened, source);
  return { texts: keptTexts(parts, generation), contentsOf: generation, onDisk };
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
  { place, manager: { contents, live } }: EditParts,
): PinnedConfig | undefined {
  const held = pinnedBy(contents);
  const onDisk = digestOnDisk(opened, place.source);
  if (held !== undefined && held.onDisk === onDisk) return held;
  // What is in the store applies when the fleet says so.
  const isOnRequest = live?.snapshot.server.reload === "on_request" || place.isStored === true;
  if (!isOnRequest || contents.running === undefined) return undefined;
  return held ?? { texts: contents.running.texts, onDisk };
}
