/** Terms that the step `cost` offers to the step `spend`, so that a calculation uses the prices that rows are made with. */

import type { CostTerms } from "@sluice/kit";
import type { Exchange } from "@sluice/spec";

const TERMS = Symbol("cost terms");

/** The terms of a provider instance, by its name in `config/gateway.yaml`. */
export type TermsOfProvider = (provider: string) => CostTerms;

/** Leaves the terms for the steps inside. */
export function offerTerms(exchange: Exchange, terms: TermsOfProvider): void {
  exchange.state.set(TERMS, terms);
}

/** The terms of a provider, `undefined` where no step `cost` ran: list prices hold. */
export function offeredTerms(exchange: Exchange, provider: string): CostTerms | undefined {
  return (exchange.state.get(TERMS) as TermsOfProvider | undefined)?.(provider);
}
