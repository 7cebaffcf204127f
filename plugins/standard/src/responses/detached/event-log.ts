/**
 * The events of one response while it is made. What has come is stored in chunks. The last one, and
 * those that are being stored, are also read from memory.
 */

import type { MaybePromise } from "@sluice/contract";
import type { StoreResult } from "../store.ts";
import { bytesOfChunk, type ChunkEnd } from "./chunks.ts";

/** Characters of a chunk that is stored at once. */
const CHUNK_CHARACTERS = 49_152;
/** A smaller chunk is stored after this time: clients of other processes read it then. */
const STORE_AFTER_MS = 500;
/** Characters that wait to be stored. The writer waits beyond it. */
const MAX_WAITING_CHARACTERS = 1_048_576;
/** Chunks behind a lost one that stay in memory, for clients that read as fast as events come. */
const KEPT_LOST = 2;

/** Stores the bytes of a chunk. Never throws or rejects. */
type StoreChunk = (index: number, bytes: Uint8Array) => MaybePromise<StoreResult>;

/** A chunk in memory. */
interface HeldChunk {
  readonly index: number;
  text: string;
  /** Absent: more events may be added. */
  end?: ChunkEnd;
}

/** A part of a chunk in memory. */
export interface HeldPart {
  readonly text: string;
  /** What comes behind the chunk. Absent: it is not complete. */
  readonly end: ChunkEnd | undefined;
}

export class EventLog {
  readonly #store: StoreChunk;
  readonly #maxBytes: number;
  /** The last one takes events. */
  readonly #held: HeldChunk[] = [{ index: 0, text: "" }];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();
  #isStoring = false;
  #isLost = false;
  #isOver = false;
  #changed: PromiseWithResolvers<void> | undefined;

  /** `maxBytes`: of all chunks as they are stored. Events beyond it are not stored. */
  constructor(store: StoreChunk, maxBytes: number) {
    this.#store = store;
    this.#maxBytes = maxBytes;
  }

  /** Adds whole events. A promise where too many wait to be stored. */
  append(events: string): MaybePromise<void> {
    const last = this.#last;
    if (events === "" || this.#isOver || last === undefined) return undefined;
    last.text += events;
    if (last.text.length >= CHUNK_CHARACTERS) this.#close("more");
    else this.#timer ??= setTimeout(() => this.#close("more"), STORE_AFTER_MS).unref();
    this.#wake();
    const waiting = this.#held.reduce((sum, { text }) => sum + text.length, 0);
    return waiting > MAX_WAITING_CHARACTERS ? this.#storing : undefined;
  }

  /** Stores what is left. No event follows. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#close("end");
    this.#wake();
    await this.#storing;
  }

  /** The events of a chunk behind its first characters; `undefined` where it is not in memory. */
  read(index: number, from: number): HeldPart | undefined {
    const chunk = this.#held.find((each) => each.index === index);
    return chunk === undefined ? undefined : { text: chunk.text.slice(from), end: chunk.end };
  }

  /** Resolves at the next change. */
  get changed(): Promise<void> {
    this.#changed ??= Promise.withResolvers();
    return this.#changed.promise;
  }

  get #last(): HeldChunk | undefined {
    return this.#held.at(-1);
  }

  #wake(): void {
    this.#changed?.resolve();
    this.#changed = undefined;
  }

  #close(end: ChunkEnd): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const last = this.#last;
    if (last === undefined || last.end !== undefined) return;
    last.end = end;
    if (end === "more") this.#held.push({ index: last.index + 1, text: "" });
    if (!this.#isStoring) this.#storing = this.#storeAll();
  }

  /** Stores the complete chunks, one after the other. */
  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    for (;;) {
      const chunk = this.#isLost ? undefined : this.#held[0];
      if (chunk?.end === undefined) break;
      // oxlint-disable-next-line no-await-in-loop -- a client reads them in their order.
      const isStored = await this.#storeOne(chunk.index, { text: chunk.text, end: chunk.end });
      if (isStored) this.#held.shift();
      else this.#isLost = true;
      this.#wake();
    }
    // Clients that are behind find the mark of the first one that was lost.
    while (this.#isLost && this.#held.length > KEPT_LOST + 1) this.#held.shift();
    this.#isStoring = false;
  }

  async #storeOne(index: number, chunk: { text: string; end: ChunkEnd }): Promise<boolean> {
    const bytes = bytesOfChunk(chunk);
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes && (await this.#store(index, bytes)) === "stored")
      return true;
    await this.#store(index, bytesOfChunk({ text: "", end: "lost" }));
    return false;
  }
}
