/** The static part of gateway.yaml: everything but the options of plugins. */

import type { JsonSchema, SpendScope } from "@sluice/spec";

import { endMarkSchema } from "../end-mark.ts";
import { modelSchema, type ModelSection } from "./models.ts";
import { policiesSchema, type PoliciesSection } from "./policies.ts";
import { serverSchema, type ServerSection } from "./server.ts";

const NAMES: JsonSchema = { type: "array", default: [], items: { type: "string", minLength: 1, description: "One name." } };

const COUNT: JsonSchema = { type: "integer", minimum: 0 };

const keySchema: JsonSchema = {
  type: "object",
  description: "A key declared by reference. Most keys live in the store.",
  additionalProperties: false,
  required: ["alias", "key"],
  properties: {
    alias: { type: "string", minLength: 1, description: "The key's name for people." },
    key: { type: "string", minLength: 1, "x-secret": true, description: "The key itself, as `${env:NAME}` or `${file:path}`." },
    models: { ...NAMES, description: "Model ids, wildcards and access groups the key may use; empty means every model." },
    user_id: { type: "string", minLength: 1, description: "The user that the key's spend is counted for." },
    team_id: { type: "string", minLength: 1, description: "The team that the key belongs to." },
    spend_scope: {
      type: "string",
      enum: ["key", "user", "team"],
      default: "key",
      description: "Whose spend rows the key may read: its own, its user's or its team's.",
    },
    max_budget: {
      type: "number",
      minimum: 0,
      maximum: 8_000_000,
      description: "US dollars that the key may spend, enforced by the step limits. Absent: any amount.",
    },
    soft_budget: {
      type: "number",
      minimum: 0,
      maximum: 8_000_000,
      description: "US dollars from which on the step limits warns in the log and in a header. It refuses nothing.",
    },
    budget_duration: {
      type: "string",
      pattern: "^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$",
      description: "The budget begins anew with each: `1d` at midnight, `7d` on Monday, `1mo` on the 1st. Absent: never.",
    },
    rpm: { ...COUNT, description: "Requests in any minute, enforced by the step limits. Absent: any number." },
    tpm: { ...COUNT, description: "Tokens in any minute, enforced by the step limits. Absent: any number." },
    max_parallel_requests: {
      ...COUNT,
      description: "Requests at the same time, enforced by the step limits. Absent: any number.",
    },
    rpm_limit: { ...COUNT, description: "Another word for `rpm`." },
    tpm_limit: { ...COUNT, description: "Another word for `tpm`." },
    max_parallel: { ...COUNT, description: "Another word for `max_parallel_requests`." },
    guardrails: { ...NAMES, description: "Guardrails that every request of the key must pass, besides those of the route." },
    passthrough: {
      type: "boolean",
      default: false,
      description:
        "Whether the key reaches every native path of the providers, not their inference endpoints alone. It counts for a key without `models`.",
    },
    tags: { ...NAMES, description: "Tags written into every row of the key's spend." },
    allowed_tags: {
      ...NAMES,
      description: "Tags that requests of the key may name although they stand on other keys or teams, or have a budget.",
    },
    metadata: { type: "object", default: {}, description: "Your own notes; kept with the key, never read." },
  },
};

const useSchema: JsonSchema = {
  type: "object",
  required: ["use"],
  properties: { use: { type: "string", minLength: 1, description: "The plugin's name." } },
};

/** The schema of gateway.yaml with every plugin's options left open: those are checked plugin by plugin. */
export const gatewaySchema: JsonSchema = {
  type: "object",
  description: "The gateway: who may ask, what is served and where.",
  additionalProperties: false,
  required: ["version", "server", "plugins", "models"],
  properties: {
    version: { const: 1, description: "The version of this file's format." },
    server: serverSchema,
    store: { ...useSchema, default: { use: "sqlite" }, description: "Where keys, teams and the ledger live." },
    shared: {
      ...useSchema,
      default: { use: "memory" },
      description: "Where limits, budgets and the cache are kept: in this process, or where several processes share them.",
    },
    plugins: {
      type: "array",
      minItems: 1,
      uniqueItems: true,
      description: "Packages that may be loaded. They are code: an edit here needs a restart.",
      items: { type: "string", minLength: 1, description: "`name@range` of a package, or the path of a file of your own." },
    },
    providers: {
      type: "object",
      default: {},
      description: "Upstream services by a name of your choice.",
      additionalProperties: { ...useSchema, description: "One upstream service." },
    },
    guardrails: {
      type: "object",
      default: {},
      description: "Judges of texts by a name of your choice. The step `guardrails` says where they run.",
      propertyNames: { pattern: "^[a-z][a-z0-9_-]{0,63}$" },
      additionalProperties: { ...useSchema, description: "One guardrail." },
    },
    models: { type: "array", minItems: 1, description: "What clients may ask for. The first match wins.", items: modelSchema },
    keys: { type: "array", default: [], description: "Keys declared here by reference.", items: keySchema },
    prices: {
      type: "string",
      minLength: 1,
      default: "prices.yaml",
      description: "The file of prices that win over the built-in table, relative to this file.",
    },
    pipelines: {
      type: "string",
      minLength: 1,
      description:
        "The folder of pipeline files, relative to this file. Absent: `../pipelines` of a file in a folder named config, `pipelines` of any other; the other of the two where only that is there. Example: `my-pipelines`.",
    },
    policies: policiesSchema,
    end_of_config: endMarkSchema,
  },
};

/** gateway.yaml after validation. */
export interface GatewaySections {
  readonly server: ServerSection;
  readonly store: UseSection;
  readonly shared: UseSection;
  readonly plugins: readonly string[];
  readonly providers: Readonly<Record<string, UseSection>>;
  readonly guardrails: Readonly<Record<string, UseSection>>;
  readonly models: readonly ModelSection[];
  readonly keys: readonly KeySection[];
  readonly policies: PoliciesSection;
}

/** A plugin by name, its options beside the name. */
export interface UseSection {
  readonly use: string;
  readonly [option: string]: unknown;
}

/** One entry of `keys:` after validation; `key` is a Secret by then. */
export interface KeySection {
  readonly alias: string;
  readonly key: unknown;
  readonly models: readonly string[];
  readonly user_id?: string;
  readonly team_id?: string;
  readonly spend_scope: SpendScope;
  readonly max_budget?: number;
  readonly soft_budget?: number;
  readonly budget_duration?: string;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly max_parallel_requests?: number;
  readonly rpm_limit?: number;
  readonly tpm_limit?: number;
  readonly max_parallel?: number;
  readonly guardrails: readonly string[];
  readonly passthrough: boolean;
  readonly tags: readonly string[];
  readonly allowed_tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}
