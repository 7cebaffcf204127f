/** The static part of gateway.yaml: everything except the options of plugins. */

import type { JsonSchema } from "@sluice/contract";

import { endMarkSchema } from "../files/end-mark.ts";
import { modelSchema, type ModelSection } from "./models.ts";
import { policiesSchema } from "./policies.ts";
import { serverSchema } from "./server.ts";
import type { FromSchema } from "./from-schema.ts";

const NAMES = {
  type: "array",
  default: [],
  items: { type: "string", minLength: 1, description: "One name." },
} as const satisfies JsonSchema;

const COUNT = { type: "integer", minimum: 0 } as const satisfies JsonSchema;

const keySchema = {
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
    models: {
      ...NAMES,
      description:
        "Model ids, wildcards and access groups the key may use; empty means every model.",
    },
    user_id: {
      type: "string",
      minLength: 1,
      description: "The user to whom the key's spend is attributed.",
    },
    team_id: { type: "string", minLength: 1, description: "The team that the key belongs to." },
    spend_scope: {
      type: "string",
      enum: ["key", "user", "team"],
      default: "key",
      description: "The spend rows that the key may read: its own, its user's or its team's.",
    },
    max_budget: {
      type: "number",
      minimum: 0,
      maximum: 8_000_000,
      description:
        "US dollars that the key may spend. The step limits enforces it. Absent: no limit.",
    },
    soft_budget: {
      type: "number",
      minimum: 0,
      maximum: 8_000_000,
      description:
        "US dollars above which the step limits warns, in the log and in a header. No request is refused.",
    },
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
    guardrails: {
      ...NAMES,
      description:
        "Guardrails that every request of the key must pass, besides those of the route.",
    },
    passthrough: {
      type: "boolean",
      default: false,
      description:
        "Whether the key may call every native path of the providers, beyond their inference endpoints. It has an effect only without `models`.",
    },
    tags: { ...NAMES, description: "Tags of every spend row of the key." },
    allowed_tags: {
      ...NAMES,
      description:
        "Tags that requests of the key may use although other keys or teams have them, or they have a budget.",
    },
    metadata: {
      type: "object",
      default: {},
      description:
        "Your own notes. The gateway stores them with the key and does not interpret them.",
    },
  },
} as const satisfies JsonSchema;

const useSchema = {
  type: "object",
  required: ["use"],
  properties: { use: { type: "string", minLength: 1, description: "The plugin's name." } },
} as const satisfies JsonSchema;

/**
 * The schema of gateway.yaml. It leaves the options of plugins open: each plugin checks its own.
 */
export const gatewaySchema = {
  type: "object",
  description: "The gateway: listeners, plugins, providers, models and keys.",
  additionalProperties: false,
  required: ["version", "plugins", "models"],
  properties: {
    version: { const: 1, description: "The version of this file's format." },
    // A default at its root would be refused where the section is checked alone.
    server: { ...serverSchema, default: {} },
    store: {
      ...useSchema,
      default: { use: "sqlite" },
      description: "The store of keys, teams and the ledger.",
    },
    shared: {
      ...useSchema,
      default: { use: "memory" },
      description:
        "The state of limits, budgets and the cache: in this process, or shared by several processes.",
    },
    plugins: {
      type: "array",
      minItems: 1,
      uniqueItems: true,
      description:
        "Packages that the gateway may load. They are code: an edit here needs a restart.",
      items: {
        type: "string",
        minLength: 1,
        description: "`name@range` of a package, or the path of a file of your own.",
      },
    },
    providers: {
      type: "object",
      default: {},
      description: "Upstream services, each under a name of your choice.",
      additionalProperties: { ...useSchema, description: "One upstream service." },
    },
    guardrails: {
      type: "object",
      default: {},
      description:
        "Guardrails, each under a name of your choice. The step `guardrails` sets where they run.",
      propertyNames: { pattern: "^[a-z][a-z0-9_-]{0,63}$" },
      additionalProperties: { ...useSchema, description: "One guardrail." },
    },
    models: {
      type: "array",
      minItems: 1,
      description: "The models that clients may request. The first match wins.",
      items: modelSchema,
    },
    keys: {
      type: "array",
      default: [],
      description: "Keys declared here by reference.",
      items: keySchema,
    },
    prices: {
      type: "string",
      minLength: 1,
      default: "prices.yaml",
      description: "File of prices that override the built-in table. Relative to this file.",
    },
    pipelines: {
      type: "string",
      minLength: 1,
      description:
        "Folder of pipeline files, relative to this file. Absent: `../pipelines` if this file is in a folder named config, else `pipelines`; if that does not exist, the other of the two. Example: `my-pipelines`.",
    },
    policies: policiesSchema,
    end_of_config: endMarkSchema,
  },
} as const satisfies JsonSchema;

/** gateway.yaml after validation. */
export interface GatewaySections extends Omit<FromSchema<typeof gatewaySchema>, "models"> {
  readonly models: readonly ModelSection[];
}

/** A plugin by name, its options beside the name. */
export type UseSection = FromSchema<typeof useSchema>;

/** One entry of `keys:` after validation; `key` is a Secret by then. */
export type KeySection = FromSchema<typeof keySchema>;
