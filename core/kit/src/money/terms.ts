/** Terms: what an operator's contract adds to a list price. Exact fractions, composed without a rounding. */

/** Parts in one: fractions are integers of so many millionths. */
export const MILLION = 1_000_000;

/** Terms of one provider. Fractions in millionths. */
export interface CostTerms {
  /** Multiples of the standard price by service tier, for tiers whose price the table does not know. */
  readonly serviceTiers?: Readonly<Record<string, number>>;
  /** Taken off the list price: 50,000 is five in a hundred. */
  readonly discount?: number;
  /** Added after the discount. */
  readonly margin?: number;
  /** Added to each priced call, after everything else, in pico-dollars. */
  readonly fixedPicoUsd?: number;
}

/** Words that upstreams have for their standard tier: its price is the model's. */
const STANDARD = new Set(["default", "standard", "auto", "on_demand", "standard_only"]);

/** Whether a service tier has a price of its own. */
export function isSpecialTier(serviceTier: string | undefined): serviceTier is string {
  return serviceTier !== undefined && !STANDARD.has(serviceTier);
}

/** Millionths of a decimal number of at most six digits behind the point. */
export function millionths(fraction: number): number {
  return Math.round(fraction * MILLION);
}
