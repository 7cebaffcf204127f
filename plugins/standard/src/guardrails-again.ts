/** A reply that a guardrail refused is asked for once more. The first one is read to its end, so that its row says what it cost. */

import { discardReply } from "@sluice/kit";
import { AskAgain, violation } from "@sluice/kit/guard";
import { type Exchange, type Frame, GatewayError, isGatewayError, type Next, type Reply } from "@sluice/spec";
import { mayTryAgain } from "./tries.ts";

/** Frames that are read of a refused stream beyond what was judged: its usage, and its end. */
const MAX_READ_ON = 64;
/** Characters of a stream's frames that are kept until the whole of it is judged. */
const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024;
/** What a frame without a text is taken for. */
const PARSED_FRAME_CHARACTERS = 256;
const ASKED_AGAIN = Symbol("asked again");

/** Judges a reply. `mayAskAgain`: a refusal that says so is thrown as `AskAgain`. */
export type JudgeReply = (mayAskAgain: boolean) => Promise<Reply | undefined>;

/** Whether the reply to come is a second one: what answered the first time must not answer again. */
export function isAskedAgain({ state }: Exchange): boolean {
  return state.get(ASKED_AGAIN) === true;
}

/**
 * The reply of the inner steps, judged; of a second call of them when the first reply was refused and another may be better. When that
 * call fails, the refusal is the answer: without a second call it would have been.
 */
export async function replyOrAnother(exchange: Exchange, next: Next, judge: JudgeReply): Promise<Reply | undefined> {
  const { model, target, request } = exchange;
  await next();
  const isOpen = mayTryAgain(exchange) && exchange.reply?.kind !== "bytes" && !isAskedAgain(exchange);
  try {
    return await judge(isOpen);
  } catch (error) {
    if (!(error instanceof AskAgain)) throw error;
    exchange.note("guardrails", "asks for the reply once more", error.guardrail);
    await discardReply(exchange.reply);
    Object.assign(exchange, { model, target, request, reply: undefined, served: undefined });
    exchange.state.set(ASKED_AGAIN, true);
    try {
      await next();
    } catch (failure) {
      if (exchange.signal.aborted || !isGatewayError(failure)) throw failure;
      exchange.note("guardrails", "the second call failed with", failure.code);
      exchange.guardrails.push({ guardrail: error.guardrail, direction: "output", verdict: "block", mode: "enforce" });
      throw Object.assign(violation(error.guardrail), { cause: failure });
    }
    return judge(false);
  }
}

/** Frames that are not closed when a guardrail stops reading them: `finish` is called afterwards, and knows why it stopped. */
export class ReadOn implements AsyncIterable<Frame> {
  readonly #frames: AsyncIterator<Frame>;
  #isOpen = true;

  constructor(frames: AsyncIterable<Frame>) {
    this.#frames = frames[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): AsyncIterator<Frame> {
    return {
      next: async () => {
        const next = await this.#frames.next();
        if (next.done === true) this.#isOpen = false;
        return next;
      },
    };
  }

  /** Reads on to the end of a stream that is asked for again: its usage comes last. Any other one is closed. Safe twice. */
  async finish(error: unknown): Promise<void> {
    const most = error instanceof AskAgain ? MAX_READ_ON : 0;
    try {
      for (let count = 0; this.#isOpen && count < most; count += 1) {
        // oxlint-disable-next-line no-await-in-loop -- frames come one after the other.
        if ((await this.#frames.next()).done === true) this.#isOpen = false;
      }
    } catch {
      // Its row says how it ended; its text is refused already.
      this.#isOpen = false;
    }
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#frames.return?.();
  }
}

/** All frames of a stream: nothing of it is written before the last of its texts is judged. */
export async function framesToTheEnd(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const kept: Frame[] = [];
  let characters = 0;
  for await (const frame of frames) {
    characters += frame.raw?.length ?? PARSED_FRAME_CHARACTERS;
    if (characters > MAX_KEPT_CHARACTERS)
      throw new GatewayError("upstream_invalid_response", "The reply is longer than the guardrails may hold back.");
    kept.push(frame);
  }
  return kept;
}
