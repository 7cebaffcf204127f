/**
 * The gateway's own fields of a request body. Data: the check of a request and the OpenAPI document
 * are both made of it.
 */

import type { FieldTable } from "../body-fields.ts";
import { STAND_IN } from "./fallback-overrides.ts";

/** Maximum of tags of a request, and of characters of a tag. */
export const MAX_TAGS = 64;
export const MAX_TAG_CHARACTERS = 256;
const MAX_METADATA_ENTRIES = 64;

const TAG = {
  type: "string",
  maxLength: MAX_TAG_CHARACTERS,
  pattern: "^[^\\u0000-\\u001f\\u007f]*$",
  "x-words": `a string of at most ${MAX_TAG_CHARACTERS} characters without control characters`,
} as const;
const TAGS = { type: "array", maxItems: MAX_TAGS, items: TAG } as const;
const GUARDRAILS = {
  type: "array",
  maxItems: 64,
  items: {
    anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "object" } }],
  },
} as const;
const SECONDS = { type: "number", minimum: 0 } as const;
const STEERED = {
  tags: { ...TAGS, type: ["array", "null"] },
  guardrails: { ...GUARDRAILS, type: ["array", "null"] },
  spend_logs_metadata: { type: ["object", "null"], maxProperties: MAX_METADATA_ENTRIES },
} as const;
/** `litellm_metadata`. */
export const NOTES = {
  type: "object",
  maxProperties: MAX_METADATA_ENTRIES,
  properties: { ...STEERED, user: { type: ["string", "null"] } },
} as const;

/** Fields that every operation with a JSON body takes. */
export const GATEWAY_FIELDS = {
  model: {
    isRequired: true,
    schema: {
      type: "string",
      minLength: 1,
      pattern: "^[^\\u0000-\\u001f\\u007f]*$",
      "x-words": "a string that is not empty and has no control characters",
      description: "The id of a model, as `GET /v1/models` lists it.",
      examples: ["gpt-4o-mini"],
    },
  },
  metadata: {
    schema: {
      type: "object",
      maxProperties: MAX_METADATA_ENTRIES,
      properties: STEERED,
      description:
        "Notes for the spend row. Sent to the provider only where the target says `forward_metadata: true`.",
      examples: [{ ticket: "T-1", tags: ["project:demo"] }],
    },
  },
  litellm_metadata: {
    schema: {
      anyOf: [NOTES, { type: "string" }],
      description:
        "The same in LiteLLM's words, and the end user as `user`; an object, or one as JSON text. Never forwarded.",
      examples: [{ tags: ["project:demo"], user: "user-1234" }],
    },
  },
  tags: {
    schema: { ...TAGS, description: "Tags of the spend row.", examples: [["project:demo"]] },
  },
  guardrails: {
    schema: {
      ...GUARDRAILS,
      description: "Names of guardrails to run in addition, or objects of a name and its options.",
      examples: [[]],
    },
  },
  caching: {
    schema: {
      type: "boolean",
      description: "false: the answer is neither read from a cache nor written to one.",
      examples: [false],
    },
  },
  cache: {
    schema: {
      type: "object",
      properties: {
        ttl: { ...SECONDS, type: ["number", "null"] },
        "s-maxage": { ...SECONDS, type: ["number", "null"] },
        "no-cache": { type: ["boolean", "null"] },
        "no-store": { type: ["boolean", "null"] },
        namespace: { type: ["string", "null"], maxLength: MAX_TAG_CHARACTERS },
      },
      description: "Cache controls, in HTTP's words.",
      examples: [{ "no-store": true }],
    },
  },
  num_retries: {
    schema: {
      type: "integer",
      minimum: 0,
      description: "How often a failed call is tried again, at most.",
      examples: [1],
    },
  },
  fallbacks: {
    schema: {
      type: "array",
      maxItems: 64,
      items: { anyOf: [{ type: "string" }, STAND_IN] },
      description: "Models to try instead when the first fails; `[]` switches fallback off.",
      examples: [["gpt-4o"]],
    },
  },
  disable_fallbacks: {
    schema: {
      type: "boolean",
      description: "true: the same as `fallbacks: []`.",
      examples: [true],
    },
  },
  context_window_fallback_dict: {
    schema: {
      type: "object",
      maxProperties: 64,
      additionalProperties: { type: "string" },
      description: "For a prompt that does not fit: a larger model by model.",
      examples: [{ "gpt-4o-mini": "gpt-4o" }],
    },
  },
  timeout: {
    schema: {
      type: "integer",
      minimum: 1,
      description:
        "Seconds until the answer must be there: a whole number from 1 on. The route's deadline bounds it.",
      examples: [30],
    },
  },
  drop_params: {
    schema: {
      type: "boolean",
      description:
        "Leave out parameters that the provider cannot honour; `x-sluice-dropped-params` lists them.",
      examples: [true],
    },
  },
} as const satisfies FieldTable;
