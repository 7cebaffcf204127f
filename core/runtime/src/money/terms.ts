/**
 * Terms: adjustments of a list price by an operator's contract. Exact fractions, composed without
 * rounding.
 */

/** Fractions are integers of millionths. */
export const MILLION = 1_000_000;

/** Terms of one provider. Fractions in millionths. */
export interface CostTerms {
  /** Factors of the standard price by service tier, for tiers that the table does not price. */
  readonly serviceTiers?: Readonly<Record<string, number>>;
  /** The reduction of the list price: 50,000 is five per cent. */
  readonly discount?: number;
  /** The addition after the discount. */
  readonly margin?: number;
  /** The addition for each priced call, after everything else, in pico-dollars. */
  readonly fixedPicoUsd?: number;
}

/** Upstreams' names for their standard tier: its price is the model's. */
const STANDARD = new Set(["default", "standard", "auto", "on_demand", "standard_only"]);

/** Whether a service tier has a price of its own. */
export function isSpecialTier(serviceTier: string | undefined): serviceTier is string {
  return serviceTier !== undefined && !STANDARD.has(serviceTier);
}

/** Millionths of a decimal number of at most six digits behind the point. */
export function millionths(fraction: number): number {
  return Math.round(fraction * MILLION);
}
