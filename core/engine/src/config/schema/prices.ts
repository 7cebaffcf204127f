/** prices.yaml: prices that win over the built-in table. */

import type { JsonObject, JsonSchema } from "@sluice/spec";

const dollars = (description: string): JsonObject => ({
  type: "number",
  minimum: 0,
  format: "price",
  description: `${description}, in US dollars per million tokens.`,
});

const TIER_PRICES: JsonObject = {
  input: dollars("Prompt tokens"),
  output: dollars("Completion tokens"),
  cache_read: dollars("Prompt tokens read from the provider's cache"),
  cache_write: dollars("Prompt tokens written to the provider's cache"),
};

/** The schema of prices.yaml. */
export const pricesSchema: JsonSchema = {
  type: "object",
  description: "Prices that win over the built-in table.",
  additionalProperties: false,
  required: ["version", "prices"],
  properties: {
    version: { const: 1, description: "The version of this file's format." },
    prices: {
      type: "object",
      description:
        "Prices by `<provider plugin>/<model>`. A `*` at the end of the model matches what begins like it; the longest match wins.",
      additionalProperties: {
        type: "object",
        description: "One model's prices.",
        additionalProperties: false,
        properties: {
          free: { const: true, description: "The model costs nothing. Stands alone." },
          ...TIER_PRICES,
          input_audio: dollars("Audio tokens of the prompt"),
          output_audio: dollars("Audio tokens of the completion"),
          cache_read_audio: dollars("Audio tokens read from the provider's cache"),
          tiers: {
            type: "array",
            minItems: 1,
            description: "Prices from a prompt length on. The highest tier reached prices the whole request.",
            items: {
              type: "object",
              description: "Prices of longer prompts; what is left out stays as it is.",
              additionalProperties: false,
              required: ["above"],
              properties: {
                above: { type: "integer", minimum: 1, description: "The tier holds when the prompt has more tokens than this." },
                ...TIER_PRICES,
              },
            },
          },
        },
      },
    },
  },
};

/** Prices of one model or tier after validation. */
export type PriceSection = Readonly<Partial<Record<PriceName, number>>> & {
  readonly free?: true;
  readonly tiers?: readonly (Readonly<Partial<Record<PriceName, number>>> & { readonly above: number })[];
};

/** The keys of prices.yaml that hold a price. */
export type PriceName = "input" | "output" | "cache_read" | "cache_write" | "input_audio" | "output_audio" | "cache_read_audio";
