/**
 * The schema of prices.yaml, which overrides the built-in table. gateway.yaml uses the same form
 * for the price of a target.
 */

import type { HostedTool, JsonObject, JsonSchema } from "@sluice/contract";
import { endMarkSchema } from "../files/end-mark.ts";
import type { FromSchema } from "./from-schema.ts";

const amount = (description: string) =>
  ({ type: "number", minimum: 0, format: "price", description }) as const;
const dollars = (what: string): ReturnType<typeof amount> =>
  amount(`${what}, in US dollars per million tokens.`);

/** Prices by kind of token. */
const RATES = {
  input: dollars("Prompt tokens"),
  output: dollars("Completion tokens"),
  cache_read: dollars("Prompt tokens read from the provider's cache"),
  cache_write: dollars("Prompt tokens written to the provider's cache, for five minutes"),
  cache_write_1h: dollars("Prompt tokens written to the provider's cache for an hour"),
  reasoning: dollars("Reasoning tokens, if their price differs from other completion tokens"),
  input_audio: dollars("Audio tokens of the prompt"),
  output_audio: dollars("Audio tokens of the completion"),
  cache_read_audio: dollars("Audio tokens read from the provider's cache"),
  input_image: dollars("Image tokens of the prompt"),
  output_image: dollars("Image tokens of the completion"),
  cache_read_image: dollars("Image tokens read from the provider's cache"),
} as const satisfies JsonObject;

const TIERS = {
  type: "array",
  minItems: 1,
  description:
    "Prices for longer prompts. The highest tier that the prompt reaches applies to the whole request.",
  items: {
    type: "object",
    description: "Prices of longer prompts. Absent prices keep their value.",
    additionalProperties: false,
    required: ["above"],
    properties: {
      above: {
        type: "integer",
        minimum: 1,
        description: "The tier applies to prompts with more tokens than this.",
      },
      ...RATES,
    },
  },
} as const satisfies JsonObject;

/** Tools that providers run and bill by the use. */
const TOOLS = {
  web_search: amount(
    "Each search of the web, in US dollars. Gemini before version 3: each grounded prompt.",
  ),
  file_search: amount("Each search of stored files, in US dollars."),
  code_interpreter: amount("Each container that runs code, in US dollars."),
  maps: amount("Each prompt that is grounded with maps, in US dollars."),
} as const satisfies Readonly<Record<HostedTool, JsonObject>>;

/** The schema of one model's prices. */
export const priceSchema = {
  type: "object",
  description: "One model's prices.",
  additionalProperties: false,
  properties: {
    free: {
      const: true,
      description: "The model costs nothing. No other key may stand beside it.",
    },
    ...RATES,
    request: amount("Price of each call, beside its tokens, in US dollars."),
    tools: {
      type: "object",
      description:
        "Prices of tools that the provider runs, by the use. An absent tool has the built-in price, if there is one.",
      additionalProperties: false,
      properties: TOOLS,
    },
    images: {
      type: "array",
      minItems: 1,
      description:
        "Prices per image, beside those of tokens. Without prices of tokens, tokens cost nothing. The first entry has the model's default size and quality. The entry that matches most properties of an image applies.",
      items: {
        type: "object",
        description: "The price of an image by size and quality.",
        additionalProperties: false,
        required: ["price"],
        properties: {
          size: {
            type: "string",
            pattern: "^\\d+x\\d+$",
            description: "`<width>x<height>`. Absent: any size.",
          },
          quality: {
            type: "string",
            minLength: 1,
            description: "The quality's name. Absent: any quality.",
          },
          price: amount("Price of one image, in US dollars."),
        },
      },
    },
    tiers: TIERS,
    service_tiers: {
      type: "object",
      minProperties: 1,
      description:
        "Prices by the service tier that the reply names, such as flex, priority and batch.",
      additionalProperties: {
        type: "object",
        description: "Prices of one service tier. Absent prices keep their value.",
        additionalProperties: false,
        properties: {
          ...RATES,
          tiers: {
            ...TIERS,
            description:
              "Prices of the service tier for longer prompts. If the model has tiers and the service tier has none, longer prompts have no known price.",
          },
        },
      },
    },
  },
} as const satisfies JsonSchema;

/** The schema of prices.yaml. */
export const pricesSchema = {
  type: "object",
  description: "Prices that override the built-in table.",
  additionalProperties: false,
  required: ["version", "prices"],
  properties: {
    version: { const: 1, description: "The version of this file's format." },
    prices: {
      type: "object",
      description:
        "Prices by `<provider plugin>/<model>`. A `*` at the end of the model matches every model with this prefix. The longest match wins.",
      additionalProperties: priceSchema,
    },
    end_of_config: endMarkSchema,
  },
} as const satisfies JsonSchema;

/** The keys that hold dollars per million tokens. */
export type RateName = keyof typeof RATES;

/** Dollars per million tokens, by kind. */
export type RatesSection = Readonly<Partial<Record<RateName, number>>>;

/** Prices of longer prompts after validation. */
export type TierSection = FromSchema<typeof TIERS.items>;

/** Prices of one model after validation. */
export type PriceSection = FromSchema<typeof priceSchema>;
