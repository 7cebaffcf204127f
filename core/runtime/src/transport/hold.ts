/**
 * Decides how long a stream is held after its first content, so that an early failure can still be
 * retried.
 */

import type { Frame } from "@sluice/contract";
import { replyTexts } from "../openai/tokens/reply-texts.ts";

/** The bounds of a held stream. The first one reached releases it. */
export interface CommitAfter {
  /** Tokens of content, estimated. */
  readonly tokens?: number;
  /** Milliseconds since the first content. */
  readonly ms?: number;
  /** Bytes of the held events. */
  readonly bytes?: number;
}

/** The maximum held bytes of a stream, whatever the options. */
export const MAX_HELD_BYTES = 262_144;

const BYTES_PER_TOKEN = 4;

/**
 * Measures held events. Tokens are estimated, not counted: one for every four bytes of an event's
 * text, at least one for an event with text, because an upstream does not split a token.
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

  /** Whether a bound is reached. */
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
    // An unreadable event is left to the client.
    return [];
  }
}
