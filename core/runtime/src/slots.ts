/** Slots that steps of one plugin set and the engine's accounting reads. */

import type {
  Attempt,
  AttemptWriter,
  Cost,
  Customer,
  Exchange,
  GuardrailOutcome,
  JsonObject,
} from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

/**
 * The parts that are counted of an attempt without a reported usage. `observed`: its prompt and the
 * part of its reply that was read, which may be empty. `longest_output`: its prompt and the longest
 * possible reply.
 */
export type UsageEstimate = "observed" | "longest_output";

/**
 * How the attempts of an exchange are billed. One object decides the price, the estimate and the
 * note of a row, so that a billing rule is written in one place. Its functions must not throw.
 */
export interface Billing {
  /** The cost of an attempt, from the facts about it. */
  price(attempt: Attempt, exchange: Exchange): Cost;
  /**
   * The estimate for an attempt that did not answer and has no usage. `undefined`: nothing is
   * estimated.
   */
  estimate?(attempt: Attempt, exchange: Exchange): UsageEstimate | undefined;
  /** Members for the metadata of its row: the rule by which it was billed. `undefined`: none. */
  describe?(attempt: Attempt, exchange: Exchange): JsonObject | undefined;
}

/** Set by the step `cost`. Without it, rows say `unpriced`. */
export const BILLING = defineSlot<Billing>("billing");

/** The customer of the exchange. Set by the step `auth`; without it the request has none. */
export const CUSTOMER = defineSlot<Customer>("customer");

/** The cost of an attempt; `undefined` without billing. */
export function priceAttempt(exchange: Exchange, attempt: Attempt): Cost | undefined {
  return BILLING.get(exchange)?.price(attempt, exchange);
}

/**
 * The record of what was answered without an upstream call of this exchange's own, from a cache or
 * from another request's call. A step that does so sets it; it gets a row of its own, with number
 * 0, which costs nothing and keeps the tokens.
 */
export const SERVED = defineSlot<AttemptWriter>("served", { inShadow: () => undefined });

/** The request that a reply was made for. */
export interface ReplyOrigin {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/**
 * Set where the reply is that of an earlier request, byte for byte: ids and times that the client's
 * form makes of the request are those of the earlier one.
 */
export const REPLY_ORIGIN = defineSlot<ReplyOrigin>("origin of the reply", {
  inShadow: () => undefined,
});

/**
 * What ends the reply instead of the exchange's signal, where other requests read it too and it
 * goes on after this client has left. Without it a stream is cut soon after its exchange was
 * aborted, and its attempt is `partial`.
 */
export const REPLY_SIGNAL = defineSlot<AbortSignal>("reply signal", { inShadow: () => undefined });

/**
 * Set where guardrails judge the request in the reference dialect: what they did not see must not
 * reach an upstream, so the client's own document is not sent.
 */
export const IS_JUDGED = defineSlot<true>("request is judged");

/** Whether the last attempt got the client's own document, so that the face left nothing out. */
export const IS_NATIVE = defineSlot<boolean>("attempt got the client's document");

/** What guardrails did, each outcome once, and how often it came. */
interface Outcomes {
  readonly outcomes: GuardrailOutcome[];
  readonly counts: number[];
}

const OUTCOMES = defineSlot<Outcomes>("guardrail outcomes", {
  inShadow: () => undefined,
});
const NO_OUTCOMES: Outcomes = Object.freeze({ outcomes: [], counts: [] });

/** Records what a guardrail did, ids only. A reply may have hundreds of thousands of edits. */
export function recordGuardrail(exchange: Exchange, outcome: GuardrailOutcome): void {
  let known = OUTCOMES.get(exchange);
  if (known === undefined) OUTCOMES.set(exchange, (known = { outcomes: [], counts: [] }));
  const { outcomes, counts } = known;
  const at = outcomes.findIndex((one) => isSame(one, outcome));
  if (at >= 0) counts[at]! += 1;
  else {
    outcomes.push(outcome);
    counts.push(1);
  }
}

function isSame(one: GuardrailOutcome, other: GuardrailOutcome): boolean {
  return (
    one.guardrail === other.guardrail &&
    one.verdict === other.verdict &&
    one.direction === other.direction &&
    one.mode === other.mode
  );
}

/**
 * The results of guardrails so far, each once. A reply may be cached when, at the end, no guardrail
 * blocked, edited or failed.
 */
export function guardrailOutcomes(exchange: Pick<Exchange, "slots">): readonly GuardrailOutcome[] {
  return (OUTCOMES.get(exchange) ?? NO_OUTCOMES).outcomes;
}

/** How often each of them came, in the same order. */
export function guardrailCounts(exchange: Pick<Exchange, "slots">): readonly number[] {
  return (OUTCOMES.get(exchange) ?? NO_OUTCOMES).counts;
}
