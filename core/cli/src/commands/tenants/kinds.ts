/** The tenants that have commands of one form, and their names in the API. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { limitsOf } from "../keys.ts";

/** A kind of tenants on the command line. */
export interface TenantCommands {
  /** `sluice organizations`. */
  readonly command: string;
  /** In descriptions: `organization`. */
  readonly noun: string;
  /** `/organization`. */
  readonly path: string;
  readonly idField: string;
  readonly idsField: string;
  readonly aliasField: string | null;
  readonly listField: string;
  readonly infoField: string;
  /** Whether the gateway makes an id where none is given. */
  readonly makesIds: boolean;
  readonly hasLimits: boolean;
  /** Whether it is an object of an organization: `--organization`. */
  readonly isOwned: boolean;
  /** Filters of the list: option and query parameter. */
  readonly filters: Readonly<Record<string, string>>;
  readonly columns: Readonly<Record<string, (row: JsonObject) => JsonValue | undefined>>;
}

const field =
  (name: string) =>
  (row: JsonObject): JsonValue | undefined =>
    row[name];
const STATE = ({ blocked, managed_by: manager }: JsonObject): string =>
  [blocked === true ? "blocked" : "", manager === "file" ? "declared" : ""]
    .filter((word) => word !== "")
    .join(", ");
const OF_ORGANIZATION = { organization: "organization_id" };
const BY_BUDGET = { budget: "budget_id" };

/** All kinds. */
export const TENANTS: readonly TenantCommands[] = [
  {
    command: "organizations",
    noun: "organization",
    path: "/organization",
    idField: "organization_id",
    idsField: "organization_ids",
    aliasField: "organization_alias",
    listField: "organizations",
    infoField: "organization_info",
    makesIds: true,
    hasLimits: true,
    isOwned: false,
    filters: { user: "user_id", ...BY_BUDGET },
    columns: {
      ID: field("organization_id"),
      ALIAS: field("organization_alias"),
      MODELS: field("models"),
      LIMITS: limitsOf,
      STATE,
    },
  },
  {
    command: "users",
    noun: "user",
    path: "/user",
    idField: "user_id",
    idsField: "user_ids",
    aliasField: "user_alias",
    listField: "users",
    infoField: "user_info",
    makesIds: true,
    hasLimits: true,
    isOwned: false,
    filters: { ...OF_ORGANIZATION, team: "team_id", ...BY_BUDGET },
    columns: {
      ID: field("user_id"),
      ALIAS: field("user_alias"),
      EMAIL: field("user_email"),
      KIND: field("kind"),
      ORGANIZATIONS: field("organizations"),
      LIMITS: limitsOf,
      STATE,
    },
  },
  {
    command: "customers",
    noun: "customer",
    path: "/customer",
    idField: "customer_id",
    idsField: "customer_ids",
    aliasField: "customer_alias",
    listField: "customers",
    infoField: "customer_info",
    makesIds: false,
    hasLimits: true,
    isOwned: true,
    filters: { ...OF_ORGANIZATION, ...BY_BUDGET },
    columns: {
      ID: field("customer_id"),
      ORGANIZATION: field("organization_id"),
      ALIAS: field("customer_alias"),
      LIMITS: limitsOf,
      STATE,
    },
  },
  {
    command: "budgets",
    noun: "budget",
    path: "/budget",
    idField: "budget_id",
    idsField: "budget_ids",
    aliasField: null,
    listField: "budgets",
    infoField: "budget_info",
    makesIds: false,
    hasLimits: true,
    isOwned: true,
    filters: OF_ORGANIZATION,
    columns: {
      ID: field("budget_id"),
      ORGANIZATION: field("organization_id"),
      LIMITS: limitsOf,
      STATE,
    },
  },
  {
    command: "access-groups",
    noun: "access group",
    path: "/access_group",
    idField: "access_group",
    idsField: "access_groups",
    aliasField: null,
    listField: "access_groups",
    infoField: "access_group_info",
    makesIds: false,
    hasLimits: false,
    isOwned: true,
    filters: OF_ORGANIZATION,
    columns: {
      NAME: field("access_group"),
      ORGANIZATION: field("organization_id"),
      MODELS: field("models"),
      STATE,
    },
  },
];
