/**
 * Checks streamed replies: every text of every channel in its own window. Frames are rewritten only
 * where a text changed.
 */

import type { Frame, JsonObject, TextContext } from "@sluice/contract";
import { applySpans } from "@sluice/kit/guard";
import { EscapeReader } from "@sluice/kit/internals";
import { FrameTemplate } from "./frame-template.ts";
import type { GuardrailSet, SetSpan } from "../guardrail-set.ts";
import type { StreamDialect, StreamPiece, StreamTexts } from "./dialect.ts";
import { TextWindow } from "./window.ts";

/** The mode of a check of a stream. */
export type StreamMode = "hold" | "window" | "observe";

/** Options of a guarded stream. */
export interface GuardedStreamOptions {
  readonly dialect: StreamDialect;
  /** The guardrails that may change the reply. */
  readonly set: GuardrailSet;
  /** The guardrails that check the text after the stream has ended, and are only reported. */
  readonly observers: GuardrailSet;
  readonly mode: "hold" | "window";
  /** Maximum characters of one text that may wait. */
  readonly maxHeld: number;
  /** Characters of one text that may wait for `decide` after a check. Default 0. */
  readonly batch?: number;
  /** The context of every text; the channel adds part and place. */
  readonly context: Omit<TextContext, "part" | "place" | "isPartial" | "offset">;
  /** Makes a frame of a changed event. */
  readonly frameOf: (changed: JsonObject, original: Frame) => Frame;
}

/** A piece of text in a channel, and the frame that is written when it is decided. */
interface Held {
  readonly frame: Frame;
  readonly piece: StreamPiece;
  /** Offsets in the channel's text. */
  readonly from: number;
  readonly to: number;
  /** The checked text. */
  readonly text: string;
}

interface Channel {
  readonly window: TextWindow;
  readonly escapes: EscapeReader | undefined;
  queue: Held[];
  spans: SetSpan[];
}

/** Checks a stream's frames. `push` takes frames, and `ready` holds the decided ones. */
export class GuardedStream {
  ready: Frame[] = [];
  /** Whether a text was decided, so that the reply has begun. */
  hasText = false;
  readonly #options: GuardedStreamOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #template: FrameTemplate;
  readonly #names = new Map<string, string>();
  readonly #observed = new Map<string, { readonly piece: StreamPiece; text: string; isCut: boolean }>();
  readonly #isObserving: boolean;
  /** Channels whose text waits for `decide`. */
  #waiting: Channel[] = [];
  /** Frames of the end of the stream that arrived while texts were held. */
  #tail: Frame[] = [];
  #held = 0;

  constructor(options: GuardedStreamOptions) {
    this.#options = options;
    this.#template = new FrameTemplate(options.dialect);
    this.#isObserving = !options.observers.isEmpty;
  }

  /** Takes a frame. Throws the error of a block. */
  push(frame: Frame): void | Promise<void> {
    const { dialect, set } = this.#options;
    const known = frame.raw === undefined ? undefined : this.#template.read(frame.raw);
    if (known !== undefined && !set.isEmpty) {
      if (this.#isObserving) this.#observe(known);
      return this.#take(frame, known);
    }
    const read = dialect.read(frame.chunk());
    const { pieces, ends } = read;
    if (this.#isObserving) for (const piece of pieces) this.#observe(piece);
    const [first] = pieces;
    if (set.isEmpty) {
      this.hasText ||= pieces.length > 0;
      this.ready.push(frame);
      return undefined;
    }
    if (pieces.length === 1 && ends === undefined && first !== undefined && first.isName !== true) {
      if (frame.raw !== undefined) this.#template.learn(frame.raw, first);
      return this.#take(frame, first);
    }
    if (pieces.length === 0 && ends === undefined) {
      this.#pass(frame, read);
      return undefined;
    }
    return this.#takeSeveral(frame, read);
  }

  /** Whether decidable text waits for `decide`. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Decides the waiting texts. Throws the error of a block. */
  async decide(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const channel of waiting) {
      // oxlint-disable-next-line no-await-in-loop -- released frames keep their order.
      await this.#decided(channel, () => channel.window.decide());
    }
  }

  /** Ends the input: decides everything, then calls the observers. */
  async end(): Promise<void> {
    await this.#end("");
    this.ready.push(...this.#tail.splice(0));
    await this.observe();
  }

  /** Calls the observers with the text so far. */
  async observe(): Promise<void> {
    const { observers, context, maxHeld } = this.#options;
    for (const [place, { piece, text, isCut }] of this.#observed) {
      if (isCut) observers.for(piece.part).missed(context.direction, maxHeld);
      const about = { ...context, part: piece.part, place, isPartial: false, offset: 0 };
      // oxlint-disable-next-line no-await-in-loop -- one text after the other: only the end of the
      // stream waits for them.
      await observers.for(piece.part).check(piece.isJson === true ? new EscapeReader().push(text) : text, about);
    }
    this.#observed.clear();
  }

  /** A frame without running text is not held, unless it belongs to the end. */
  #pass(frame: Frame, { isLast }: StreamTexts): void {
    if (isLast === true && this.#held > 0) this.#tail.push(frame);
    else this.ready.push(frame);
  }

  async #takeSeveral(frame: Frame, read: StreamTexts): Promise<void> {
    const { pieces, ends } = read;
    const { dialect, frameOf } = this.#options;
    const names = pieces.filter((piece) => piece.isName === true);
    let whole = frame;
    if (names.length > 0) {
      const texts = await Promise.all(names.map((piece) => this.#judgeName(piece)));
      const changed = names.filter((piece, index) => texts[index] !== piece.text);
      const edited = texts.filter((text, index) => text !== names[index]?.text);
      if (changed.length > 0) whole = frameOf(dialect.write(frame.chunk(), changed, edited), frame);
    }
    const texts = pieces.filter((piece) => piece.isName !== true);
    if (texts.length > 1) {
      for (const event of dialect.split(whole.chunk(), texts)) {
        const [piece] = dialect.read(event).pieces.filter((other) => other.isName !== true);
        // oxlint-disable-next-line no-await-in-loop -- the pieces are in order.
        if (piece !== undefined) await this.#take(frameOf(event, frame), piece);
      }
      if (ends !== undefined) await this.#end(ends);
      return;
    }
    const [piece] = texts;
    if (piece !== undefined) await this.#take(whole, piece);
    // Texts that end with this frame precede it, and its own is the last of them.
    if (ends !== undefined) await this.#end(ends);
    if (piece === undefined) this.#pass(whole, read);
  }

  /** A name is checked with the channel's text before it, and passes or is refused immediately. */
  async #judgeName(piece: StreamPiece): Promise<string> {
    const { set, context } = this.#options;
    const before = piece.isWhole === true ? "" : (this.#names.get(piece.channel) ?? "");
    const text = before + piece.text;
    if (piece.isWhole !== true) this.#names.set(piece.channel, text);
    const about = { ...context, part: piece.part, place: piece.channel, isPartial: false, offset: 0 };
    const { spans, block } = await set.for(piece.part).check(text, about);
    const [first] = spans;
    // The client already has the earlier text, so it can no longer be edited.
    const offence =
      block ??
      ((before === "" && piece.isFixed !== true) || first === undefined
        ? undefined
        : { guardrail: first.guardrail, askAgain: false });
    if (offence !== undefined) set.refuse(offence, context.direction);
    for (const span of spans) set.report(span.guardrail, context.direction, "edit");
    return applySpans(text, spans);
  }

  #take(frame: Frame, piece: StreamPiece): void | Promise<void> {
    const channel = this.#channel(piece);
    const text = channel.escapes === undefined ? piece.text : channel.escapes.push(piece.text);
    const from = channel.window.length;
    channel.queue.push({ frame, piece, from, to: from + text.length, text });
    this.#held++;
    const wasWaiting = channel.window.isWaiting;
    return this.#decided(channel, () => {
      const checking = channel.window.push(text);
      if (channel.window.isWaiting && !wasWaiting) this.#waiting.push(channel);
      return checking;
    });
  }

  /** Checks, and writes the decided part; for a text with a block, the part before it. */
  #decided(channel: Channel, check: () => void | Promise<void>): void | Promise<void> {
    let checking: void | Promise<void>;
    try {
      checking = check();
    } catch (error) {
      this.#release(channel);
      throw error;
    }
    if (checking === undefined) return this.#release(channel);
    return checking.finally(() => this.#release(channel));
  }

  #channel(piece: StreamPiece): Channel {
    const known = this.#channels.get(piece.channel);
    if (known !== undefined) return known;
    const { set, mode, maxHeld, context } = this.#options;
    const own = set.for(piece.part);
    const window = new TextWindow({
      set: own,
      reach: mode === "hold" ? Infinity : own.reach,
      maxHeld,
      context: { ...context, part: piece.part, place: piece.channel, isPartial: true, offset: 0 },
    });
    const channel = { window, escapes: piece.isJson === true ? new EscapeReader() : undefined, queue: [], spans: [] };
    this.#channels.set(piece.channel, channel);
    return channel;
  }

  /** Writes the frames with decided texts. */
  #release(channel: Channel): void {
    const { window, queue } = channel;
    const spans = window.takeSpans();
    if (spans.length > 0) channel.spans.push(...spans);
    let count = 0;
    for (const held of queue) {
      if (held.to > window.released) break;
      this.ready.push(this.#written(held, channel));
      count++;
    }
    if (count === 0) return;
    this.hasText = true;
    // The first words are checked immediately; later ones may wait.
    window.batch = this.#options.batch ?? 0;
    this.#held -= count;
    if (count === queue.length) channel.queue = [];
    else queue.splice(0, count);
  }

  #written({ frame, piece, from, to, text }: Held, channel: Channel): Frame {
    const { spans } = channel;
    if (spans.length === 0 && text === piece.text) return frame;
    let edited = "";
    let at = from;
    while (spans.length > 0) {
      const [span] = spans;
      if (span === undefined || span.start >= to) break;
      if (span.start >= from) edited += text.slice(at - from, span.start - from) + span.replacement;
      at = Math.min(span.end, to);
      if (span.end > to) break;
      spans.shift();
    }
    edited += text.slice(at - from);
    if (edited === piece.text) return frame;
    const { dialect, frameOf } = this.#options;
    return frameOf(dialect.write(frame.chunk(), [piece], [edited]), frame);
  }

  async #end(prefix: string): Promise<void> {
    for (const [name, channel] of this.#channels) {
      if (!name.startsWith(prefix)) continue;
      // oxlint-disable-next-line no-await-in-loop -- the channels end in order.
      await this.#decided(channel, () => channel.window.end());
    }
  }

  #observe(piece: StreamPiece): void {
    const seen = this.#observed.get(piece.channel);
    if (seen === undefined) this.#observed.set(piece.channel, { piece, text: piece.text, isCut: false });
    // Text beyond the bound is not checked, which is reported. An observer changes nothing either
    // way.
    else if (seen.text.length < this.#options.maxHeld) seen.text += piece.text;
    else seen.isCut = true;
  }
}
