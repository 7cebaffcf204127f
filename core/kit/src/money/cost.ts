/** Prices usage. Integer arithmetic; one rounding at the end. */

import type { BilledUsage, Price, Rates, Usage } from "@sluice/spec";
import { type Charge, chargesOf, reachedTier, type TokenKind } from "./charges.ts";
import { type CostTerms, isSpecialTier, MILLION } from "./terms.ts";

/** Pico-dollars in a nano-dollar. */
const PICO_PER_NANO_NUMBER = 1000;
const PICO_PER_NANO = 1000n;
const HALF_NANO = PICO_PER_NANO_NUMBER / 2;
const ONE = BigInt(MILLION);
const NO_TERMS: CostTerms = {};

/** One part of a cost. The parts' `nanoUsd` sum exactly to the cost. */
export interface CostPart {
  /** A kind of token, or `margin` for the fixed part of a margin. */
  readonly kind: TokenKind | "margin";
  /** Tokens; for `images` images, for `request` and `margin` calls. */
  readonly tokens: number;
  /** The list price: before a service tier's multiple, discount and margin. */
  readonly picoUsdPerToken: number;
  /** The part's share of the cost, after all of them. */
  readonly nanoUsd: number;
}

/**
 * The cost of a usage in nano-dollars, rounded half up once; `undefined` when something that was used has no known price, and
 * for more than a number holds exactly, nine million dollars.
 * Parts that have a price of their own (cache, reasoning, audio, images) are counted at it and not at the general one. The
 * highest length tier that the prompt reaches prices the whole request. A service tier is priced by the table, else by its
 * multiple in `terms`, else not at all: another tier's price would be a guess.
 */
export function costNanoUsd(usage: Usage, price: Price, terms: CostTerms = NO_TERMS): number | undefined {
  const bill = billOf(usage, price, terms);
  if (bill === undefined) return undefined;
  return plainNanoUsd(bill) ?? exactNanoUsd(bill);
}

/** The cost of a bill that is nothing but its lines, as almost every one is: `undefined` for another, or beyond 2^53 pico-dollars. */
function plainNanoUsd({ charges, factor, fixed, scale }: Bill): number | undefined {
  if (factor !== 1n || scale !== 1n || fixed !== 0n) return undefined;
  let list = HALF_NANO;
  // A product or sum that is no safe integer never becomes one by adding more: none of them is negative.
  for (const { tokens, picoUsdPerToken } of charges) list += tokens * picoUsdPerToken;
  return Number.isSafeInteger(list) ? (list - (list % PICO_PER_NANO_NUMBER)) / PICO_PER_NANO_NUMBER : undefined;
}

function exactNanoUsd({ charges, factor, fixed, scale }: Bill): number | undefined {
  let list = 0n;
  for (const { tokens, picoUsdPerToken } of charges) list += BigInt(tokens) * BigInt(picoUsdPerToken);
  const nanoUsd = rounded(list * factor + fixed, scale);
  return Number.isSafeInteger(nanoUsd) ? nanoUsd : undefined;
}

/**
 * The cost of a usage by kind of token, in the order prompt, completion, images; `undefined` exactly where `costNanoUsd`
 * is. Rounding: each part is the difference of two rounded running totals, so that the parts sum to the cost and none is
 * further than a nano-dollar from its own exact share.
 */
export function costBreakdown(usage: Usage, price: Price, terms: CostTerms = NO_TERMS): CostPart[] | undefined {
  const bill = billOf(usage, price, terms);
  if (bill === undefined) return undefined;
  let list = 0n;
  let before = 0;
  const parts = bill.charges.map((charge): CostPart => {
    list += BigInt(charge.tokens) * BigInt(charge.picoUsdPerToken);
    const total = rounded(list * bill.factor, bill.scale);
    const nanoUsd = total - before;
    before = total;
    return { ...charge, nanoUsd };
  });
  const total = rounded(list * bill.factor + bill.fixed, bill.scale);
  if (!Number.isSafeInteger(total)) return undefined;
  if (bill.fixed === 0n) return parts;
  const nanoUsd = total - before;
  return [...parts, { kind: "margin", tokens: 1, picoUsdPerToken: terms.fixedPicoUsd ?? 0, nanoUsd }];
}

/** The lines of a cost, and what is done to their sum: times `factor`, plus `fixed`, all over `scale`, in pico-dollars. */
interface Bill {
  readonly charges: readonly Charge[];
  readonly factor: bigint;
  readonly fixed: bigint;
  readonly scale: bigint;
}

function billOf(used: Usage, price: Price, terms: CostTerms): Bill | undefined {
  const usage = used.billed === undefined ? used : billedUsage(used, used.billed);
  if (price.free === true) return { charges: [], factor: 1n, fixed: 0n, scale: 1n };
  const held = ratesOf(usage, price, terms);
  const charges = held === undefined ? undefined : chargesOf(usage, held.rates, price);
  if (held === undefined || charges === undefined) return undefined;
  const { discount = 0, margin = 0, fixedPicoUsd = 0 } = terms;
  if (held.multiple === MILLION && discount === 0 && margin === 0) {
    return { charges, factor: 1n, fixed: BigInt(fixedPicoUsd), scale: 1n };
  }
  const scale = ONE * ONE * ONE;
  const factor = BigInt(held.multiple) * BigInt(MILLION - discount) * BigInt(MILLION + margin);
  return { charges, factor, fixed: BigInt(fixedPicoUsd) * scale, scale };
}

/** The usage as it is billed. Cached tokens are a part of it only where they fit into what is billed. */
function billedUsage(usage: Usage, { promptTokens, completionTokens }: BilledUsage): Usage {
  const { cachedTokens = 0, images, serviceTier } = usage;
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedTokens > 0 && cachedTokens <= promptTokens ? { cachedTokens } : {}),
    ...(images === undefined ? {} : { images }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
}

/** The rates of a usage's length and service tier, and a multiple of them in millionths. */
function ratesOf(usage: Usage, price: Price, terms: CostTerms): { rates: Rates; multiple: number } | undefined {
  const { promptTokens, serviceTier } = usage;
  const tier = reachedTier(price.tiers, promptTokens);
  const standard: Rates = tier === undefined ? price : { ...price, ...tier };
  if (!isSpecialTier(serviceTier)) return { rates: standard, multiple: MILLION };
  const special = own(price.serviceTiers, serviceTier);
  if (special !== undefined) {
    const reached = reachedTier(special.tiers, promptTokens);
    // A price for short prompts says nothing about a long one where the standard price has two.
    if (tier !== undefined && reached === undefined) return undefined;
    return { rates: { ...standard, ...special, ...reached }, multiple: MILLION };
  }
  const multiple = own(terms.serviceTiers, serviceTier);
  return multiple === undefined ? undefined : { rates: standard, multiple };
}

/** A member that the object itself has: the name comes from an upstream. */
function own<T>(of: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;
}

function rounded(picoUsd: bigint, scale: bigint): number {
  const unit = PICO_PER_NANO * scale;
  return Number((picoUsd + unit / 2n) / unit);
}
