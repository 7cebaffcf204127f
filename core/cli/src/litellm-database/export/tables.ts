/** Which table a file is an export of, by the names of its columns. */

import type { Row } from "../values.ts";

/** A table that is read. */
export type ReadTable =
  | "budgets"
  | "organizations"
  | "access_groups"
  | "users"
  | "teams"
  | "keys"
  | "customers"
  | "organization_memberships"
  | "team_memberships"
  | "model_aliases";

interface Shape {
  /** LiteLLM's name of the table. */
  readonly name: string;
  /** What it is known by. */
  readonly has: readonly string[];
  /** Columns of other tables. */
  readonly hasNot?: readonly string[];
  /** Columns that every version has: without one of them a limit would be lost. */
  readonly needs: readonly string[];
}

const LIMITS = ["max_budget", "budget_duration", "tpm_limit", "rpm_limit", "max_parallel_requests"];

/** The tables that are read. */
export const SHAPES: Readonly<Record<ReadTable, Shape>> = {
  keys: {
    name: "LiteLLM_VerificationToken",
    has: ["token", "key_alias"],
    needs: ["spend", "expires", "models", "user_id", "team_id", "metadata", "blocked", ...LIMITS],
  },
  teams: {
    name: "LiteLLM_TeamTable",
    has: ["team_id", "members_with_roles"],
    needs: ["spend", "models", "metadata", "blocked", ...LIMITS],
  },
  users: {
    name: "LiteLLM_UserTable",
    has: ["user_id", "user_email", "user_role"],
    hasNot: ["token"],
    needs: ["spend", "models", "metadata", ...LIMITS],
  },
  organizations: {
    name: "LiteLLM_OrganizationTable",
    has: ["organization_id", "organization_alias"],
    needs: ["budget_id", "spend", "models", "metadata"],
  },
  budgets: {
    name: "LiteLLM_BudgetTable",
    has: ["budget_id", "max_budget", "model_max_budget"],
    hasNot: ["token", "team_id", "user_id", "organization_id", "project_id"],
    needs: LIMITS,
  },
  access_groups: {
    name: "LiteLLM_AccessGroupTable",
    has: ["access_group_id", "access_group_name"],
    needs: ["access_model_names"],
  },
  customers: {
    name: "LiteLLM_EndUserTable",
    has: ["user_id", "allowed_model_region"],
    needs: ["blocked", "spend", "budget_id"],
  },
  organization_memberships: {
    name: "LiteLLM_OrganizationMembership",
    has: ["user_id", "organization_id", "user_role"],
    hasNot: ["user_email", "token"],
    needs: [],
  },
  team_memberships: {
    name: "LiteLLM_TeamMembership",
    has: ["user_id", "team_id", "budget_id"],
    hasNot: ["user_email", "token", "members_with_roles", "request_id"],
    needs: ["spend"],
  },
  model_aliases: {
    name: "LiteLLM_ModelTable",
    has: ["id", "aliases"],
    hasNot: ["token"],
    needs: [],
  },
};

/** Tables that are known and not taken over: a column of each, and why. */
const OTHERS: readonly (readonly [columns: readonly string[], name: string, why: string])[] = [
  [["deleted_at"], "a table of deleted records", "what was deleted is not imported"],
  [["project_id", "project_alias"], "LiteLLM_ProjectTable", "projects have no equivalent"],
  [["tag_name"], "LiteLLM_TagTable", "budgets of tags are written in the step limits"],
  [["active_token_id"], "LiteLLM_DeprecatedVerificationToken", "replaced secrets are not imported"],
  [["mcp_servers"], "LiteLLM_ObjectPermissionTable", "it is about tools and vector stores"],
  [["request_id", "api_key"], "LiteLLM_SpendLogs", "rows of requests are not imported; sums are"],
  [["api_requests"], "a table of daily spend", "the spend of days is not imported; sums are"],
];

/** The table of a file, or the name of one that is not taken over, and why. */
export type FoundTable =
  | { readonly table: ReadTable }
  | { readonly name: string; readonly why: string };

/**
 * The table that a row belongs to. Throws an `Error` for a row of none, and for one without a
 * column that limits. No message holds a column's name of the row: without a header it is a value.
 */
export function tableOf(row: Row): FoundTable {
  const other = OTHERS.find(([columns]) => columns.every((column) => column in row));
  if (other !== undefined) return { name: other[1], why: other[2] };
  for (const [table, shape] of Object.entries(SHAPES)) {
    if (!isOf(row, shape)) continue;
    checkColumns(row, table as ReadTable);
    return { table: table as ReadTable };
  }
  const names = Object.values(SHAPES).map(({ name }) => name);
  throw new Error(`its columns are not those of ${names.join(", ")}; does it have a header?`);
}

/** The table that a file without rows is called after. Throws an `Error` for another name. */
export function tableNamed(file: string): FoundTable {
  const named = Object.entries(SHAPES).find(([, { name }]) => file.startsWith(`${name}.`));
  if (named !== undefined) return { table: named[0] as ReadTable };
  throw new Error("it is empty: call it after its table, such as LiteLLM_TeamMembership.jsonl");
}

/** Throws an `Error` for a row without a column that limits. */
export function checkColumns(row: Row, table: ReadTable): void {
  const { name, has, needs } = SHAPES[table];
  const missing = [...has, ...needs].filter((column) => !(column in row));
  if (missing.length > 0)
    throw new Error(`${missing.join(", ")} is missing: export all columns of ${name}`);
}

function isOf(row: Row, { has, hasNot = [] }: Shape): boolean {
  return has.every((column) => column in row) && !hasNot.some((column) => column in row);
}
