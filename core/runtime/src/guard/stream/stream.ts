/**
 * Checks streamed replies: every text of every channel in its own window. Frames are rewritten only
 * where a text changed.
 */

import type { Frame } from "@sluice/contract";
import { Stages } from "@sluice/kit";
import { exactChunk, nextTurn } from "@sluice/kit/internals";
import { Channel } from "./channel.ts";
import { boundedTexts, isText, type StreamPiece, type StreamTexts } from "./dialect.ts";
import { FrameTemplate } from "./frame-template.ts";
import { StreamNames } from "./names.ts";
import { ObservedTexts } from "./observed-texts.ts";
import type { GuardedStreamOptions } from "./options.ts";
import { stepsOf } from "./steps.ts";

/** Checks a stream's frames. `push` takes frames, and `ready` holds the decided ones. */
export class GuardedStream {
  ready: Frame[] = [];
  /** Whether a text was decided, so that the reply has begun. */
  hasText = false;
  readonly #options: GuardedStreamOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #template: FrameTemplate;
  readonly #observed: ObservedTexts | undefined;
  #names: StreamNames | undefined;
  /** Channels whose text waits for `decide`. */
  #waiting: Channel[] = [];
  /** Frames of the end of the stream that arrived while texts were held. */
  #tail: Frame[] = [];
  #held = 0;

  constructor(options: GuardedStreamOptions) {
    const { dialect, observers, context, maxHeld } = options;
    this.#options = options;
    this.#template = new FrameTemplate(dialect);
    this.#observed = observers.isEmpty ? undefined : new ObservedTexts(observers, context, maxHeld);
  }

  /** Takes a frame. Throws the error of a block. */
  push(frame: Frame): void | Promise<void> {
    const { dialect, set, frameOf } = this.#options;
    const known = frame.raw === undefined ? undefined : this.#template.read(frame.raw);
    if (known !== undefined && !set.isEmpty) {
      this.#observed?.add(known);
      return this.#take(frame, known);
    }
    const event = frame.chunk();
    if (set.isEmpty) {
      const pieces = boundedTexts(dialect.read(event).pieces);
      if (this.#observed !== undefined) for (const piece of pieces) this.#observed.add(piece);
      this.hasText ||= pieces.length > 0;
      this.ready.push(frame);
      return undefined;
    }
    const divided = dialect.divide?.(event);
    if (divided === undefined) return this.#read(frame);
    const exact = exactChunk(frame);
    const parts = exact === event ? divided : (dialect.divide?.(exact) ?? []);
    return inTurn(parts, (part) => this.#read(frameOf(part, frame)));
  }

  /** Takes a frame of one answer. */
  #read(frame: Frame): void | Promise<void> {
    const read = this.#options.dialect.read(frame.chunk());
    const { pieces, ends, follows } = read;
    boundedTexts(pieces);
    if (this.#observed !== undefined) for (const piece of pieces) this.#observed.add(piece);
    const [first] = pieces;
    const isWithin = ends === undefined && follows === undefined;
    if (pieces.length === 1 && isWithin && first !== undefined && first.isName !== true) {
      if (frame.raw !== undefined) this.#template.learn(frame.raw, first);
      return this.#take(frame, first);
    }
    return pieces.length === 0 && isWithin
      ? this.#pass(frame, read)
      : this.#takeSeveral(frame, read);
  }

  /** Whether decidable text waits for `decide`. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Decides the waiting texts. Throws the error of a block. */
  async decide(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    await inTurn(waiting, (channel) => this.#settle(channel, "decide"));
  }

  /** Ends the input: decides everything, then calls the observers. */
  async end(): Promise<void> {
    await this.#end("");
    this.ready.push(...this.#tail.splice(0));
    await this.#observed?.check();
  }

  /** A frame without running text is not held, unless it belongs to the end. */
  #pass(frame: Frame, { isLast }: StreamTexts): void {
    if (isLast === true && this.#held > 0) this.#tail.push(frame);
    else this.ready.push(frame);
  }

  async #takeSeveral(frame: Frame, read: StreamTexts): Promise<void> {
    const hasNames = !read.pieces.every(isText);
    const whole = hasNames
      ? await (this.#names ??= new StreamNames(this.#options)).check(frame, read.pieces)
      : frame;
    await inTurn(stepsOf(whole, read, this.#options), (step) => {
      if ("take" in step) return this.#take(step.take.frame, step.take.piece);
      return "end" in step ? this.#end(step.end, step.except) : this.#pass(step.pass, read);
    });
  }

  #take(frame: Frame, piece: StreamPiece): void | Promise<void> {
    const channel = this.#channel(piece);
    const wasWaiting = channel.isWaiting;
    this.#held++;
    let checking: void | Promise<void>;
    try {
      checking = channel.push(frame, piece);
    } catch (error) {
      // The text before a block is decided.
      this.#release(channel);
      throw error;
    }
    if (channel.isWaiting && !wasWaiting) this.#waiting.push(channel);
    return checking === undefined
      ? this.#release(channel)
      : checking.finally(() => this.#release(channel));
  }

  #channel(piece: StreamPiece): Channel {
    const known = this.#channels.get(piece.channel);
    if (known !== undefined) return known;
    const channel = new Channel(piece, this.#options);
    this.#channels.set(piece.channel, channel);
    return channel;
  }

  /** Ends the channels with this prefix, except one. */
  async #end(prefix: string, except?: string): Promise<void> {
    await inTurn(this.#channels, async ([name, channel]) => {
      if (name.startsWith(prefix) && name !== except) await this.#settle(channel, "end");
    });
  }

  /** Decides text of a channel. The frames before a block are released too. */
  async #settle(channel: Channel, step: "decide" | "end"): Promise<void> {
    try {
      await channel[step]();
    } finally {
      this.#release(channel);
    }
  }

  /** Writes the frames with decided texts. */
  #release(channel: Channel): void {
    const count = channel.release(this.ready);
    if (count === 0) return;
    this.hasText = true;
    this.#held -= count;
  }
}

/** Runs for one item after the other. Gives way to other requests behind one of many texts. */
async function inTurn<T>(
  items: Iterable<T>,
  run: (item: T) => void | Promise<void>,
): Promise<void> {
  const clock = new Stages.Clock(1);
  for (const item of items) {
    // oxlint-disable-next-line no-await-in-loop -- frames keep their order.
    await run(item);
    // oxlint-disable-next-line no-await-in-loop -- as above.
    if (clock.isOver()) await nextTurn();
  }
}
