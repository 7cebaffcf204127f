/**
 * Built-in prices: the table of @pydantic/genai-prices, matched by its own clauses, and our own
 * beside it.
 */

import type { HostedTool, Price, PriceTier, Rates } from "@sluice/contract";

import { BoundedMap } from "../bounded-map.ts";
import { parseDecimal } from "./decimal.ts";
import { priceOf } from "./section.ts";
import { OWN_PRICES, OWN_SERVICE_TIERS, OWN_SOURCE, OWN_TOOLS } from "./seed-own.ts";
import { matchSeed } from "./seed-match.ts";
import {
  loadSeed,
  type SeedModel,
  type SeedPrice,
  type SeedPrices,
  seedTable,
  tableName,
} from "./seed-table.ts";

/** Where a built-in price was read. A test holds the version against the installed package. */
export const SEED_SOURCE = "@pydantic/genai-prices 0.1.8";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** More than the table has models. */
const MAX_KEPT = 4_000;

/**
 * An answer and the moment until which it may be kept: prices by the hour change on a full minute.
 */
export interface SeedAnswer {
  readonly price: Price | undefined;
  readonly untilMs: number;
}

/** Answers that hold for ever. They outlive price tables. */
const lasting = new BoundedMap<SeedAnswer>(MAX_KEPT);

/** The built-in price of a provider's model at a time, in milliseconds since 1970. */
export function findSeedPrice(provider: string, model: string, nowMs: number): SeedAnswer {
  const id = tableName(provider);
  const name = `${id}/${model}`;
  const known = lasting.get(name);
  if (known !== undefined) return known;
  const answer = lookUp(id, model, nowMs);
  if (answer.untilMs === Infinity) lasting.set(name, answer);
  return answer;
}

function lookUp(id: string, model: string, nowMs: number): SeedAnswer {
  const own = OWN_PRICES[`${id}/${model}`];
  if (own !== undefined) return { price: priceOf(own, OWN_SOURCE), untilMs: Infinity };
  const table = seedTable(id);
  const found = table === undefined ? undefined : matchSeed(table, model);
  if (found === undefined) return { price: undefined, untilMs: Infinity };
  const { prices, untilMs } = pricesAt(found, { id, model, nowMs });
  return { price: withServiceTiers(convert(prices), `${id}/${model}`), untilMs };
}

type ConditionalPrice = Extract<SeedModel["prices"], readonly unknown[]>[number];

interface Question {
  readonly id: string;
  readonly model: string;
  readonly nowMs: number;
}

/** The prices of a model at a time, and until when they hold. */
function pricesAt(found: SeedModel, { id, model, nowMs }: Question) {
  if (!Array.isArray(found.prices)) return { prices: found.prices, untilMs: Infinity };
  const [only, ...others] = found.prices;
  if (only !== undefined && others.length === 0) return { prices: only.prices, untilMs: Infinity };
  const untilMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  const holding = lastHolding(found.prices, nowMs);
  if (holding !== undefined) return { prices: holding.prices, untilMs };
  // A table that is given by itself would be copied.
  const { calcPrice } = loadSeed();
  const timestamp = new Date(nowMs);
  return {
    prices: calcPrice({}, model, { providerId: id, timestamp })?.model_price ?? {},
    untilMs,
  };
}

/** The last of the prices whose condition holds at a time; `undefined`: only the package knows. */
function lastHolding(prices: readonly ConditionalPrice[], nowMs: number) {
  const holds = ({ constraint }: ConditionalPrice): boolean | undefined => {
    if (constraint === undefined) return true;
    if (constraint.type === "start_date") return Date.parse(constraint.start_date) <= nowMs;
    const [beginsMs, endsMs] = [constraint.start_time, constraint.end_time].map(timeOfDayMs);
    if (beginsMs === undefined || endsMs === undefined) return undefined;
    const timeMs = nowMs % DAY_MS;
    return endsMs < beginsMs
      ? timeMs >= beginsMs || timeMs < endsMs
      : timeMs >= beginsMs && timeMs < endsMs;
  };
  if (prices.some((price) => holds(price) === undefined)) return undefined;
  return prices.findLast((price) => holds(price)) ?? prices[0];
}

/** Milliseconds since midnight, UTC, of `00:30:00Z`; `undefined` for another form. */
function timeOfDayMs(text: string): number | undefined {
  return /^\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(`1970-01-01T${text}`) : undefined;
}

/** What the table's units are called in a Price. */
const UNITS: Readonly<Record<keyof Rates, string>> = {
  input: "input_mtok",
  output: "output_mtok",
  cacheRead: "cache_read_mtok",
  cacheWrite: "cache_write_mtok",
  cacheWrite1h: "cache_write_1h_mtok",
  reasoning: "output_reasoning_mtok",
  inputAudio: "input_audio_mtok",
  outputAudio: "output_audio_mtok",
  cacheReadAudio: "cache_audio_read_mtok",
  inputImage: "input_image_mtok",
  outputImage: "output_image_mtok",
  cacheReadImage: "cache_image_read_mtok",
};

const RATES = Object.entries(UNITS) as [keyof Rates, string][];

/** Pico-dollars of a dollar per thousand calls. */
const PICO_PER_THOUSANDTH = 1_000_000_000;

const converted = new WeakMap<SeedPrices, { readonly price: Price | undefined }>();

function convert(prices: SeedPrices): Price | undefined {
  const known = converted.get(prices) ?? { price: make(prices) };
  converted.set(prices, known);
  return known.price;
}

function make(prices: SeedPrices): Price | undefined {
  // A model without text on the way in is priced by the hour, the page or the search: not by us.
  // Citations are tokens that no usage counts.
  if (prices["input_mtok"] === undefined || prices["output_citation_mtok"] !== undefined)
    return undefined;
  const calls = prices["requests_kcount"];
  if (typeof calls === "object") return undefined;
  const tiers = tiersOf(prices);
  return Object.freeze({
    ...ratesAt(prices, 0),
    ...(tiers.length === 0 ? {} : { tiers }),
    ...(calls === undefined ? {} : { request: Math.round(calls * PICO_PER_THOUSANDTH) }),
    ...toolsIn(prices),
    source: SEED_SOURCE,
  });
}

/** What the table calls searches of the web and of stored files. */
function toolsIn(prices: SeedPrices): Pick<Price, "tools"> {
  const tools: Partial<Record<HostedTool, number>> = {};
  const { web_searches_kcount: web, storage_searches_kcount: files } = prices;
  if (typeof web === "number") tools.web_search = Math.round(web * PICO_PER_THOUSANDTH);
  if (typeof files === "number") tools.file_search = Math.round(files * PICO_PER_THOUSANDTH);
  return Object.keys(tools).length === 0 ? {} : { tools: Object.freeze(tools) };
}

const ownTools = Object.entries(OWN_TOOLS).sort(([one], [other]) => other.length - one.length);

/** A price with the built-in prices of tools that it does not have itself. */
export function withTools(
  price: Price | undefined,
  provider: string,
  model: string,
): Price | undefined {
  if (price === undefined || price.free === true) return price;
  const name = `${tableName(provider)}/${model}`;
  const section = ownTools.find(([beginning]) => name.startsWith(beginning))?.[1];
  if (section === undefined) return price;
  const { tools = {} } = priceOf({ input: 0, output: 0, tools: section }, OWN_SOURCE) ?? {};
  return Object.freeze({ ...price, tools: Object.freeze({ ...tools, ...price.tools }) });
}

function tiersOf(prices: SeedPrices): readonly PriceTier[] {
  const starts = new Set<number>();
  for (const [, unit] of RATES) {
    const price = prices[unit];
    if (typeof price === "object") for (const tier of price.tiers) starts.add(tier.start);
  }
  const ordered = [...starts].sort((left, right) => left - right);
  return Object.freeze(
    ordered.map((above) => Object.freeze({ above, ...ratesAt(prices, above + 1) })),
  );
}

/** The rates that hold for a prompt of a length. */
function ratesAt(prices: SeedPrices, promptTokens: number): Rates {
  const rates: { -readonly [Name in keyof Rates]: number } = {};
  for (const [name, unit] of RATES) {
    const rate = pico(prices[unit], promptTokens);
    if (rate !== undefined) rates[name] = rate;
  }
  return rates;
}

/**
 * Pico-dollars per token of dollars per million. A few prices of the table are quotients; they are
 * rounded.
 */
function pico(price: SeedPrice, promptTokens: number): number | undefined {
  if (price === undefined) return undefined;
  let dollars = typeof price === "number" ? price : price.base;
  if (typeof price === "object")
    for (const tier of price.tiers) if (promptTokens > tier.start) dollars = tier.price;
  return parseDecimal(String(dollars), 6) ?? Math.round(dollars * 1e6);
}

const extended = new WeakMap<Price, Price>();

function withServiceTiers(price: Price | undefined, name: string): Price | undefined {
  const sections = OWN_SERVICE_TIERS[name];
  if (price === undefined || sections === undefined) return price;
  const known = extended.get(price) ?? extend(price, sections);
  extended.set(price, known);
  return known;
}

function extend(price: Price, sections: NonNullable<(typeof OWN_SERVICE_TIERS)[string]>): Price {
  const { serviceTiers = {} } =
    priceOf({ input: 0, output: 0, service_tiers: sections }, OWN_SOURCE) ?? {};
  return Object.freeze({ ...price, serviceTiers });
}
