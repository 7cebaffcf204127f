/**
 * A reply that is collected as a whole, within its own limit and within the gateway's memory for
 * replies.
 */

import { GatewayError } from "@sluice/contract";
import { Gathered } from "./gathered.ts";

/** The unit in which a collected reply is counted. */
const HELD_STEP_BYTES = 65_536;

/** The collected bytes of one reply. */
export class Collected {
  readonly #gathered = new Gathered();
  readonly #maxBytes: number;
  /** Counts further bytes; false when the gateway has no memory for them. */
  readonly #hold: ((bytes: number) => boolean) | undefined;
  #heldBytes = 0;

  constructor(maxBytes: number, hold: ((bytes: number) => boolean) | undefined) {
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /** Adds a chunk. Returns the reason why the reply is refused, if it is. */
  push(chunk: Uint8Array): GatewayError | undefined {
    this.#gathered.push(chunk);
    return this.#refusal();
  }

  /** Adds the chunks that arrived before. Returns the reason why the reply is refused, if it is. */
  pushAll(chunks: readonly Uint8Array[] | undefined): GatewayError | undefined {
    if (chunks !== undefined) for (const chunk of chunks) this.#gathered.push(chunk);
    return this.#refusal();
  }

  /** All bytes in one piece. The last call on this object. */
  take(): Uint8Array {
    return this.#gathered.take();
  }

  #refusal(): GatewayError | undefined {
    if (this.#gathered.length > this.#maxBytes) return tooLarge();
    return this.#isHeld() ? undefined : noRoom();
  }

  /** Whether the gathered bytes are counted, or fit. */
  #isHeld(): boolean {
    const more = this.#gathered.length - this.#heldBytes;
    if (this.#hold === undefined || more <= 0) return true;
    const step = this.#heldBytes === 0 ? more : Math.max(more, HELD_STEP_BYTES);
    this.#heldBytes += step;
    return this.#hold(step);
  }
}

/** The refusal of a reply over its limit. */
export function tooLarge(): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    "The upstream's reply is larger than the gateway accepts.",
  );
}

function noRoom(): GatewayError {
  const message =
    "The reply is larger than the gateway's free memory for replies and bodies (max_held).";
  return new GatewayError("overloaded", message, { retryAfterMs: 1_000, retryable: false });
}
