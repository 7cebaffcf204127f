/**
 * The options of the step `cost`: what the operator's contracts add to list prices, by provider.
 */

import { type CostTerms, millionths } from "@sluice/runtime";
import type { JsonSchema } from "@sluice/contract";
import type { AbortBilling, AmbiguousBilling } from "./rules.ts";

/** Every provider that is not named. */
const OTHERS = "*";

/** Pico-dollars in a dollar. */
const PICO_PER_USD = 1_000_000_000_000;

/** A margin: a fraction of the cost, a fixed amount for each call, or both. */
export interface MarginConfig {
  readonly fraction?: number;
  /** US dollars. */
  readonly fixed?: number;
}

/** The options in YAML. Providers are named as in gateway.yaml. */
export interface CostConfig {
  readonly service_tiers?: Readonly<Record<string, number>>;
  readonly discount?: Readonly<Record<string, number>>;
  readonly margin?: Readonly<Record<string, MarginConfig>>;
  readonly on_abort?: AbortBilling;
  readonly on_ambiguous?: AmbiguousBilling;
}

/** The discount of OpenAI, Anthropic and Google: half the price. */
const DEFAULT_SERVICE_TIERS = { flex: 0.5, batch: 0.5 };

const BY_PROVIDER = "by the provider's name in gateway.yaml; `*` stands for all others";

/** The schema of the options. */
export const costSchema: JsonSchema = {
  type: "object",
  properties: {
    service_tiers: {
      type: "object",
      default: DEFAULT_SERVICE_TIERS,
      description:
        "Multiples of the standard price by service tier, for tiers whose price the table does not know. A tier that stands nowhere is unpriced. `<provider>/<tier>` wins over `<tier>`.",
      additionalProperties: {
        type: "number",
        minimum: 0,
        maximum: 100,
        format: "price",
        description: "Times the standard price.",
      },
    },
    discount: {
      type: "object",
      default: {},
      description: `Fractions taken off the list price, ${BY_PROVIDER}.`,
      additionalProperties: {
        type: "number",
        minimum: 0,
        maximum: 1,
        format: "price",
        description: "0.05 is five in a hundred.",
      },
    },
    margin: {
      type: "object",
      default: {},
      description: `What is added after the discount, ${BY_PROVIDER}.`,
      additionalProperties: {
        type: "object",
        description: "A fraction of the cost, a fixed amount, or both.",
        additionalProperties: false,
        minProperties: 1,
        properties: {
          fraction: {
            type: "number",
            minimum: 0,
            maximum: 100,
            format: "price",
            description: "0.1 adds ten in a hundred.",
          },
          fixed: {
            type: "number",
            minimum: 0,
            maximum: 1000,
            format: "price",
            description: "US dollars for each priced call.",
          },
        },
      },
    },
    on_abort: {
      type: "string",
      enum: ["observed", "estimate_output", "input_only", "free"],
      default: "observed",
      description:
        "The cost of an attempt whose client disconnects before the end, unless the provider reported usage. `observed`: the prompt and the received output; nothing before the first content. `estimate_output`: the prompt and the lower one of `max_tokens` and the model's `max_output_tokens`; without either, the received output. `input_only`: the prompt. `free`: nothing, also with reported usage.",
    },
    on_ambiguous: {
      type: "string",
      enum: ["input_only", "free"],
      default: "input_only",
      description:
        "The cost of a call that was fully written to the upstream and then lost before any part of its reply. The upstream may have carried it out. `input_only`: the counted prompt; uncountable input, of images and native calls, is unpriced. `free`: nothing. In both cases the row's metadata has `ambiguous`.",
    },
  },
};

/** The names of providers that the options use, without `*`. */
export function namedProviders({
  service_tiers: tiers = {},
  discount = {},
  margin = {},
}: CostConfig): readonly string[] {
  const ofTiers = Object.keys(tiers).filter((name) => name.includes("/"));
  const names = [
    ...ofTiers.map((name) => name.slice(0, name.indexOf("/"))),
    ...Object.keys(discount),
    ...Object.keys(margin),
  ];
  return [...new Set(names)].filter((name) => name !== OTHERS);
}

/** The terms of a provider. */
export function termsOf(config: CostConfig, provider: string): CostTerms {
  const margin = pick(config.margin, provider);
  return Object.freeze({
    serviceTiers: multiplesOf(config.service_tiers ?? DEFAULT_SERVICE_TIERS, provider),
    discount: millionths(pick(config.discount, provider) ?? 0),
    margin: millionths(margin?.fraction ?? 0),
    fixedPicoUsd: millionths(margin?.fixed ?? 0) * (PICO_PER_USD / 1_000_000),
  });
}

function multiplesOf(
  tiers: Readonly<Record<string, number>>,
  provider: string,
): Readonly<Record<string, number>> {
  const own = `${provider}/`;
  const general = Object.entries(tiers).filter(([name]) => !name.includes("/"));
  const special = Object.entries(tiers)
    .filter(([name]) => name.startsWith(own))
    .map(([name, multiple]) => [name.slice(own.length), multiple] as const);
  return Object.fromEntries(
    [...general, ...special].map(([name, multiple]) => [name, millionths(multiple)]),
  );
}

function pick<T>(by: Readonly<Record<string, T>> | undefined, provider: string): T | undefined {
  if (by === undefined) return undefined;
  return Object.hasOwn(by, provider) ? by[provider] : by[OTHERS];
}
