/**
 * Terms that the step `cost` offers to the step `spend`, so that a calculation uses the prices that
 * rows are made with.
 */

import type { CostTerms } from "@sluice/runtime";
import type { Exchange } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

/** The terms of a provider instance, by its name in `config/gateway.yaml`. */
export type TermsOfProvider = (provider: string) => CostTerms;

const TERMS = defineSlot<TermsOfProvider>("cost terms");

/** Leaves the terms for the steps inside. */
export function offerTerms(exchange: Exchange, terms: TermsOfProvider): void {
  TERMS.set(exchange, terms);
}

/** The terms of a provider, `undefined` where no step `cost` ran: list prices hold. */
export function offeredTerms(exchange: Exchange, provider: string): CostTerms | undefined {
  return TERMS.get(exchange)?.(provider);
}
