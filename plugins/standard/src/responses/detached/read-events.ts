/** Reads the events of a response in the background: stored ones, then those that come. */

import { setTimeout as pause } from "node:timers/promises";
import { GatewayError, type FaceDetached } from "@sluice/contract";
import type { ResponseStore } from "../store.ts";
import { type ChunkEnd, findChunk } from "./chunks.ts";
import type { EventLog } from "./event-log.ts";

const HEARTBEAT = ": keep-alive\n\n";
/** Silence before a heartbeat. */
const HEARTBEAT_MS = 15_000;
/** The interval at which the events of another process are looked up. */
const LOOK_MS = 250;

/** What a reader of events needs. */
export interface EventSource {
  readonly store: ResponseStore;
  readonly keyId: string;
  readonly responseId: string;
  /** The events that this process makes. Absent: another one does, or they are complete. */
  readonly log?: EventLog | undefined;
  readonly face: FaceDetached;
  /** Whether the response is being made. */
  readonly isRunning: () => Promise<boolean>;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** The events behind a number as bytes, to their end. A client that cannot get all reads why. */
export async function* readEvents(source: EventSource, after: number): AsyncGenerator<Uint8Array> {
  const filter = new Filter(source.face, after);
  // The head of the reply goes out at once.
  yield Buffer.from(HEARTBEAT);
  for await (const text of new EventReader(source).texts()) {
    const events = text === HEARTBEAT ? text : filter.events(text);
    if (events !== "") yield Buffer.from(events);
  }
}

/** Leaves out the events that the client has. */
class Filter {
  readonly #face: FaceDetached;
  #after: number | undefined;

  constructor(face: FaceDetached, after: number) {
    this.#face = face;
    this.#after = after < 0 ? undefined : after;
  }

  events(text: string): string {
    if (this.#after === undefined) return text;
    const later = this.#face.eventsAfter(text, this.#after);
    // Numbers only grow.
    if (later !== "") this.#after = undefined;
    return later;
  }
}

const LOST = new GatewayError(
  "overloaded",
  "The events of this response are not stored any more, or were too many. Read the response without stream.",
);

/** One reading: a place in the chunks. */
class EventReader {
  readonly #source: EventSource;
  #index = 0;
  #from = 0;
  #last = "";

  constructor(source: EventSource) {
    this.#source = source;
  }

  async *texts(): AsyncGenerator<string> {
    const { signal, log } = this.#source;
    for (;;) {
      signal.throwIfAborted();
      // Asked for before the part is read: no change is missed.
      const changed = log?.changed;
      const part = log?.read(this.#index, this.#from) ?? (await this.#stored());
      if (part === undefined) {
        if (!(await this.#isMissing())) yield* this.#waited(LOOK_MS);
        else {
          yield this.#lost();
          return;
        }
        continue;
      }
      if (part.text !== "") yield this.#read(part.text);
      if (part.end === "end") return;
      if (part.end === "lost") {
        yield this.#lost();
        return;
      }
      if (part.end === "more") this.#next();
      else if (part.text === "") yield* this.#waited(HEARTBEAT_MS, changed);
    }
  }

  #silentMs = 0;

  /** Waits; writes a heartbeat where the silence is long. */
  async *#waited(ms: number, changed?: Promise<void>): AsyncGenerator<string> {
    const { signal } = this.#source;
    const isOver = await waited(ms, signal, changed);
    this.#silentMs = isOver ? this.#silentMs + ms : 0;
    if (this.#silentMs < HEARTBEAT_MS) return;
    this.#silentMs = 0;
    yield HEARTBEAT;
  }

  async #stored(): Promise<{ text: string; end: ChunkEnd } | undefined> {
    const { store, keyId, responseId } = this.#source;
    const chunk = await findChunk(store, keyId, responseId, this.#index);
    return chunk === undefined ? undefined : { ...chunk, text: chunk.text.slice(this.#from) };
  }

  /** Whether a chunk will not come. The response may have ended since it was looked up. */
  async #isMissing(): Promise<boolean> {
    const { log, isRunning } = this.#source;
    if (log?.read(this.#index, this.#from) !== undefined || (await isRunning())) return false;
    return (await this.#stored()) === undefined;
  }

  #read(text: string): string {
    this.#silentMs = 0;
    this.#from += text.length;
    this.#last = text;
    return text;
  }

  #next(): void {
    this.#index += 1;
    this.#from = 0;
  }

  #lost(): string {
    return this.#source.face.lostEvents(this.#last, LOST);
  }
}

/** Whether a time has passed before the change. Rejects with the signal's reason. */
async function waited(
  ms: number,
  signal: AbortSignal,
  changed: Promise<void> | undefined,
): Promise<boolean> {
  const ended = new AbortController();
  const time = pause(ms, true, { signal: AbortSignal.any([signal, ended.signal]) });
  try {
    return await (changed === undefined ? time : Promise.race([time, changed.then(() => false)]));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
    time.catch(() => undefined);
  }
}
