/** The sections of tenants in gateway.yaml: organizations, teams, users, budgets, access groups. */

import type { JsonSchema } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";
import { amountFields, limitFields, modelAliases, periodFields } from "./keys.ts";

const ID = {
  type: "string",
  minLength: 1,
  maxLength: 256,
  pattern: "^\\P{Cc}+$",
} as const satisfies JsonSchema;

const TEXT = { type: "string", minLength: 1, maxLength: 256 } as const satisfies JsonSchema;

/** What every tenant has besides its id. */
const blockFields = {
  blocked: {
    type: "boolean",
    default: false,
    description: "Refuses every request that belongs to it.",
  },
  expires: {
    type: "string",
    format: "date-time",
    description: "The time after which its requests are refused: `2030-01-31T12:00:00Z`.",
  },
  ...limitFields,
} as const;

const selfService = {
  type: "object",
  additionalProperties: false,
  description: "What its members may make for themselves.",
  properties: {
    max_keys: {
      type: "integer",
      minimum: 0,
      default: 0,
      description: "Keys that a user may have there.",
    },
    upper_bounds: {
      type: "object",
      additionalProperties: false,
      default: {},
      description: "Limits of a key may not exceed these.",
      properties: {
        ...amountFields,
        models: {
          type: "array",
          items: { type: "string", minLength: 1, description: "One name." },
          description: "Models that a key may name at most.",
        },
      },
    },
    defaults: {
      type: "object",
      additionalProperties: false,
      default: {},
      description: "Limits of a key that names none.",
      properties: amountFields,
    },
  },
} as const satisfies JsonSchema;

/** One entry of `organizations:`. */
export const organizationSchema = {
  type: "object",
  description: "An organization declared here.",
  additionalProperties: false,
  required: ["organization_id"],
  properties: {
    organization_id: { ...ID, description: "The id that teams, keys and users name." },
    organization_alias: { ...TEXT, description: "A name for people." },
    self_service: selfService,
    ...blockFields,
  },
} as const satisfies JsonSchema;

const memberSchema = {
  type: "object",
  description: "A user in the team.",
  additionalProperties: false,
  required: ["user_id"],
  properties: {
    user_id: { ...ID, description: "The user: one of `users`, or of the store." },
    role: {
      type: "string",
      enum: ["member", "admin"],
      default: "member",
      description: "`admin` manages the keys and the members of the team.",
    },
    ...blockFields,
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
      ...ID,
      description: "The id that keys name in `team_id`, and that spend rows show.",
    },
    team_alias: { ...TEXT, description: "A name for people." },
    organization_id: { ...ID, description: "The organization that the team belongs to." },
    model_aliases: {
      ...modelAliases,
      description: "Names of the team's own for models: `{ fast: gpt-4o-mini }`.",
    },
    user_budgets: {
      type: "string",
      enum: ["count", "ignore"],
      default: "count",
      description: "Whether budgets of users hold in the team.",
    },
    member_defaults: {
      type: "object",
      additionalProperties: false,
      default: {},
      description: "Limits and models of members who have none of their own.",
      properties: {
        ...amountFields,
        models: {
          type: "array",
          default: [],
          items: TEXT,
          description: "Model ids, wildcards and access groups. Empty: those of the team.",
        },
      },
    },
    members: {
      type: "array",
      default: [],
      description: "The members of the team. Others may be in the store.",
      items: memberSchema,
    },
    self_service: selfService,
    ...blockFields,
  },
} as const satisfies JsonSchema;

const roleSchema = {
  type: "object",
  description: "A role at the whole gateway, at an organization or at a team.",
  additionalProperties: false,
  required: ["role", "at"],
  properties: {
    role: {
      type: "string",
      enum: ["viewer", "keys", "operator", "admin"],
      description: "What the user may do there.",
    },
    at: {
      type: "string",
      enum: ["whole", "organization", "team"],
      description: "The kind of the place.",
    },
    organization_id: { ...ID, description: "The organization, with `at: organization`." },
    team_id: { ...ID, description: "The team, with `at: team`." },
  },
} as const satisfies JsonSchema;

/** One entry of `users:`. */
export const userSchema = {
  type: "object",
  description: "A user declared here.",
  additionalProperties: false,
  required: ["user_id"],
  properties: {
    user_id: { ...ID, description: "The id that keys and members name." },
    user_alias: { ...TEXT, description: "A name for people." },
    user_email: { ...TEXT, pattern: "^[^\\s@]+@[^\\s@]+$", description: "The e-mail." },
    kind: {
      type: "string",
      enum: ["person", "service"],
      default: "person",
      description: "`service`: an account that cannot sign in.",
    },
    organizations: {
      type: "array",
      default: [],
      items: { ...ID, description: "The id of an organization." },
      description: "Organizations of the user, besides those of the teams.",
    },
    roles: {
      type: "array",
      default: [],
      items: roleSchema,
      description: "What the user may do on the admin listener.",
    },
    ...blockFields,
  },
} as const satisfies JsonSchema;

/** One entry of `budgets:`. */
export const budgetSchema = {
  type: "object",
  description: "A named block of limits that others refer to in `budget_id`.",
  additionalProperties: false,
  required: ["budget_id"],
  properties: {
    budget_id: { ...ID, description: "The name that others refer to." },
    organization_id: { ...ID, description: "Only this organization may refer to it." },
    ...periodFields,
  },
} as const satisfies JsonSchema;

/** One entry of `access_groups:`. */
export const accessGroupSchema = {
  type: "object",
  description: "Models under one name, for lists of models.",
  additionalProperties: false,
  required: ["access_group"],
  properties: {
    access_group: { ...ID, description: "The name." },
    organization_id: {
      ...ID,
      description: "It counts only for what belongs to this organization.",
    },
    models: {
      type: "array",
      default: [],
      items: { type: "string", minLength: 1, description: "A model id or a wildcard." },
      description: "The models.",
    },
  },
} as const satisfies JsonSchema;

/** One entry of `customers.records`. */
export const customerSchema = {
  type: "object",
  description: "A customer declared here.",
  additionalProperties: false,
  required: ["customer_id"],
  properties: {
    customer_id: { ...ID, description: "The id as requests carry it." },
    organization_id: {
      ...ID,
      description: "The organization of the keys whose customer it is. Absent: keys without one.",
    },
    customer_alias: { ...TEXT, description: "A name for people." },
    ...blockFields,
  },
} as const satisfies JsonSchema;

/** A section with a block of limits, after validation. */
export type BlockSection = FromSchema<{
  readonly type: "object";
  readonly additionalProperties: false;
  readonly properties: typeof blockFields;
}>;

/** A rule of self-service after validation. */
export type SelfServiceSection = FromSchema<typeof selfService>;

/** A role after validation. */
export type RoleSection = FromSchema<typeof roleSchema>;
