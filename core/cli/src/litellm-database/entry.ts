/** What keys and teams of an export have in common. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import {
  hasContent,
  isTrueAt,
  listAt,
  numberAt,
  objectAt,
  type Row,
  textAt,
  timeAt,
} from "./values.ts";
import { type Loss, lost } from "./loss.ts";
import { unreadableBounds } from "./unreadable.ts";

/** A row as the gateway takes it, and what of it cannot be taken. */
export interface Entry {
  readonly body: Readonly<Record<string, JsonValue>>;
  /** In the words of a message: `key "ci"`. */
  readonly name: string;
  /** What bounds it and cannot be held: it is imported blocked, unless the loss is accepted. */
  readonly bounds: readonly Loss[];
  /** What else is left behind. */
  readonly losses: readonly Loss[];
}

const MAX_DOLLARS = 8_000_000;

/** The fields that keys and teams share. */
export function sharedFields(row: Row, nowMs: number): Record<string, JsonValue> {
  const metadata = objectAt(row, "metadata");
  const { tags = [], guardrails = [], ...notes } = metadata;
  return {
    models: modelsOf(listAt(row, "models"), textAt(row, "team_id") !== undefined),
    ...defined("max_budget", dollarsAt(row, "max_budget")),
    ...defined("budget_duration", durationOf(textAt(row, "budget_duration"))),
    ...defined("rpm_limit", countAt(row, "rpm_limit")),
    ...defined("tpm_limit", countAt(row, "tpm_limit")),
    ...defined("max_parallel_requests", countAt(row, "max_parallel_requests")),
    tags: texts(tags),
    guardrails: texts(guardrails),
    metadata: notes,
    blocked: isTrueAt(row, "blocked"),
    ...spendOf(row, nowMs),
    ...defined("created_at", isoAt(row, "created_at")),
  };
}

/** The bounds of a row that no field holds. */
export function sharedBounds(row: Row): Loss[] {
  const metadata = objectAt(row, "metadata");
  return [
    ...unreadableBounds(row),
    ...lost(row, "model_max_budget", "budgets of single models are not held by keys and teams"),
    ...lost(row, "budget_limits", "a key and a team have one budget each"),
    ...lost(row, "policies", "policies are LiteLLM's own; name guardrails"),
    ...lost(row, "access_group_ids", "their models are in another table; name the models"),
    ...lost(row, "organization_id", "the organization's limits are in another table"),
    ...["model_rpm_limit", "model_tpm_limit", "tpd_limit", "team_member_budget_id"].flatMap(
      (column) =>
        hasContent(metadata, column)
          ? [{ column: `metadata.${column}`, why: "this limit is not held by keys and teams" }]
          : [],
    ),
  ];
}

/** What is left behind of a row, where its columns hold anything. */
export function sharedLosses(row: Row): Loss[] {
  return lost(row, "router_settings", "routing is a matter of the configuration");
}

/** One member, unless its value is undefined. */
export function defined(name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

/** A time as ISO 8601. */
export function isoAt(row: Row, column: string): string | undefined {
  const timeMs = timeAt(row, column);
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}

/** Lists that name every model are empty lists here. `no-default-models` names none, here too. */
function modelsOf(models: readonly string[], hasTeam: boolean): readonly string[] {
  const all = ["all-proxy-models", "*", ...(hasTeam ? ["all-team-models"] : [])];
  const named = models.filter((name) => name !== "");
  return named.some((name) => all.includes(name)) ? [] : named;
}

function dollarsAt(row: Row, column: string): number | undefined {
  const dollars = numberAt(row, column);
  return dollars === undefined ? undefined : Math.min(Math.max(dollars, 0), MAX_DOLLARS);
}

function countAt(row: Row, column: string): number | undefined {
  const count = numberAt(row, column);
  if (count === undefined) return undefined;
  return Math.min(Math.max(Math.floor(count), 0), Number.MAX_SAFE_INTEGER);
}

const WORDS: Readonly<Record<string, string>> = {
  hourly: "1h",
  daily: "1d",
  weekly: "7d",
  monthly: "1mo",
};

function durationOf(written: string | undefined): string | undefined {
  return written === undefined ? undefined : (WORDS[written] ?? written);
}

/** Spend of a period that has ended counts in that period, and no longer in a budget. */
function spendOf(row: Row, nowMs: number): JsonObject {
  const spend = dollarsAt(row, "spend") ?? 0;
  if (spend === 0) return {};
  const resetMs = timeAt(row, "budget_reset_at");
  const hasEnded = resetMs !== undefined && resetMs <= nowMs;
  return { spend, ...(hasEnded && { spend_at: new Date(resetMs - 1).toISOString() }) };
}

function texts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
