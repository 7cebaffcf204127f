/**
 * What a stream has said so far, kept in case that no usage comes: a client may go, an upstream may tell none. The common
 * frame costs one search and a short copy, no parsing; what is kept is the text and not the events around it.
 */

import type { Frame } from "@sluice/spec";
import { replyTexts } from "./reply-texts.ts";

/** Characters of events after which what was gathered from them is copied out, so that none of them is held longer. */
const FOLD_CHARACTERS = 65_536;
/** Beyond this the rest is not kept: no model writes as much. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

/** Starts of a delta's text as it stands in an event. Inside a string its quotes would carry backslashes. */
const STARTS = ['"content":"', '"arguments":"', '"reasoning_content":"', '"content": "', '"arguments": "'];

/** By how many characters a text may stand earlier than in the frame before. */
const LEEWAY = 8;

/** Gathers the text of a stream's content frames. */
export class ObservedText {
  /** Text, the inside of a JSON string, of frames since the last fold. */
  #escaped = "";
  /** Frames whose text could not be told without parsing. */
  #others: Frame[] = [];
  #unfolded = 0;
  readonly #pieces: string[] = [];
  #kept = 0;
  #start = STARTS[0] ?? "";
  /** Where the text stood in the last frame. The events of a stream begin alike, so it is looked for there first. */
  #place = 0;

  add(frame: Frame): void {
    if (this.#kept > MAX_CHARACTERS) return;
    const { raw } = frame;
    this.#unfolded += raw?.length ?? 256;
    const escaped = raw === undefined ? undefined : this.#find(raw);
    // A text that is empty stands beside what the frame is about.
    if (escaped === undefined || escaped === "") this.#others.push(frame);
    else this.#escaped += escaped;
    if (this.#unfolded > FOLD_CHARACTERS) this.#fold();
  }

  /** The text so far: one for the running text, then those of calls and the like. */
  texts(): readonly string[] {
    this.#fold();
    return this.#pieces.length === 0 ? [] : [this.#pieces.join("")];
  }

  #find(raw: string): string | undefined {
    let place = raw.indexOf(this.#start, this.#place);
    if (place < 0) place = this.#findAnew(raw);
    if (place < 0) return undefined;
    this.#place = Math.max(0, place - LEEWAY);
    return textAt(raw, place + this.#start.length);
  }

  #findAnew(raw: string): number {
    for (const start of STARTS) {
      const place = raw.indexOf(start);
      if (place < 0) continue;
      this.#start = start;
      return place;
    }
    return -1;
  }

  #fold(): void {
    const parts: string[] = this.#escaped === "" ? [] : [unescape(this.#escaped)];
    for (const frame of this.#others) parts.push(...textsOf(frame));
    this.#escaped = "";
    this.#others = [];
    this.#unfolded = 0;
    for (const part of parts) {
      this.#kept += part.length;
      this.#pieces.push(part);
    }
  }
}

/** The inside of the JSON string that begins at `from`, `undefined` when it does not end. */
function textAt(raw: string, from: number): string | undefined {
  let end = raw.indexOf('"', from);
  while (end > 0 && isEscaped(raw, end)) end = raw.indexOf('"', end + 1);
  return end < 0 ? undefined : raw.slice(from, end);
}

/** Whether an odd number of backslashes stands before a place. */
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

function textsOf(frame: Frame): string[] {
  try {
    return replyTexts(frame.chunk());
  } catch {
    return [];
  }
}
