/**
 * Prices usage, by the list price and the terms of an operator's contract. Integer arithmetic on
 * exact fractions; one rounding at the end.
 */

import type { BilledUsage, Price, Rates, Usage, ProviderInstance } from "@sluice/contract";
import { type Charge, chargesOf, reachedTier, type TokenKind } from "./charges.ts";

/** Fractions of terms are integers of millionths. */
const MILLION = 1_000_000;
/** Pico-dollars in a nano-dollar. */
const PICO_PER_NANO_NUMBER = 1000;
const PICO_PER_NANO = 1000n;
const HALF_NANO = PICO_PER_NANO_NUMBER / 2;
const ONE = BigInt(MILLION);
const NO_TERMS: CostTerms = {};

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

/** One part of a cost. The parts' `nanoUsd` sum exactly to the cost. */
export interface CostPart {
  /** A kind of token, or `margin` for the fixed part of a margin. */
  readonly kind: TokenKind | "margin";
  /** Tokens; for `images` images, for `request` and `margin` calls, for a tool its uses. */
  readonly tokens: number;
  /** The list price: before a service tier's factor, discount and margin. */
  readonly picoUsdPerToken: number;
  /** The part's share of the cost, after tier, discount and margin. */
  readonly nanoUsd: number;
}

/**
 * The cost of a usage in nano-dollars, rounded half up once. `undefined` when a used kind has no
 * known price, and above nine million dollars, where a number is not exact. Parts with a price of
 * their own (cache, reasoning, audio, images) use it instead of the general one. The highest length
 * tier that the prompt reaches prices the whole request. A service tier is priced by the table,
 * else by its factor in `terms`. Otherwise the cost is unknown: another tier's price would be a
 * guess.
 */
export function costNanoUsd(
  usage: Usage,
  price: Price,
  terms: CostTerms = NO_TERMS,
): number | undefined {
  const simple = simpleNanoUsd(usage, price, terms);
  if (simple !== undefined) return simple;
  const bill = billOf(usage, price, terms);
  if (bill === undefined) return undefined;
  return plainNanoUsd(bill) ?? exactNanoUsd(bill);
}

/**
 * The cost of most calls: text alone, at one price and without terms. `undefined` for any other
 * call, or beyond 2^53 pico-dollars.
 */
function simpleNanoUsd(usage: Usage, price: Price, terms: CostTerms): number | undefined {
  if (!isTextAlone(usage) || !isOneRate(price) || hasTerms(terms)) return undefined;
  const { promptTokens, completionTokens } = usage;
  const { input, output } = price;
  if (input === undefined || output === undefined) return undefined;
  return inNanoUsd(HALF_NANO + promptTokens * input + completionTokens * output);
}

/** Whether a usage has no part with a price of its own. */
function isTextAlone(usage: Usage): boolean {
  return (
    usage.billed === undefined &&
    usage.images === undefined &&
    usage.toolUses === undefined &&
    isNone(usage.cachedTokens) &&
    isNone(usage.cacheWriteTokens) &&
    isNone(usage.reasoningTokens) &&
    isNone(usage.audioPromptTokens) &&
    isNone(usage.imagePromptTokens) &&
    isNone(usage.audioCompletionTokens) &&
    isNone(usage.imageCompletionTokens) &&
    !isSpecialTier(usage.serviceTier)
  );
}

function isNone(tokens: number | undefined): boolean {
  return tokens === undefined || tokens === 0;
}

function isOneRate({ free, tiers, request }: Price): boolean {
  return free !== true && tiers === undefined && request === undefined;
}

function hasTerms({ discount = 0, margin = 0, fixedPicoUsd = 0 }: CostTerms): boolean {
  return discount !== 0 || margin !== 0 || fixedPicoUsd !== 0;
}

/**
 * The cost of a bill without factor and addition, as most bills are: `undefined` for another bill,
 * or beyond 2^53 pico-dollars.
 */
function plainNanoUsd({ charges, factor, fixed, scale }: Bill): number | undefined {
  if (factor !== 1n || scale !== 1n || fixed !== 0n) return undefined;
  let list = HALF_NANO;
  // All amounts are at least zero, so an unsafe product or sum stays unsafe when more is added.
  for (const { tokens, picoUsdPerToken } of charges) list += tokens * picoUsdPerToken;
  return inNanoUsd(list);
}

function inNanoUsd(picoUsd: number): number | undefined {
  return Number.isSafeInteger(picoUsd)
    ? (picoUsd - (picoUsd % PICO_PER_NANO_NUMBER)) / PICO_PER_NANO_NUMBER
    : undefined;
}

function exactNanoUsd({ charges, factor, fixed, scale }: Bill): number | undefined {
  let list = 0n;
  for (const { tokens, picoUsdPerToken } of charges)
    list += BigInt(tokens) * BigInt(picoUsdPerToken);
  const nanoUsd = rounded(list * factor + fixed, scale);
  return Number.isSafeInteger(nanoUsd) ? nanoUsd : undefined;
}

/**
 * The cost of a usage by kind of token, in the order prompt, completion, images; `undefined`
 * exactly where `costNanoUsd` is. Each part is the difference of two rounded running totals. So the
 * parts sum to the cost, and each is within a nano-dollar of its exact share.
 */
export function costBreakdown(
  usage: Usage,
  price: Price,
  terms: CostTerms = NO_TERMS,
): CostPart[] | undefined {
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
  return [
    ...parts,
    { kind: "margin", tokens: 1, picoUsdPerToken: terms.fixedPicoUsd ?? 0, nanoUsd },
  ];
}

/**
 * The lines of a cost, and the operations on their sum: times `factor`, plus `fixed`, divided by
 * `scale`, in pico-dollars.
 */
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

/** The billed usage. Cached tokens count as a part of it only where they fit into it. */
function billedUsage(usage: Usage, { promptTokens, completionTokens }: BilledUsage): Usage {
  const { cachedTokens = 0, images, serviceTier, toolUses } = usage;
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedTokens > 0 && cachedTokens <= promptTokens ? { cachedTokens } : {}),
    ...(images === undefined ? {} : { images }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(toolUses === undefined ? {} : { toolUses }),
  };
}

/** The rates for a usage's length and service tier, and a factor in millionths. */
function ratesOf(
  usage: Usage,
  price: Price,
  terms: CostTerms,
): { rates: Rates; multiple: number } | undefined {
  const { promptTokens, serviceTier } = usage;
  const tier = reachedTier(price.tiers, promptTokens);
  const standard: Rates = tier === undefined ? price : { ...price, ...tier };
  if (!isSpecialTier(serviceTier)) return { rates: standard, multiple: MILLION };
  const special = own(price.serviceTiers, serviceTier);
  if (special !== undefined) {
    const reached = reachedTier(special.tiers, promptTokens);
    // A tier's price for short prompts does not apply to a long prompt when the standard price
    // differs for long ones.
    if (tier !== undefined && reached === undefined) return undefined;
    return { rates: { ...standard, ...special, ...reached }, multiple: MILLION };
  }
  const multiple = own(terms.serviceTiers, serviceTier);
  return multiple === undefined ? undefined : { rates: standard, multiple };
}

/** An own member of an object: the name comes from an upstream. */
function own<T>(of: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;
}

function rounded(picoUsd: bigint, scale: bigint): number {
  const unit = PICO_PER_NANO * scale;
  return Number((picoUsd + unit / 2n) / unit);
}

/** Upstreams' names for their standard tier: its price is the model's. */
const STANDARD = new Set(["default", "standard", "auto", "on_demand", "standard_only"]);

/** Whether a service tier has a price of its own. */
function isSpecialTier(serviceTier: string | undefined): serviceTier is string {
  return serviceTier !== undefined && !STANDARD.has(serviceTier);
}

/** Millionths of a decimal number of at most six digits behind the point. */
export function millionths(fraction: number): number {
  return Math.round(fraction * MILLION);
}

/**
 * The name of an instance's models in the price table and the directory: the plugin's, unless the
 * provider has another one.
 */
export function pricedAs({ use, priceAs }: ProviderInstance): string {
  return priceAs ?? use;
}
