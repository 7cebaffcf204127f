/** The static part of gateway.yaml: everything except the options of plugins. */

import type { JsonSchema } from "@sluice/contract";

import { endMarkSchema } from "../files/end-mark.ts";
import { configSourceSchema } from "./config-source.ts";
import { customersSchema } from "./customers.ts";
import {
  accessGroupSchema,
  budgetSchema,
  organizationSchema,
  teamSchema,
  userSchema,
} from "./tenants.ts";
import { keySchema } from "./keys.ts";
import { modelSchema, type ModelSection } from "./models.ts";
import { policiesSchema } from "./policies.ts";
import { serverSchema } from "./server.ts";
import type { FromSchema } from "./from-schema.ts";

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
  required: ["models"],
  properties: {
    version: { const: 1, default: 1, description: "The version of this file's format." },
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
    ledger: {
      type: "object",
      default: {},
      additionalProperties: false,
      description: "The spend rows of the store.",
      properties: {
        keep: {
          type: "string",
          pattern: "^(?:[2-9]|[1-9][0-9]{1,4})d$",
          description:
            "Whole days, two at least, after which spend rows are deleted. Reports and budgets keep their sums. Absent: rows are kept for ever.",
          examples: ["400d"],
        },
      },
    },
    config: configSourceSchema,
    plugins: {
      type: "array",
      minItems: 1,
      uniqueItems: true,
      description:
        "Packages that the gateway loads, and no others. They are code: an edit here needs a restart. Absent: the packages of plugins among the direct dependencies of the package.json beside this file, and those that came with the command.",
      items: {
        type: "string",
        minLength: 1,
        description:
          "`name@range` of a package, the path of a file of your own, or `*` for those that are loaded without this list. Example: `./shout.ts`.",
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
    extensions: {
      type: "object",
      default: {},
      description:
        "Options of extensions, by their names. An extension is on when `plugins` names its package; without an entry here it has its defaults.",
      additionalProperties: { type: "object", description: "The options of one extension." },
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
    teams: {
      type: "array",
      default: [],
      description:
        "Teams declared here: limits that their keys share. A team of the store with the same id has no effect while it is declared.",
      items: teamSchema,
    },
    organizations: {
      type: "array",
      default: [],
      description:
        "Organizations declared here. One of the store with the same id has no effect while it is declared.",
      items: organizationSchema,
    },
    users: {
      type: "array",
      default: [],
      description: "Users declared here, persons and service accounts.",
      items: userSchema,
    },
    budgets: {
      type: "array",
      default: [],
      description: "Named blocks of limits that other records refer to.",
      items: budgetSchema,
    },
    access_groups: {
      type: "array",
      default: [],
      description: "Names for lists of models.",
      items: accessGroupSchema,
    },
    customers: customersSchema,
    prices: {
      type: "string",
      minLength: 1,
      default: "prices.yaml",
      description: "File of prices that override the built-in table. Relative to this file.",
    },
    pipelines: {
      anyOf: [
        {
          type: "string",
          minLength: 1,
          description: "One folder: its files are the pipelines, and no others.",
        },
        {
          type: "array",
          minItems: 1,
          uniqueItems: true,
          description:
            "Folders in order; a later file takes the place of an earlier one of its name. `shipped` stands for the pipelines that came with the gateway.",
          items: { type: "string", minLength: 1, description: "A folder, or `shipped`." },
        },
      ],
      description:
        "Folder of pipeline files, relative to this file, or a list. Absent: `../pipelines` if this file is in a folder named config, else `pipelines`; if that does not exist, the other of the two; without either, the pipelines that came with the gateway. Example: `my-pipelines`.",
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
