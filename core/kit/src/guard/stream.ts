/** Streamed replies under guard: every text of every channel in its own window, frames re-cut only where a text changed. */

import type { Frame, JsonObject, TextContext } from "@sluice/spec";
import { applySpans } from "./spans.ts";
import { EscapeReader } from "./escapes.ts";
import { FrameTemplate } from "./frame-template.ts";
import type { Panel, PanelSpan } from "./panel.ts";
import type { StreamDialect, StreamPiece, StreamTexts } from "./stream-dialect.ts";
import { TextWindow } from "./window.ts";

/** How a stream is judged. */
export type StreamMode = "hold" | "window" | "observe";

/** What a guarded stream needs. */
export interface GuardedStreamOptions {
  readonly dialect: StreamDialect;
  /** Those that change what the client sees. */
  readonly panel: Panel;
  /** Those that are asked when the stream has ended, and only reported. */
  readonly observers: Panel;
  readonly mode: "hold" | "window";
  /** Characters of one text that may wait. */
  readonly maxHeld: number;
  /** Characters of one text that may wait for `judge` after a judgement. Default 0. */
  readonly batch?: number;
  /** Of every text; part and place are the channel's. */
  readonly context: Omit<TextContext, "part" | "place" | "isPartial" | "offset">;
  /** Makes a frame of a changed event. */
  readonly frameOf: (changed: JsonObject, original: Frame) => Frame;
}

/** A piece of text on its way through a channel, and the frame that is written once it is decided. */
interface Held {
  readonly frame: Frame;
  readonly piece: StreamPiece;
  /** Places in the channel's text. */
  readonly from: number;
  readonly to: number;
  /** The text as it was judged. */
  readonly text: string;
}

interface Channel {
  readonly window: TextWindow;
  readonly escapes: EscapeReader | undefined;
  queue: Held[];
  spans: PanelSpan[];
}

/** Judges a stream's frames. Frames come in at `push`, and those that are decided are taken from `ready`. */
export class GuardedStream {
  ready: Frame[] = [];
  /** Whether a text has been decided: the reply has begun. */
  hasText = false;
  readonly #options: GuardedStreamOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #template: FrameTemplate;
  readonly #names = new Map<string, string>();
  readonly #observed = new Map<string, { readonly piece: StreamPiece; text: string; isCut: boolean }>();
  readonly #isObserving: boolean;
  /** Channels whose text waits for `judge`. */
  #waiting: Channel[] = [];
  /** Frames of the end of the stream that came while texts were held. */
  #tail: Frame[] = [];
  #held = 0;

  constructor(options: GuardedStreamOptions) {
    this.#options = options;
    this.#template = new FrameTemplate(options.dialect);
    this.#isObserving = !options.observers.isEmpty;
  }

  /** Takes a frame. Throws what a guardrail decided. */
  push(frame: Frame): void | Promise<void> {
    const { dialect, panel } = this.#options;
    const known = frame.raw === undefined ? undefined : this.#template.read(frame.raw);
    if (known !== undefined && !panel.isEmpty) {
      if (this.#isObserving) this.#observe(known);
      return this.#take(frame, known);
    }
    const read = dialect.read(frame.chunk());
    const { pieces, ends } = read;
    if (this.#isObserving) for (const piece of pieces) this.#observe(piece);
    const [first] = pieces;
    if (panel.isEmpty) {
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

  /** Whether text has come that could be decided and was left to `judge`. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Decides what waits. Throws what a guardrail decided. */
  async judge(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const channel of waiting) {
      // oxlint-disable-next-line no-await-in-loop -- what is released keeps its order.
      await this.#decided(channel, () => channel.window.judge());
    }
  }

  /** Nothing more comes: everything is decided, and those who only look on are asked. */
  async end(): Promise<void> {
    await this.#end("");
    this.ready.push(...this.#tail.splice(0));
    await this.observe();
  }

  /** Asks those who only look on, about what has come so far. */
  async observe(): Promise<void> {
    const { observers, context, maxHeld } = this.#options;
    for (const [place, { piece, text, isCut }] of this.#observed) {
      if (isCut) observers.for(piece.part).missed(context.direction, maxHeld);
      const about = { ...context, part: piece.part, place, isPartial: false, offset: 0 };
      // oxlint-disable-next-line no-await-in-loop -- one text after the other: nobody waits for them but the end.
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
    // The texts that end with this frame come before it, and its own is the last of them.
    if (ends !== undefined) await this.#end(ends);
    if (piece === undefined) this.#pass(whole, read);
  }

  /** A name is judged with what came of it before, and passes or not at once. */
  async #judgeName(piece: StreamPiece): Promise<string> {
    const { panel, context } = this.#options;
    const before = piece.isWhole === true ? "" : (this.#names.get(piece.channel) ?? "");
    const text = before + piece.text;
    if (piece.isWhole !== true) this.#names.set(piece.channel, text);
    const about = { ...context, part: piece.part, place: piece.channel, isPartial: false, offset: 0 };
    const { spans, block } = await panel.for(piece.part).check(text, about);
    const [first] = spans;
    // What came before is with the client already and can no longer be edited.
    const offence =
      block ??
      ((before === "" && piece.isFixed !== true) || first === undefined
        ? undefined
        : { guardrail: first.guardrail, askAgain: false });
    if (offence !== undefined) panel.refuse(offence, context.direction);
    for (const span of spans) panel.report(span.guardrail, context.direction, "edit");
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
      const judged = channel.window.push(text);
      if (channel.window.isWaiting && !wasWaiting) this.#waiting.push(channel);
      return judged;
    });
  }

  /** Judges, and writes what is decided; of a text with an offence, what stands before it. */
  #decided(channel: Channel, judge: () => void | Promise<void>): void | Promise<void> {
    let judged: void | Promise<void>;
    try {
      judged = judge();
    } catch (error) {
      this.#release(channel);
      throw error;
    }
    if (judged === undefined) return this.#release(channel);
    return judged.finally(() => this.#release(channel));
  }

  #channel(piece: StreamPiece): Channel {
    const known = this.#channels.get(piece.channel);
    if (known !== undefined) return known;
    const { panel, mode, maxHeld, context } = this.#options;
    const own = panel.for(piece.part);
    const window = new TextWindow({
      panel: own,
      reach: mode === "hold" ? Infinity : own.reach,
      maxHeld,
      context: { ...context, part: piece.part, place: piece.channel, isPartial: true, offset: 0 },
    });
    const channel = { window, escapes: piece.isJson === true ? new EscapeReader() : undefined, queue: [], spans: [] };
    this.#channels.set(piece.channel, channel);
    return channel;
  }

  /** Writes the frames whose texts are decided. */
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
    // The first words were not kept waiting; those that follow may be.
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
    // What is beyond the bound is not looked at, which is told; nothing is changed for it either way.
    else if (seen.text.length < this.#options.maxHeld) seen.text += piece.text;
    else seen.isCut = true;
  }
}
