/** Prices as a person writes them: dollars per million tokens to exact pico-dollars per token. */

import type { ImagePrice, Price, PriceTier, Rates, ServiceTierPrice } from "@sluice/contract";

import { parseDecimal } from "./decimal.ts";
import type { PriceSection, RateName, RatesSection, TierSection } from "../schema/prices.ts";

/**
 * Decimals of an amount in dollars, and of a price per million tokens in pico-dollars per token.
 */
const DECIMALS = 6;
/** Pico-dollars in a millionth of a dollar. */
const PICO_PER_MICRO = 1_000_000;

/** What a kind is called in YAML, and what in a Price. */
const NAMES: Readonly<Record<RateName, keyof Rates>> = {
  input: "input",
  output: "output",
  cache_read: "cacheRead",
  cache_write: "cacheWrite",
  cache_write_1h: "cacheWrite1h",
  reasoning: "reasoning",
  input_audio: "inputAudio",
  output_audio: "outputAudio",
  cache_read_audio: "cacheReadAudio",
  input_image: "inputImage",
  output_image: "outputImage",
  cache_read_image: "cacheReadImage",
};

/** What is wrong with an entry, and what to do. */
export interface PriceFault {
  readonly message: string;
  readonly fix: string;
}

/** The price of an entry, `undefined` when it is at fault: see {@link priceFault}. */
export function priceOf(section: PriceSection, file: string): Price | undefined {
  if (priceFault(section) !== undefined) return undefined;
  if (section.free === true)
    return Object.freeze({ input: 0, output: 0, free: true, source: `${file} (free)` });
  const { images, request, tools, tiers, service_tiers: serviceTiers } = section;
  const rates = ratesOf(section);
  // Who prices a model by the piece alone says that its tokens cost nothing.
  const isByPiece = Object.keys(rates).length === 0;
  return Object.freeze({
    ...(isByPiece ? { input: 0, output: 0 } : rates),
    ...(tiers === undefined ? {} : { tiers: tiersOf(tiers) }),
    ...(serviceTiers === undefined ? {} : { serviceTiers: serviceTiersOf(serviceTiers) }),
    ...(images === undefined ? {} : { images: Object.freeze(images.map(imageOf)) }),
    ...(request === undefined ? {} : { request: picoUsd(request) }),
    ...(tools === undefined ? {} : { tools: toolsOf(tools) }),
    source: file,
  });
}

/** What a schema cannot say about an entry, `undefined` when it is sound. */
export function priceFault(section: PriceSection): PriceFault | undefined {
  const keys = Object.keys(section);
  if (section.free === true) {
    return keys.length === 1
      ? undefined
      : { message: "is free and has prices", fix: "keep `free: true` or the prices" };
  }
  const isByPiece = section.images !== undefined || section.request !== undefined;
  const hasTokens =
    keys.some((key) => key in NAMES) ||
    section.tiers !== undefined ||
    section.service_tiers !== undefined;
  if ((section.input === undefined || section.output === undefined) && (hasTokens || !isByPiece)) {
    const lacks = section.input === undefined ? "input" : "output";
    return {
      message: `lacks \`${lacks}\``,
      fix: `add \`${lacks}:\` in US dollars per million tokens, or write \`free: true\``,
    };
  }
  const lists = [
    section.tiers,
    ...Object.values(section.service_tiers ?? {}).map(({ tiers }) => tiers),
  ];
  const hasTwins = lists.some(
    (tiers = []) => new Set(tiers.map(({ above }) => above)).size !== tiers.length,
  );
  if (hasTwins)
    return { message: "has two tiers that begin at one length", fix: "keep one of the two" };
  const sorts = (section.images ?? []).map(({ size, quality }) => `${size ?? ""} ${quality ?? ""}`);
  if (new Set(sorts).size !== sorts.length) {
    return { message: "prices one size and quality of image twice", fix: "keep one of the two" };
  }
  return undefined;
}

function ratesOf(section: RatesSection): Rates {
  const rates: { -readonly [Name in keyof Rates]: number } = {};
  for (const [name, to] of Object.entries(NAMES) as [RateName, keyof Rates][]) {
    const dollars = section[name];
    const pico = dollars === undefined ? undefined : parseDecimal(String(dollars), DECIMALS);
    if (pico !== undefined) rates[to] = pico;
  }
  return rates;
}

function tiersOf(tiers: readonly TierSection[]): readonly PriceTier[] {
  const made = tiers.map((tier) => Object.freeze({ above: tier.above, ...ratesOf(tier) }));
  return Object.freeze(made.sort((left, right) => left.above - right.above));
}

function serviceTiersOf(
  sections: NonNullable<PriceSection["service_tiers"]>,
): Readonly<Record<string, ServiceTierPrice>> {
  const made = Object.entries(sections).map(([name, section]) => {
    const tiers = section.tiers === undefined ? {} : { tiers: tiersOf(section.tiers) };
    return [name, Object.freeze({ ...ratesOf(section), ...tiers })] as const;
  });
  return Object.freeze(Object.fromEntries(made));
}

function toolsOf(tools: NonNullable<PriceSection["tools"]>): NonNullable<Price["tools"]> {
  return Object.freeze(
    Object.fromEntries(Object.entries(tools).map(([tool, price]) => [tool, picoUsd(price)])),
  );
}

function imageOf({
  size,
  quality,
  price,
}: NonNullable<PriceSection["images"]>[number]): ImagePrice {
  return Object.freeze({
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    picoUsd: picoUsd(price),
  });
}

/** Pico-dollars of dollars with six decimals at most, which the schema has checked. */
function picoUsd(dollars: number): number {
  return (parseDecimal(String(dollars), DECIMALS) ?? 0) * PICO_PER_MICRO;
}
