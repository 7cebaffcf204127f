/** The sections `keys:` and `teams:` of gateway.yaml. */

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
    pattern: "^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$",
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
} as const;

/** Those of amounts after validation. */
export type AmountsSection = Partial<
  Readonly<Record<Exclude<keyof typeof amountFields, "budget_duration">, number>>
> & { readonly budget_duration?: string };

/** The fields that keys and teams share. */
const limitFields = {
  models: {
    ...NAMES,
    description:
      "Model ids, wildcards and access groups that may be used; empty means every model.",
  },
  ...amountFields,
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
    spend_scope: {
      type: "string",
      enum: ["key", "user", "team"],
      default: "key",
      description: "The spend rows that the key may read: its own, its user's or its team's.",
    },
    ...limitFields,
  },
} as const satisfies JsonSchema;

/** One entry of `teams:`. */
export const teamSchema = {
  type: "object",
  description: "A team declared here. Its fields are those of `POST /team/new`.",
  additionalProperties: false,
  required: ["team_id"],
  properties: {
    team_id: {
      type: "string",
      minLength: 1,
      maxLength: 256,
      pattern: "^\\P{Cc}+$",
      description: "The id that keys name in `team_id`, and that spend rows show.",
    },
    team_alias: { type: "string", minLength: 1, description: "A name for people." },
    blocked: {
      type: "boolean",
      default: false,
      description: "Refuses every request of the team's keys.",
    },
    ...limitFields,
  },
} as const satisfies JsonSchema;

/** One entry of `keys:` after validation; `key` is a Secret by then. */
export type KeySection = FromSchema<typeof keySchema>;

/** One entry of `teams:` after validation. */
export type TeamSection = FromSchema<typeof teamSchema>;
