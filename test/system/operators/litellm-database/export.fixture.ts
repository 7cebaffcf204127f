/** Exports of a LiteLLM database, as `\copy … csv header` and `row_to_json` write them. */

import { createHash, randomBytes } from "node:crypto";

const LIMITS = ["max_budget", "budget_duration", "tpm_limit", "rpm_limit", "max_parallel_requests"];

/** The columns of the tables, as far as limits and places need them. */
const COLUMNS = {
  /** LiteLLM_VerificationToken. */
  key: [
    "token",
    "key_name",
    "key_alias",
    "soft_budget_cooldown",
    "spend",
    "expires",
    "models",
    "aliases",
    "config",
    "user_id",
    "team_id",
    "project_id",
    "permissions",
    "metadata",
    "blocked",
    ...LIMITS,
    "budget_reset_at",
    "allowed_cache_controls",
    "allowed_routes",
    "access_group_ids",
    "model_spend",
    "model_max_budget",
    "budget_limits",
    "budget_id",
    "organization_id",
    "object_permission_id",
    "created_at",
    "created_by",
    "updated_at",
    "updated_by",
  ],
  /** LiteLLM_TeamTable. */
  team: [
    "team_id",
    "team_alias",
    "organization_id",
    "admins",
    "members",
    "members_with_roles",
    "metadata",
    "spend",
    "models",
    ...LIMITS,
    "budget_reset_at",
    "blocked",
    "created_at",
    "updated_at",
    "access_group_ids",
    "model_spend",
    "model_max_budget",
    "model_id",
  ],
  /** LiteLLM_UserTable. */
  user: [
    "user_id",
    "user_alias",
    "team_id",
    "sso_user_id",
    "organization_id",
    "password",
    "teams",
    "user_role",
    "spend",
    "user_email",
    "models",
    "metadata",
    ...LIMITS,
    "budget_reset_at",
    "model_max_budget",
    "created_at",
  ],
  /** LiteLLM_OrganizationTable. */
  organization: [
    "organization_id",
    "organization_alias",
    "budget_id",
    "metadata",
    "models",
    "spend",
    "model_spend",
    "created_at",
  ],
  /** LiteLLM_BudgetTable. */
  budget: [
    "budget_id",
    "soft_budget",
    ...LIMITS,
    "model_max_budget",
    "budget_reset_at",
    "allowed_models",
    "created_at",
  ],
  /** LiteLLM_OrganizationMembership. */
  organizationMembership: ["user_id", "organization_id", "user_role", "spend", "budget_id"],
  /** LiteLLM_TeamMembership. */
  teamMembership: ["user_id", "team_id", "spend", "total_spend", "budget_id"],
  /** LiteLLM_EndUserTable. */
  customer: [
    "user_id",
    "alias",
    "spend",
    "allowed_model_region",
    "default_model",
    "budget_id",
    "object_permission_id",
    "models",
    "blocked",
  ],
  /** LiteLLM_AccessGroupTable. */
  accessGroup: [
    "access_group_id",
    "access_group_name",
    "access_model_names",
    "access_mcp_server_ids",
    "created_at",
  ],
  /** LiteLLM_ModelTable. */
  modelAliases: ["id", "aliases", "created_at", "created_by"],
} as const;

/** A table of an export. */
export type ExportTable = keyof typeof COLUMNS;

/** A row. */
export type Columns = Readonly<Record<string, unknown>>;

/** A secret as LiteLLM makes it. */
export function litellmSecret(): string {
  return `sk-${randomBytes(16).toString("base64url")}`;
}

/** What LiteLLM stores of a secret. */
export function litellmToken(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** A row of a key. */
export function keyRow(secret: string, columns: Columns = {}): Columns {
  return {
    token: litellmToken(secret),
    key_name: `sk-...${secret.slice(-4)}`,
    soft_budget_cooldown: false,
    spend: 0,
    models: [],
    aliases: {},
    config: {},
    permissions: {},
    metadata: {},
    allowed_cache_controls: [],
    allowed_routes: [],
    model_spend: {},
    model_max_budget: {},
    created_at: "2026-01-31T10:00:00.123",
    ...columns,
  };
}

/** A row of a team. */
export function teamRow(id: string, columns: Columns = {}): Columns {
  return {
    team_id: id,
    admins: [],
    members: [],
    members_with_roles: [],
    metadata: {},
    spend: 0,
    models: [],
    blocked: false,
    created_at: "2026-01-31T10:00:00.123",
    ...columns,
  };
}

/** A row of a user. */
export function userRow(id: string, columns: Columns = {}): Columns {
  return {
    user_id: id,
    user_role: "internal_user",
    teams: [],
    spend: 0,
    models: [],
    metadata: {},
    created_at: "2026-01-31T10:00:00.123",
    ...columns,
  };
}

/** Rows as CSV with a header, as `\copy` writes them. */
export function exportCsv(table: ExportTable, rows: readonly Columns[]): string {
  const columns: readonly string[] = COLUMNS[table];
  const lines = rows.map((row) => columns.map((name) => cell(row[name])).join(","));
  return `${[columns.join(","), ...lines].join("\n")}\n`;
}

/** Rows as JSON lines, as `row_to_json` writes them. */
export function exportJsonLines(table: ExportTable, rows: readonly Columns[]): string {
  const columns: readonly string[] = COLUMNS[table];
  const whole = (row: Columns) =>
    Object.fromEntries(columns.map((name) => [name, row[name] ?? null]));
  return rows.map((row) => `${JSON.stringify(whole(row))}\n`).join("");
}

/** A value in PostgreSQL's CSV. Lists of texts are arrays, other values are JSON. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "t" : "f";
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (isTexts) return quoted(`{${value.map(arrayItem).join(",")}}`);
  if (typeof value === "object") return quoted(JSON.stringify(value));
  const text = String(value as string | number);
  return quoted(/^\d{4}-\d\d-\d\dT/.test(text) ? text.replace("T", " ") : text);
}

function arrayItem(item: string): string {
  return /^[\w./*:-]+$/.test(item) ? item : `"${item.replaceAll(/(["\\])/g, "\\$1")}"`;
}

function quoted(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
