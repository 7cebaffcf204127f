/**
 * Requests a refused reply once more. The first reply is read to its end, so that its row has its
 * cost.
 */

import { defineSlot } from "@sluice/kit";
import { type BatchSource, batchesOf, type FrameBatch } from "@sluice/kit/internals";
import { discardReply, recordGuardrail, SERVED } from "@sluice/runtime";
import { AskAgain, violation } from "@sluice/runtime/guard";
import {
  type Exchange,
  type Frame,
  GatewayError,
  isGatewayError,
  type Next,
  type Reply,
} from "@sluice/contract";
import { mayAttemptAgain } from "../retry/attempt-budget.ts";

/** Frames that are read of a refused stream after the refusal: its usage, and its end. */
const MAX_READ_ON = 64;
/** Maximum bytes of a stream's frames that are kept until all of it is checked. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
const ASKED_AGAIN = defineSlot<true>("asked again");

/** Checks a reply. `mayAskAgain`: a refusal with `askAgain` is thrown as `AskAgain`. */
export type GuardReply = (mayAskAgain: boolean) => Promise<Reply | undefined>;

/**
 * Whether the reply to come is a second one: what answered the first time must not answer again.
 */
export function isAskedAgain(exchange: Exchange): boolean {
  return ASKED_AGAIN.get(exchange) === true;
}

/**
 * The checked reply of the inner steps. Calls them again when the first reply was refused and
 * another may pass. When the second call fails, the refusal is the answer, as without a second
 * call.
 */
export async function replyOrAnother(
  exchange: Exchange,
  next: Next,
  guard: GuardReply,
): Promise<Reply | undefined> {
  const { model, target, request } = exchange;
  await next();
  const isOpen =
    mayAttemptAgain(exchange) && exchange.reply?.kind !== "bytes" && !isAskedAgain(exchange);
  try {
    return await guard(isOpen);
  } catch (error) {
    if (!(error instanceof AskAgain)) throw error;
    exchange.note("guardrails", "asks for the reply once more", error.guardrail);
    await discardReply(exchange.reply);
    Object.assign(exchange, { model, target, request, reply: undefined });
    SERVED.set(exchange, undefined);
    ASKED_AGAIN.set(exchange, true);
    try {
      await next();
    } catch (failure) {
      if (exchange.signal.aborted || !isGatewayError(failure)) throw failure;
      exchange.note("guardrails", "the second call failed with", failure.code);
      recordGuardrail(exchange, {
        guardrail: error.guardrail,
        direction: "output",
        verdict: "block",
        mode: "enforce",
      });
      throw Object.assign(violation(error.guardrail), { cause: failure });
    }
    return guard(false);
  }
}

/**
 * Batches that are not closed when a guardrail stops reading them: `finish` is called afterwards,
 * and knows why it stopped.
 */
export class ReadOn implements BatchSource {
  readonly #source: BatchSource;
  #isOpen = true;

  constructor(frames: AsyncIterable<Frame>) {
    this.#source = batchesOf(frames);
  }

  async next(): Promise<FrameBatch | undefined> {
    const batch = await this.#source.next();
    if (batch === undefined) this.#isOpen = false;
    return batch;
  }

  close(): void {
    // `finish` closes the source.
  }

  /**
   * Reads on to the end of a stream that is asked for again: its usage comes last. Any other one is
   * closed. A second call has no effect.
   */
  async finish(error: unknown): Promise<void> {
    const max = error instanceof AskAgain ? MAX_READ_ON : 0;
    try {
      for (let count = 0; this.#isOpen && count < max;) {
        // oxlint-disable-next-line no-await-in-loop -- batches come one after the other.
        const batch = await this.next();
        count += batch?.frames.length ?? 0;
      }
    } catch {
      // Its row says how it ended; its text is refused already.
      this.#isOpen = false;
    }
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#source.close();
  }
}

/** All batches of a stream: none is written before its last text is checked. */
export async function batchesToTheEnd(source: BatchSource): Promise<FrameBatch[]> {
  const kept: FrameBatch[] = [];
  let bytes = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- batches come one after the other.
    const batch = await source.next();
    if (batch === undefined) return kept;
    bytes += batch.bytes;
    if (bytes > MAX_KEPT_BYTES) {
      // oxlint-disable-next-line no-await-in-loop -- the stream ends here.
      await source.close();
      throw new GatewayError(
        "upstream_invalid_response",
        "The reply is longer than the guardrails may hold back.",
      );
    }
    kept.push(batch);
  }
}
