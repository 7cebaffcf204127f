/** The section `keys:` of gateway.yaml, and the block of limits that tenants have as well. */

import type { JsonSchema } from "@sluice/contract";

import type { FromSchema } from "./from-schema.ts";

const NAMES = {
  type: "array",
  default: [],
  items: { type: "string", minLength: 1, description: "One name." },
} as const satisfies JsonSchema;

const COUNT = { type: "integer", minimum: 0 } as const satisfies JsonSchema;

const dollars = (description: string) =>
  ({ type: "number", minimum: 0, maximum: 8_000_000, description }) as const;

const SPAN = "^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$";
const ANCHORS = ["calendar", "creation"] as const;

/** Amounts that bound spending and traffic. */
export const amountFields = {
  max_budget: dollars(
    "US dollars that may be spent. The step limits enforces it. Absent: no limit.",
  ),
  soft_budget: dollars(
    "US dollars above which the step limits warns, in the log and in a header. No request is refused.",
  ),
  budget_duration: {
    type: "string",
    pattern: SPAN,
    description:
      "Period after which the budget restarts: `1d` at midnight, `7d` on Monday, `1mo` on the 1st. Absent: never.",
  },
  rpm: {
    ...COUNT,
    description: "Requests in any minute. The step limits enforces it. Absent: no limit.",
  },
  tpm: {
    ...COUNT,
    description: "Tokens in any minute. The step limits enforces it. Absent: no limit.",
  },
  max_parallel_requests: {
    ...COUNT,
    description: "Concurrent requests. The step limits enforces it. Absent: no limit.",
  },
  rpm_limit: { ...COUNT, description: "Alias of `rpm`." },
  tpm_limit: { ...COUNT, description: "Alias of `tpm`." },
  max_parallel: { ...COUNT, description: "Alias of `max_parallel_requests`." },
  requests: { ...COUNT, description: "Another word for `rpm`." },
  tokens: { ...COUNT, description: "Another word for `tpm`." },
  parallel: { ...COUNT, description: "Another word for `max_parallel_requests`." },
  budget: {
    type: "object",
    additionalProperties: false,
    description:
      "Another form of `max_budget`, `soft_budget`, `budget_duration` and `budget_anchor`: `{ max: 100, duration: 1mo }`.",
    properties: {
      max: dollars("As `max_budget`."),
      soft: dollars("As `soft_budget`."),
      duration: { type: "string", pattern: SPAN, description: "As `budget_duration`." },
      anchor: { type: "string", enum: ANCHORS, description: "As `budget_anchor`." },
    },
  },
} as const;

/** Amounts after validation. */
export type AmountsSection = FromSchema<{
  readonly type: "object";
  readonly additionalProperties: false;
  readonly properties: typeof amountFields;
}>;

/** Amounts with what a budget has besides them. */
export const periodFields = {
  ...amountFields,
  budget_anchor: {
    type: "string",
    enum: ANCHORS,
    description:
      "Where periods begin: `calendar` (the default) at midnight, on Monday or on the 1st; `creation` at multiples since 1970-01-01, because a file says nothing of its records' creation.",
  },
  per_model: {
    type: "object",
    default: {},
    description: "The same limits for single models: by model id, wildcard or access group.",
    additionalProperties: {
      type: "object",
      additionalProperties: false,
      description: "The limits of one model.",
      properties: amountFields,
    },
  },
} as const;

/** The block of limits that keys, teams and other tenants share. */
export const limitFields = {
  models: {
    ...NAMES,
    description:
      "Model ids, wildcards and access groups that may be used; empty means every model.",
  },
  ...periodFields,
  budget_id: {
    type: "string",
    minLength: 1,
    description: "A budget whose limits hold besides these: one of `budgets`, or of the store.",
  },
  budget_share: {
    type: "string",
    enum: ["each", "pool"],
    default: "each",
    description:
      "`each`: the budget's limits are for this record alone. `pool`: all who refer to it as a pool share one counter.",
  },
  guardrails: {
    ...NAMES,
    description: "Guardrails that every request must pass, besides those of the route.",
  },
  passthrough: {
    type: "boolean",
    default: false,
    description:
      "Whether every native path of the providers may be called, beyond their inference endpoints. It has an effect only without `models`.",
  },
  tags: { ...NAMES, description: "Tags of every spend row." },
  allowed_tags: {
    ...NAMES,
    description:
      "Tags that requests may use although other keys or teams have them, or they have a budget.",
  },
  metadata: {
    type: "object",
    default: {},
    description: "Your own notes. The gateway shows them and does not interpret them.",
  },
} as const;

/** Names for models, by what has them. */
export const modelAliases = {
  type: "object",
  default: {},
  additionalProperties: {
    type: "string",
    minLength: 1,
    maxLength: 256,
    description: "A model id.",
  },
} as const satisfies JsonSchema;

/** One entry of `keys:`. */
export const keySchema = {
  type: "object",
  description: "A key declared by reference. Most keys live in the store.",
  additionalProperties: false,
  required: ["alias", "key"],
  properties: {
    alias: {
      type: "string",
      minLength: 1,
      description: "The name of the key in messages and spend rows.",
    },
    key: {
      type: "string",
      minLength: 1,
      "x-secret": true,
      description: "The key itself, as `${env:NAME}` or `${file:path}`.",
    },
    user_id: {
      type: "string",
      minLength: 1,
      description: "The user to whom the key's spend is attributed.",
    },
    team_id: {
      type: "string",
      minLength: 1,
      description: "The team that the key belongs to: one of `teams`, or of the store.",
    },
    organization_id: {
      type: "string",
      minLength: 1,
      description: "The organization of a key without a team.",
    },
    customer_id: {
      type: "string",
      minLength: 1,
      maxLength: 256,
      description: "The customer whose requests the key makes, whatever a request says.",
    },
    may_name_customers: {
      type: "boolean",
      default: true,
      description: "Whether requests of the key may name their customer.",
    },
    model_aliases: {
      ...modelAliases,
      description:
        "Names of the key's own for models: `{ fast: gpt-4o-mini }`. They win over those of its team.",
    },
    spend_scope: {
      type: "string",
      enum: ["key", "user", "team"],
      default: "key",
      description: "The spend rows that the key may read: its own, its user's or its team's.",
    },
    ...limitFields,
  },
} as const satisfies JsonSchema;

/** One entry of `keys:` after validation; `key` is a Secret by then. */
export type KeySection = FromSchema<typeof keySchema>;
