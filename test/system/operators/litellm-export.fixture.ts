/** Exports of a LiteLLM database, as `\copy … csv header` and `row_to_json` write them. */

import { createHash, randomBytes } from "node:crypto";

/** The columns of LiteLLM_VerificationToken. */
const KEY_COLUMNS = [
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
  "permissions",
  "max_parallel_requests",
  "metadata",
  "blocked",
  "tpm_limit",
  "rpm_limit",
  "max_budget",
  "budget_duration",
  "budget_reset_at",
  "allowed_cache_controls",
  "allowed_routes",
  "model_spend",
  "model_max_budget",
  "budget_id",
  "organization_id",
  "object_permission_id",
  "created_at",
  "created_by",
  "updated_at",
  "updated_by",
];

/** The columns of LiteLLM_TeamTable. */
const TEAM_COLUMNS = [
  "team_id",
  "team_alias",
  "organization_id",
  "admins",
  "members",
  "members_with_roles",
  "metadata",
  "max_budget",
  "spend",
  "models",
  "max_parallel_requests",
  "tpm_limit",
  "rpm_limit",
  "budget_duration",
  "budget_reset_at",
  "blocked",
  "created_at",
  "updated_at",
  "model_spend",
  "model_max_budget",
  "model_id",
];

type Columns = Readonly<Record<string, unknown>>;

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
    members_with_roles: {},
    metadata: {},
    spend: 0,
    models: [],
    blocked: false,
    created_at: "2026-01-31T10:00:00.123",
    ...columns,
  };
}

/** Rows as CSV with a header: `kind` says whose columns. */
export function exportCsv(kind: "key" | "team", rows: readonly Columns[]): string {
  const columns = kind === "key" ? KEY_COLUMNS : TEAM_COLUMNS;
  const lines = rows.map((row) => columns.map((name) => cell(row[name])).join(","));
  return `${[columns.join(","), ...lines].join("\n")}\n`;
}

/** Rows as JSON lines. */
export function exportJsonLines(kind: "key" | "team", rows: readonly Columns[]): string {
  const columns = kind === "key" ? KEY_COLUMNS : TEAM_COLUMNS;
  const whole = (row: Columns) =>
    Object.fromEntries(columns.map((name) => [name, row[name] ?? null]));
  return rows.map((row) => `${JSON.stringify(whole(row))}\n`).join("");
}

/** A value in PostgreSQL's CSV. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "t" : "f";
  if (Array.isArray(value)) return quoted(`{${value.map(arrayItem).join(",")}}`);
  if (typeof value === "object") return quoted(JSON.stringify(value));
  return quoted(String(value as string | number).replace("T", " "));
}

function arrayItem(item: unknown): string {
  const text = String(item);
  return /^[\w./*:-]+$/.test(text) ? text : `"${text.replaceAll(/(["\\])/g, "\\$1")}"`;
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
