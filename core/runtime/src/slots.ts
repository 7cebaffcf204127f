/** Slots that steps of one plugin set and the engine's accounting reads. */

import type { Attempt, AttemptWriter, Cost, Exchange, GuardrailOutcome, JsonObject } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

/**
 * What is counted of an attempt whose usage was not reported: `observed`, its prompt and what was read of its reply, which may be
 * nothing; `longest_output`, its prompt and the longest reply that it may have had.
 */
export type UsageEstimate = "observed" | "longest_output";

/**
 * How the attempts of an exchange are billed. One object decides the price, the estimate and the note of a row, so that a billing
 * rule is written in one place. Its functions must not throw.
 */
export interface Billing {
  /** What an attempt costs, by what is known of it. */
  price(attempt: Attempt, exchange: Exchange): Cost;
  /** What is counted of an attempt that has no usage, although it did not answer. `undefined`: nothing. */
  estimate?(attempt: Attempt, exchange: Exchange): UsageEstimate | undefined;
  /** Members for the metadata of its row: the rule by which it was billed. `undefined`: none. */
  describe?(attempt: Attempt, exchange: Exchange): JsonObject | undefined;
}

/** Set by the step `cost`. Without it, rows say `unpriced`. */
export const BILLING = defineSlot<Billing>("billing");

/** What an attempt costs; `undefined` without billing. */
export function priceAttempt(exchange: Exchange, attempt: Attempt): Cost | undefined {
  return BILLING.get(exchange)?.price(attempt, exchange);
}

/**
 * The record of what was answered without an upstream call of this exchange's own, from a cache or from another request's call. A
 * step that does so sets it; it gets a row of its own, with number 0, which costs nothing and keeps the tokens.
 */
export const SERVED = defineSlot<AttemptWriter>("served", { inShadow: () => undefined });

const OUTCOMES = defineSlot<GuardrailOutcome[]>("guardrail outcomes", { inShadow: () => undefined });
const NO_OUTCOMES: readonly GuardrailOutcome[] = Object.freeze([]);

/** Records what a guardrail did, ids only. */
export function recordGuardrail(exchange: Exchange, outcome: GuardrailOutcome): void {
  const outcomes = OUTCOMES.get(exchange);
  if (outcomes === undefined) OUTCOMES.set(exchange, [outcome]);
  else outcomes.push(outcome);
}

/** What guardrails did so far. A reply is fit for a cache when, at the end, none blocked, edited or failed. */
export function guardrailOutcomes(exchange: Pick<Exchange, "slots">): readonly GuardrailOutcome[] {
  return OUTCOMES.get(exchange) ?? NO_OUTCOMES;
}
