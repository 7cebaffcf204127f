/**
 * The text of a stream so far, kept in case no usage arrives: the client may leave, or the upstream
 * may send none. A common frame costs one search and a short copy, no parsing. Only the text is
 * kept, not the events. Of a long text, evenly distributed samples are kept, so that a stream of
 * any length holds about ten kilobytes.
 */

import type { Frame, JsonObject } from "@sluice/contract";
import { replyTexts } from "./reply-texts.ts";

/**
 * Characters of events after which the gathered text is copied out, so that the events can be
 * released.
 */
const FOLD_CHARACTERS = 16_384;
/**
 * A text up to this length, about 8,000 tokens, is kept whole. Of a longer one every second,
 * fourth, eighth … piece is kept: at least half this length. The token count is extrapolated from
 * the sample.
 */
const MAX_CHARACTERS = 32_768;
/** The maximum kept characters of one piece. */
const MAX_PIECE_CHARACTERS = 16_384;

/** Starts of a delta's text in an event. Inside a string the quotes would have backslashes. */
const STARTS = [
  '"content":"',
  '"arguments":"',
  '"reasoning_content":"',
  '"content": "',
  '"arguments": "',
];

/**
 * The maximum characters by which the offset of a text may be smaller than in the previous frame.
 */
const LEEWAY = 8;

/** Gathers the text of a stream's content frames. */
export class ObservedText {
  /** Text (the inside of a JSON string) of frames since the last fold. */
  #escaped = "";
  /** Frames whose text requires parsing. */
  #others: Frame[] = [];
  #unfolded = 0;
  /** The kept pieces: every `#stride`th fold, beginning with the first. */
  #pieces: string[] = [];
  #kept = 0;
  #folds = 0;
  #stride = 1;
  /** Characters of the whole text. */
  #characters = 0;
  #start: string;
  /**
   * The offset of the text in the last frame. Events of a stream begin alike, so the search begins
   * there.
   */
  #place = 0;
  readonly #starts: readonly string[];
  readonly #read: (chunk: JsonObject) => readonly string[];

  /** `read` returns the texts of an event in another dialect; its events are parsed. */
  constructor(read?: (chunk: JsonObject) => readonly string[]) {
    this.#starts = read === undefined ? STARTS : [];
    this.#start = this.#starts[0] ?? "";
    this.#read = read ?? replyTexts;
  }

  add(frame: Frame): void {
    const { raw } = frame;
    this.#unfolded += raw?.length ?? 256;
    const escaped = raw === undefined ? undefined : this.#find(raw);
    // A frame with an empty text has its content in another member.
    if (escaped === undefined || escaped === "") this.#others.push(frame);
    else this.#escaped += escaped;
    if (this.#unfolded > FOLD_CHARACTERS) this.#fold();
  }

  /** Adds the inside of JSON strings of several frames. */
  addInside(escaped: string): void {
    this.#escaped += escaped;
    this.#unfolded += escaped.length;
    if (this.#unfolded > FOLD_CHARACTERS) this.#fold();
  }

  /** The text so far, or its sample. */
  texts(): readonly string[] {
    this.#fold();
    return this.#pieces.length === 0 ? [] : [this.#pieces.join("")];
  }

  /** The length of the whole text divided by that of `texts`: 1 when that is all of it. */
  get scale(): number {
    this.#fold();
    return this.#kept === 0 ? 1 : this.#characters / this.#kept;
  }

  #find(raw: string): string | undefined {
    if (this.#start === "") return undefined;
    let place = raw.indexOf(this.#start, this.#place);
    if (place < 0) place = this.#findAnew(raw);
    if (place < 0) return undefined;
    this.#place = Math.max(0, place - LEEWAY);
    return textAt(raw, place + this.#start.length);
  }

  #findAnew(raw: string): number {
    for (const start of this.#starts) {
      const place = raw.indexOf(start);
      if (place < 0) continue;
      this.#start = start;
      return place;
    }
    return -1;
  }

  #fold(): void {
    if (this.#unfolded === 0) return;
    const parts: string[] = this.#escaped === "" ? [] : [unescape(this.#escaped)];
    for (const frame of this.#others) parts.push(...this.#textsOf(frame));
    this.#escaped = "";
    this.#others = [];
    this.#unfolded = 0;
    const text = parts.join("");
    this.#characters += text.length;
    if (this.#folds++ % this.#stride === 0) this.#keep(text);
  }

  #textsOf(frame: Frame): readonly string[] {
    try {
      return this.#read(frame.chunk());
    } catch {
      return [];
    }
  }

  #keep(text: string): void {
    // A slice of a long text would keep all of it in memory.
    const piece =
      text.length <= MAX_PIECE_CHARACTERS
        ? text
        : structuredClone(text.slice(0, MAX_PIECE_CHARACTERS));
    this.#pieces.push(piece);
    this.#kept += piece.length;
    while (this.#kept > MAX_CHARACTERS) {
      this.#stride *= 2;
      this.#pieces = this.#pieces.filter((_, index) => index % 2 === 0);
      this.#kept = this.#pieces.reduce((sum, { length }) => sum + length, 0);
    }
  }
}

/** The inside of the JSON string that begins at `from`; `undefined` when it does not end. */
function textAt(raw: string, from: number): string | undefined {
  let end = raw.indexOf('"', from);
  while (end > 0 && isEscaped(raw, end)) end = raw.indexOf('"', end + 1);
  return end < 0 ? undefined : raw.slice(from, end);
}

/** Whether an odd number of backslashes precedes an offset. */
function isEscaped(raw: string, place: number): boolean {
  let at = place - 1;
  while (raw.charCodeAt(at) === 0x5c) at--;
  return (place - at) % 2 === 0;
}

function unescape(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    return escaped;
  }
}
