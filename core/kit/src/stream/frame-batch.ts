/**
 * Frames that arrived together travel together: a layer of a stream costs per chunk of the
 * upstream, and not per frame.
 */

import type { Frame } from "@sluice/contract";
import { FrameRun } from "./frame-run.ts";
import type { RelayedText } from "./relay.ts";

/**
 * Frames in their order. Some of them are in runs, which stay whole. A batch of a relayed stream
 * also has the events as they came; it may hold no frame, where no event of an arrival has a form
 * in the reference dialect.
 */
export class FrameBatch {
  /** The events in the client's own dialect. Absent: the stream is translated. */
  readonly relayed: RelayedText | undefined;
  readonly #items: readonly (Frame | FrameRun)[];
  #frames: readonly Frame[] | undefined;
  #bytes: number | undefined;

  constructor(items: readonly (Frame | FrameRun)[], relayed?: RelayedText) {
    this.#items = items;
    this.relayed = relayed;
  }

  /** The frames, and the runs of frames, in their order. */
  get items(): readonly (Frame | FrameRun)[] {
    return this.#items;
  }

  /** Bytes of the frames' texts, and characters of those that are relayed. */
  get bytes(): number {
    this.#bytes ??= this.#items.reduce(
      (sum, item) => sum + (item instanceof FrameRun ? item.bytes : bytesOf(item)),
      this.relayed?.text.length ?? 0,
    );
    return this.#bytes;
  }

  /** All frames, those of runs too. */
  get frames(): readonly Frame[] {
    this.#frames ??= this.#items.flatMap((item) =>
      item instanceof FrameRun ? item.frames() : [item],
    );
    return this.#frames;
  }

  /** The last frame. */
  get last(): Frame | undefined {
    const item = this.#items.at(-1);
    return item instanceof FrameRun ? item.last : item;
  }

  /**
   * Whether the text is ASCII, so that its length is that of its bytes. `false` where that is not
   * known.
   */
  get isAscii(): boolean {
    return this.#items.every((item) =>
      item instanceof FrameRun ? item.isAscii : item.raw !== undefined && ASCII.test(item.raw),
    );
  }

  /**
   * The batch without frames that match; `undefined` when all do and nothing is relayed. The frames
   * of a run are alike: its last one decides.
   */
  without(matches: (frame: Frame) => boolean): FrameBatch | undefined {
    const items = this.#items.filter(
      (item) => !matches(item instanceof FrameRun ? item.last : item),
    );
    if (items.length === this.#items.length) return this;
    return items.length === 0 && this.relayed === undefined
      ? undefined
      : new FrameBatch(items, this.relayed);
  }

  /** All frames as server-sent events. */
  text(): string {
    let text = "";
    for (const item of this.#items) text += item instanceof FrameRun ? item.text : eventText(item);
    return text;
  }
}

// oxlint-disable-next-line no-control-regex -- they are ASCII too.
const ASCII = /^[\u0000-\u007f]*$/;

/** The assumed bytes of a frame without a text. */
const PARSED_FRAME_BYTES = 256;

function bytesOf({ raw }: Frame): number {
  return raw === undefined ? PARSED_FRAME_BYTES : Buffer.byteLength(raw);
}

/** A frame as a server-sent event. */
function eventText(frame: Frame): string {
  const data = frame.raw ?? JSON.stringify(frame.chunk());
  // Multi-line data arrives joined by line feeds and leaves the same way.
  return data.includes("\n")
    ? `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`
    : `data: ${data}\n\n`;
}

/** Batches of a stream. */
export interface BatchSource {
  /**
   * Whether each batch is one frame, so that frames that arrive together come in several batches.
   */
  readonly isOneByOne?: boolean;
  /**
   * The dialect of the texts that its batches relay. A layer that changes frames, adds some or
   * leaves some out has none. Absent: nothing is relayed.
   */
  readonly relays?: string | undefined;
  /** Whether the frames that `next` has returned are all: the end has arrived too. */
  readonly isAtEnd?: boolean;
  /**
   * The next frames, at least one unless a text is relayed; `undefined` at the end, and after a
   * failure. Rejects with the failure.
   */
  next(): Promise<FrameBatch | undefined>;
  /** Ends the stream before its end. Safe at any time, and more than once. */
  close(): Promise<void> | void;
}

const SOURCE = Symbol.for("sluice.batches");

/**
 * The frames of a source: one by one for those who iterate them, and in batches for those who ask
 * for them.
 */
export class BatchedFrames implements AsyncIterableIterator<Frame, undefined> {
  readonly #source: BatchSource;
  #batch: readonly Frame[] = [];
  #at = 0;
  #isRead = false;

  constructor(source: BatchSource) {
    this.#source = source;
  }

  async next(): Promise<IteratorResult<Frame, undefined>> {
    this.#isRead = true;
    while (this.#at >= this.#batch.length) {
      // oxlint-disable-next-line no-await-in-loop -- batches come one after the other.
      const batch = await this.#source.next();
      if (batch === undefined) return { done: true, value: undefined };
      this.#batch = batch.frames;
      this.#at = 0;
    }
    const value = this.#batch[this.#at++] as Frame;
    return { done: false, value };
  }

  async return(): Promise<IteratorResult<Frame, undefined>> {
    this.#batch = [];
    this.#at = 0;
    await this.#source.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * The source, behind frames that were read of a batch one by one. What was read then is missing
   * in the relayed texts: nothing is relayed.
   */
  get [SOURCE](): BatchSource {
    if (!this.#isRead) return this.#source;
    if (this.#at >= this.#batch.length) return startingWith([], this.#source);
    const rest = new FrameBatch(this.#batch.slice(this.#at));
    this.#batch = [];
    return startingWith([rest], this.#source);
  }
}

/** Batches that are there already, then the rest of a source. */
export function startingWith(first: readonly FrameBatch[], rest: BatchSource): BatchSource {
  const waiting = [...first];
  return {
    next: () => {
      const batch = waiting.shift();
      return batch === undefined ? rest.next() : Promise.resolve(batch);
    },
    close: () => {
      waiting.length = 0;
      return rest.close();
    },
  };
}

/** A batch of frames that have arrived ends with the frame that reaches this number of bytes. */
const MAX_ARRIVED_BYTES = 64 * 1024;

/** The frames of a stream that has arrived, in batches. */
class ArrivedBatches implements BatchSource {
  readonly relays: string | undefined;
  readonly #frames: readonly Frame[];
  /** The texts of the whole stream: they leave with the first batch. */
  #relayed: RelayedText | undefined;
  #at = 0;

  constructor(frames: readonly Frame[], relayed: RelayedText | undefined) {
    this.#frames = frames;
    this.#relayed = relayed;
    this.relays = relayed?.dialect;
  }

  async next(): Promise<FrameBatch | undefined> {
    const from = this.#at;
    for (let bytes = 0; this.#at < this.#frames.length && bytes < MAX_ARRIVED_BYTES; this.#at += 1)
      bytes += bytesOf(this.#frames[this.#at] as Frame);
    if (this.#at === from) return undefined;
    const relayed = this.#relayed;
    this.#relayed = undefined;
    return new FrameBatch(this.#frames.slice(from, this.#at), relayed);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#frames.length;
  }

  close(): void {
    this.#at = this.#frames.length;
  }
}

/**
 * The frames of a stream that has arrived: of a whole reply, or of a stored one. `relayed`: its
 * events in the dialect of the client that first got it.
 */
export function arrivedFrames(frames: readonly Frame[], relayed?: RelayedText): BatchedFrames {
  return new BatchedFrames(new ArrivedBatches(frames, relayed));
}

/** The relayed texts of batches, joined; `undefined` where there are none. */
export function joinRelayed(batches: readonly FrameBatch[]): RelayedText | undefined {
  const parts = batches.flatMap(({ relayed }) => relayed ?? []);
  const [first] = parts;
  if (first === undefined) return undefined;
  return {
    dialect: first.dialect,
    text: parts.map(({ text }) => text).join(""),
    end: parts.map(({ end }) => end).join(""),
    isAscii: parts.every(({ isAscii }) => isAscii),
  };
}

/** The batches of frames. Frames of a step's own come one in a batch. */
export function batchesOf(frames: AsyncIterable<Frame>): BatchSource {
  const known = (frames as { readonly [SOURCE]?: BatchSource })[SOURCE];
  if (known !== undefined) return known;
  const iterator = frames[Symbol.asyncIterator]();
  return {
    isOneByOne: true,
    async next() {
      const next = await iterator.next();
      return next.done === true ? undefined : new FrameBatch([next.value]);
    },
    async close() {
      await iterator.return?.();
    },
  };
}
