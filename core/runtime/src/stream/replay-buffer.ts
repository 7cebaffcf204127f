/**
 * A stream with several readers, each at its own pace. What was read is kept up to a bound, so that
 * a reader that joins later or reads more slowly misses nothing. Frames are kept in the batches in
 * which they arrived.
 */

import { batchesOf, BatchedFrames, type FrameBatch, unlessAborted } from "@sluice/kit/internals";
import { type Frame, GatewayError } from "@sluice/contract";

/** The items of a stream: batches of frames, or pieces of a body. */
export interface ItemSource<T> {
  /** Whether each item is one frame (`BatchSource`). */
  readonly isOneByOne?: boolean;
  /** The dialect of relayed texts (`BatchSource`). */
  readonly relays?: string | undefined;
  /** The next item; `undefined` at the end. Rejects with the failure. */
  next(): Promise<T | undefined>;
  /** Ends the stream before its end. */
  close(): Promise<void> | void;
}

/** Options of a buffer. */
export interface ReplayOptions {
  /** Maximum bytes that are kept. The newest item is kept whatever its size. */
  readonly maxBytes: number;
  /**
   * Whether items stay after every reader has read them: for readers that join later, and for
   * `complete`.
   */
  readonly keepsRead: boolean;
}

/** Options of a reader. */
export interface ReaderOptions<T> {
  /**
   * Reads what the other readers pull. It neither pulls nor keeps the stream open, and its own
   * failures are no GatewayError.
   */
  readonly isSpectator?: boolean;
  /** Ends the wait of this reader alone. */
  readonly signal?: AbortSignal;
  /** The item as this reader gets it; `undefined` leaves it out. Absent: each item as it is. */
  readonly select?: (item: T) => T | undefined;
  /** Called once, when the reader is done: with the failure, or with nothing. May delay the end. */
  readonly onEnd?: (error: unknown) => void | Promise<void>;
}

/** The end of a stream. `left`: its last reader left before its end. */
type End =
  | { readonly kind: "complete" | "left" }
  | { readonly kind: "failed"; readonly error: unknown };

/** The buffer of one stream. The reader that is ahead pulls; the others find the pulled items. */
export class ReplayBuffer<T> {
  readonly relays: string | undefined;
  readonly #source: ItemSource<T>;
  readonly #bytesOf: (item: T) => number;
  readonly #options: ReplayOptions;
  readonly #readers = new Set<ReplayReader<T>>();
  #items: T[] = [];
  /** The index of the first kept item. */
  #first = 0;
  #bytes = 0;
  #end: End | undefined;
  #pull: Promise<void> | undefined;
  /** Made for a spectator that waits. */
  #change: PromiseWithResolvers<void> | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(source: ItemSource<T>, bytesOf: (item: T) => number, options: ReplayOptions) {
    this.#source = source;
    this.relays = source.relays;
    this.#bytesOf = bytesOf;
    this.#options = options;
  }

  get isOneByOne(): boolean {
    return this.#source.isOneByOne === true;
  }

  /** Whether the beginning is still kept, so that a new reader misses nothing. */
  get isOpen(): boolean {
    return this.#first === 0 && (this.#end === undefined || this.#end.kind === "complete");
  }

  /** All items, after the stream ended without a failure and if none was dropped. */
  get complete(): readonly T[] | undefined {
    return this.#end?.kind === "complete" && this.#first === 0 ? this.#items : undefined;
  }

  /** Resolves when the stream has ended, also after a failure. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** A new reader, from the first kept item on. The caller must read it to the end or close it. */
  join(options: ReaderOptions<T> = {}): ReplayReader<T> {
    const reader = new ReplayReader(this, options, this.#first);
    this.#readers.add(reader);
    return reader;
  }

  /** Removes a reader. The last one besides spectators closes the source. Safe to call twice. */
  async leave(reader: ReplayReader<T>): Promise<void> {
    if (!this.#readers.delete(reader)) return;
    this.#trim();
    this.#wake();
    if (this.#end !== undefined || reader.isSpectator || this.#isRead()) return;
    this.#end = { kind: "left" };
    try {
      await this.#source.close();
    } finally {
      this.#ended.resolve();
    }
  }

  /**
   * The item that a reader reads next; `undefined` when it has not arrived. Throws when it was
   * dropped.
   */
  take(reader: ReplayReader<T>): T | undefined {
    if (reader.at < this.#first) throw tooSlow(reader);
    const item = this.#items[reader.at - this.#first];
    if (item === undefined) return undefined;
    reader.at += 1;
    this.#trim();
    return item;
  }

  /** Whether no item follows those that have arrived. Throws the failure of the stream. */
  isOver(reader: ReplayReader<T>): boolean {
    switch (this.#end?.kind) {
      case "failed":
        throw this.#end.error;
      case "left":
        throw abandoned(reader);
      case "complete":
        return true;
      default:
        return false;
    }
  }

  /**
   * Waits for the next item, or for the end. One pull at a time for all readers. A spectator pulls
   * nothing. Never rejects.
   */
  more({ isSpectator }: ReplayReader<T>): Promise<void> {
    if (isSpectator) return (this.#change ??= Promise.withResolvers<void>()).promise;
    this.#pull ??= this.#advance();
    return this.#pull;
  }

  async #advance(): Promise<void> {
    try {
      const item = await this.#source.next();
      if (item === undefined) this.#end ??= { kind: "complete" };
      else this.#keep(item);
    } catch (error) {
      this.#end ??= { kind: "failed", error };
    }
    this.#pull = undefined;
    if (this.#end !== undefined) this.#ended.resolve();
    this.#wake();
  }

  #keep(item: T): void {
    this.#items.push(item);
    this.#bytes += this.#bytesOf(item);
    this.#trim();
  }

  /**
   * Drops items that all readers have read, where none is to stay. Beyond the bound, drops the
   * oldest: a slower reader then finds a gap.
   */
  #trim(): void {
    const { maxBytes, keepsRead } = this.#options;
    if (keepsRead && this.#first === 0 && this.#bytes <= maxBytes) return;
    let slowest = Infinity;
    for (const { at } of this.#readers) slowest = Math.min(slowest, at);
    let count = 0;
    while (count < this.#items.length - 1) {
      if (this.#first + count >= slowest && this.#bytes <= maxBytes) break;
      this.#bytes -= this.#bytesOf(this.#items[count] as T);
      count += 1;
    }
    if (count === 0) return;
    this.#items.splice(0, count);
    this.#first += count;
  }

  #wake(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }

  /** Whether a reader besides spectators is left. */
  #isRead(): boolean {
    for (const { isSpectator } of this.#readers) if (!isSpectator) return true;
    return false;
  }
}

/** One reader of a buffer. */
export class ReplayReader<T> implements ItemSource<T> {
  /** The index of the next item. */
  at: number;
  readonly isSpectator: boolean;
  readonly #buffer: ReplayBuffer<T>;
  readonly #options: ReaderOptions<T>;
  #isOver = false;

  constructor(buffer: ReplayBuffer<T>, options: ReaderOptions<T>, at: number) {
    this.at = at;
    this.isSpectator = options.isSpectator === true;
    this.#buffer = buffer;
    this.#options = options;
  }

  get isOneByOne(): boolean {
    return this.#buffer.isOneByOne;
  }

  get relays(): string | undefined {
    return this.#buffer.relays;
  }

  /**
   * The next item; `undefined` at the end, and after a failure. Rejects with the failure, or with
   * `overloaded` behind a gap.
   */
  async next(): Promise<T | undefined> {
    const { select } = this.#options;
    try {
      while (!this.#isOver) {
        const item = this.#buffer.take(this);
        if (item !== undefined) {
          const shown = select === undefined ? item : select(item);
          if (shown !== undefined) return shown;
        } else if (this.#buffer.isOver(this)) break;
        // oxlint-disable-next-line no-await-in-loop -- items come one after the other.
        else await this.#more();
      }
    } catch (error) {
      await this.#end(error);
      throw error;
    }
    await this.#end(undefined);
    return undefined;
  }

  /** Leaves the stream before its end. */
  async close(): Promise<void> {
    await this.#end(new GatewayError("client_closed", "The client closed the connection."));
  }

  #more(): Promise<void> {
    const { signal } = this.#options;
    const more = this.#buffer.more(this);
    return signal === undefined ? more : unlessAborted(more, signal);
  }

  async #end(error: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#buffer.leave(this);
    await this.#options.onEnd?.(error);
  }
}

/** A buffer of frames. Its items are batches, measured by the text of their frames. */
export function replayFrames(
  frames: AsyncIterable<Frame>,
  options: ReplayOptions,
): ReplayBuffer<FrameBatch> {
  return new ReplayBuffer(batchesOf(frames), ({ bytes }) => bytes, options);
}

/** The frames of a reader. */
export function framesFor(reader: ReplayReader<FrameBatch>): BatchedFrames {
  return new BatchedFrames(reader);
}

/** A buffer of a body. */
export function replayBytes(
  body: AsyncIterable<Uint8Array>,
  options: ReplayOptions,
): ReplayBuffer<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  const source: ItemSource<Uint8Array> = {
    async next() {
      const next = await iterator.next();
      return next.done === true ? undefined : next.value;
    },
    async close() {
      await iterator.return?.();
    },
  };
  return new ReplayBuffer(source, ({ length }) => length, options);
}

/** The pieces of a body for a reader. */
export function bytesFor(
  reader: ReplayReader<Uint8Array>,
): AsyncIterableIterator<Uint8Array, undefined> {
  return {
    async next() {
      const value = await reader.next();
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    async return() {
      await reader.close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function tooSlow({ isSpectator }: ReaderOptions<never>): Error {
  if (isSpectator === true) return new Error("The spectator fell behind the stream.");
  return new GatewayError(
    "overloaded",
    "The stream was read more slowly than an identical one, by more than the gateway keeps.",
  );
}

function abandoned({ isSpectator }: ReaderOptions<never>): Error {
  if (isSpectator === true) return new Error("The client left the stream.");
  return new GatewayError("client_closed", "The stream has no reader any more.");
}
