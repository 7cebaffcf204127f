/**
 * The fields that a request may override for a stand-in model: fields of the body whose values are
 * numbers, switches and words of the API. Data.
 */

import type { JsonSchema } from "@sluice/contract";
import { CHAT_FIELDS } from "../chat/fields.ts";

const word = (...words: readonly string[]): JsonSchema => ({
  type: ["string", "null"],
  enum: words,
});

/**
 * The schema of an entry of `fallbacks` that is an object. The step `fallback` refuses members that
 * are not named here.
 */
export const STAND_IN: JsonSchema = {
  type: "object",
  required: ["model"],
  properties: {
    model: { type: "string" },
    ...Object.fromEntries(
      (
        [
          "temperature",
          "top_p",
          "max_tokens",
          "max_completion_tokens",
          "seed",
          "presence_penalty",
          "frequency_penalty",
          "parallel_tool_calls",
        ] as const
      ).map((name) => {
        const {
          description: _description,
          examples: _examples,
          type,
          ...shape
        } = CHAT_FIELDS[name].schema;
        return [name, { ...shape, type: [type, "null"].flat() as string[] }];
      }),
    ),
    reasoning_effort: word(
      "none",
      "minimal",
      "low",
      "medium",
      "high",
      "xhigh",
      "max",
      "auto",
      "default",
    ),
    verbosity: word("low", "medium", "high"),
    service_tier: word(
      "auto",
      "default",
      "flex",
      "priority",
      "scale",
      "standard",
      "standard_only",
      "on_demand",
      "fast",
    ),
    dimensions: { type: ["integer", "null"], minimum: 1 },
    size: {
      type: ["string", "null"],
      pattern: "^(?:auto|[0-9]{1,5}x[0-9]{1,5})$",
      "x-words": "`auto` or `<width>x<height>`",
    },
    quality: word("auto", "low", "medium", "high", "standard", "hd"),
  },
};
