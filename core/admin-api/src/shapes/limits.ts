/** The block of limits that keys, teams and tenants have: in bodies, and in answers. */

import {
  COUNT,
  COUNT_OR_NULL,
  FLAG,
  map,
  NUMBER,
  NUMBER_OR_NULL,
  object,
  OPEN,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  TIME_OR_NULL,
  words,
} from "../schema.ts";

/** Text of a name: one line of 1 to 256 characters. */
export const NAME = {
  type: ["string", "null"],
  "x-words": "a string of 1 to 256 characters on one line",
} as const;
/** Names, each once. */
export const NAMES = {
  type: ["array", "null"],
  "x-words": "an array of strings: at most 1000, each of 1 to 256 characters",
} as const;
/** A number of requests or tokens. */
export const LIMIT = {
  type: ["integer", "null"],
  minimum: 0,
  "x-words": "a whole number, 0 or more; null means no limit",
} as const;
/** US dollars. */
export const DOLLARS = {
  type: ["number", "null"],
  minimum: 0,
  maximum: 8_000_000,
  "x-words": "US dollars: a number from 0 to 8000000; null means no limit",
} as const;
/** A span of time as text. */
export const SPAN = {
  type: ["string", "null"],
  examples: ["30s", "10m", "1h", "7d", "2w", "1mo"],
} as const;
export const SWITCH = { type: ["boolean", "null"], "x-words": "true or false" } as const;
export const NOTES = { type: ["object", "null"] } as const;

/** Amounts in a body. `rpm_limit`, `tpm_limit` and `max_parallel` are other names of a limit. */
export const AMOUNT_FIELDS = {
  max_budget: DOLLARS,
  soft_budget: DOLLARS,
  budget_duration: SPAN,
  rpm: LIMIT,
  rpm_limit: LIMIT,
  tpm: LIMIT,
  tpm_limit: LIMIT,
  max_parallel_requests: LIMIT,
  max_parallel: LIMIT,
} as const;

const ANCHOR = { type: ["string", "null"], enum: ["calendar", "creation", null] } as const;

/** Amounts with what a budget has besides them. */
export const PERIOD_FIELDS = {
  ...AMOUNT_FIELDS,
  budget_anchor: ANCHOR,
  anchor: ANCHOR,
  per_model: {
    ...NOTES,
    description: "Limits for single models, by id, wildcard or access group.",
  },
} as const;

/** The block of limits in a body, without the alias. Null clears a field. */
export const LIMIT_FIELDS = {
  models: { ...NAMES, description: "Model ids, wildcards and access groups. Empty: every model." },
  ...PERIOD_FIELDS,
  budget_id: { ...NAME, description: "A budget whose limits hold besides these." },
  budget_share: { type: ["string", "null"], enum: ["each", "pool", null] },
  tags: NAMES,
  allowed_tags: NAMES,
  metadata: NOTES,
  guardrails: NAMES,
  passthrough: SWITCH,
  blocked: SWITCH,
  duration: SPAN,
  expires: { type: ["string", "null"], description: "A time in ISO 8601." },
} as const;

/** Names for models in a body. */
export const MODEL_ALIASES = {
  ...NOTES,
  description: "Names of its own for models: alias to model id.",
} as const;

/** Rules of self-service in a body. */
export const SELF_SERVICE_FIELD = { self_service: NOTES } as const;

const AMOUNTS = {
  max_budget: NUMBER_OR_NULL,
  soft_budget: NUMBER_OR_NULL,
  budget_duration: TEXT_OR_NULL,
  rpm_limit: COUNT_OR_NULL,
  tpm_limit: COUNT_OR_NULL,
  max_parallel_requests: COUNT_OR_NULL,
} as const;

/** Amounts in an answer. Those that are absent have no value. */
export const AMOUNTS_VIEW = object({}, AMOUNTS);

/** Amounts and models in an answer: those that are said. */
export const BOUND_VIEW = object({}, { ...AMOUNTS, models: TEXTS });

/** Amounts of a budget in an answer. */
export const PERIOD_VIEW = {
  ...AMOUNTS,
  budget_anchor: words("calendar", "creation"),
  per_model: map(AMOUNTS_VIEW),
} as const;

/** The block of limits in an answer, without the alias. */
export const LIMITS_VIEW = {
  ...PERIOD_VIEW,
  models: TEXTS,
  budget_id: TEXT_OR_NULL,
  budget_share: words("each", "pool"),
  tags: TEXTS,
  allowed_tags: TEXTS,
  metadata: OPEN,
  guardrails: TEXTS,
  passthrough: FLAG,
  blocked: FLAG,
  expires: TIME_OR_NULL,
} as const;

/** The state of a budget: the spend of its period, the rest, and when the next one begins. */
export const SPENT_VIEW = {
  spend: NUMBER,
  budget_remaining: NUMBER_OR_NULL,
  budget_reset_at: TIME_OR_NULL,
} as const;

/** What is used of the rates now, as the limits count it. */
export const USED_VIEW = {
  rpm_used: {
    ...COUNT_OR_NULL,
    description: "Requests of the last minute. Null: without a limit, or not known.",
  },
  tpm_used: {
    ...COUNT_OR_NULL,
    description: "Tokens of the last minute, with those reserved. Null: as for rpm_used.",
  },
} as const;

/** Rules of self-service in an answer. */
export const SELF_SERVICE_VIEW = {
  anyOf: [
    object({
      max_keys: COUNT,
      upper_bounds: BOUND_VIEW,
      defaults: AMOUNTS_VIEW,
    }),
    { type: "null" },
  ],
} as const;

/** Limits that can never be reached, in sentences. */
export const WARNINGS = { warnings: TEXTS } as const;

/** Who manages a record: the configuration files, or the store. */
export const MANAGED_BY = words("file", "store");

/** The number of keys that a change reached, and the first thousand of their ids. */
export const REACHED_KEYS = {
  deleted_keys: TEXTS,
  deleted_keys_total: COUNT,
  blocked_keys: TEXTS,
  blocked_keys_total: COUNT,
  moved_keys: TEXTS,
  moved_keys_total: COUNT,
} as const;

/** What becomes of keys whose user is deleted or leaves. */
export const KEYS_OF_USER = { ...TEXT, enum: ["block", "delete"] } as const;
