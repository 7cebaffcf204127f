/** How long a stream is held back beyond its first content, so that what fails soon after it can still be tried again. */

import type { Frame } from "@sluice/spec";
import { replyTexts } from "../openai/reply-texts.ts";

/** When a held stream is let go: with the first of these that is reached. */
export interface CommitAfter {
  /** Tokens of content, estimated. */
  readonly tokens?: number;
  /** Milliseconds since the first content. */
  readonly ms?: number;
  /** Bytes of the events that are held. */
  readonly bytes?: number;
}

/** No stream is held beyond this, whatever was asked for. */
export const MAX_HELD_BYTES = 262_144;

const BYTES_PER_TOKEN = 4;

/**
 * Measures what is held. Tokens are estimated, not counted: one for every whole four bytes of an event's text, at least one for
 * an event that has any, because an upstream does not cut a token in two.
 */
export class Hold {
  #tokens = 0;
  #bytes = 0;
  readonly #maxTokens: number;
  readonly #maxBytes: number;

  constructor({ tokens = Infinity, bytes = MAX_HELD_BYTES }: CommitAfter) {
    this.#maxTokens = tokens;
    this.#maxBytes = Math.min(bytes, MAX_HELD_BYTES);
  }

  /** Whether enough is held. */
  get isFull(): boolean {
    return this.#tokens >= this.#maxTokens || this.#bytes >= this.#maxBytes;
  }

  add(frame: Frame): void {
    this.#bytes += Buffer.byteLength(frame.raw ?? JSON.stringify(frame.chunk()));
    if (this.#maxTokens === Infinity) return;
    let textBytes = 0;
    for (const text of textsOf(frame)) textBytes += Buffer.byteLength(text);
    if (textBytes > 0) this.#tokens += Math.max(1, Math.floor(textBytes / BYTES_PER_TOKEN));
  }
}

function textsOf(frame: Frame): readonly string[] {
  try {
    return replyTexts(frame.chunk());
  } catch {
    // An event that cannot be read is the client's to judge.
    return [];
  }
}
