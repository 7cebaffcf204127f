/** What the records of all kinds have in common. */

import type { JsonObject } from "@sluice/contract";
import type { ExportIndex } from "../export/export-index.ts";
import { defined, idAt, isoAt, isTrueAt, listAt, objectAt, type Row, timeAt } from "../values.ts";
import { amountsOf, dollarsAt, modelLimitsOf } from "./amounts.ts";
import type { Loss, Reference } from "./entry.ts";
import { lost, lostNotes } from "./losses.ts";
import { unreadableColumns } from "./unreadable.ts";

/** What a row is read with. */
export interface Reading {
  readonly index: ExportIndex;
  readonly nowMs: number;
  /** Whether budgets of users count for keys of teams, as `apply_user_budget_to_team_keys` says. */
  readonly countsUserBudgets: boolean;
}

/** The block of limits of a row. */
export interface Block {
  readonly fields: JsonObject;
  readonly references: readonly Reference[];
  readonly bounds: readonly Loss[];
  readonly unreadable: readonly Loss[];
  readonly losses: readonly Loss[];
}

/** Members of `metadata` that become fields. */
const HELD_NOTES = ["tags", "guardrails", "model_rpm_limit", "model_tpm_limit"];
/** Members of `metadata` that hold credentials of other services. */
const SECRET_NOTES = ["logging", "callback_settings", "secret_manager_settings"];
/** Members of `metadata` that bound, and that no field holds. */
const BOUNDING_NOTES = [
  "tpd_limit",
  "model_itpm_limit",
  "model_otpm_limit",
  "tag_rpm_limit",
  "enforced_params",
  "end_user_budget_id",
];

/** Reads the block of a row. `models` are its list of models, as it is written. */
export function blockOf(row: Row, models: readonly string[], { index, nowMs }: Reading): Block {
  const metadata = objectAt(row, "metadata");
  const limits = modelLimitsOf(row);
  const budgetId = idAt(row, "budget_id");
  const budget = budgetId === undefined ? undefined : index.budgets.get(budgetId);
  return {
    fields: {
      models,
      ...amountsOf(row),
      ...(Object.keys(limits.perModel).length > 0 && { per_model: limits.perModel }),
      ...defined("budget_id", budgetId),
      tags: listAt(metadata, "tags"),
      guardrails: listAt(metadata, "guardrails"),
      metadata: notesOf(metadata),
      blocked: isTrueAt(row, "blocked"),
      ...spendOf(row, [row, budget], nowMs),
      ...defined("created_at", isoAt(row, "created_at")),
    },
    references: referencesOf(row, [["budgets", "budget_id"]]),
    bounds: boundsOf(row, metadata),
    unreadable: [...unreadableColumns(row), ...limits.unreadable],
    losses: lossesOf(row, metadata),
  };
}

function notesOf(metadata: JsonObject): JsonObject {
  const hidden = [...HELD_NOTES, ...SECRET_NOTES, "team_member_budget_id"];
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !hidden.includes(name)));
}

/** The records that columns of a row name. */
export function referencesOf(
  row: Row,
  columns: readonly (readonly [Reference["table"], string])[],
): Reference[] {
  return columns.flatMap(([table, field]) => {
    const id = idAt(row, field);
    return id === undefined ? [] : [{ table, id, field }];
  });
}

function boundsOf(row: Row, metadata: JsonObject): Loss[] {
  return [
    ...lost(row, "budget_limits", "a record has one budget of its own; name another by budget_id"),
    ...lost(row, "policies", "policies are LiteLLM's own; name guardrails"),
    ...lost(row, "tpd_limit", "tokens of a day are not limited; limit those of a minute"),
    ...lostNotes(metadata, BOUNDING_NOTES, "this limit has no equivalent"),
  ];
}

function lossesOf(row: Row, metadata: JsonObject): Loss[] {
  return [
    ...lost(row, "router_settings", "routing is a matter of the configuration"),
    ...lost(row, "object_permission_id", "it is about tools and vector stores of LiteLLM"),
    ...lost(row, "temp_budget_increase", "a budget that is raised for a time is as before"),
    ...lostNotes(
      metadata,
      ["temp_budget_increase"],
      "a budget that is raised for a time is as before",
    ),
    ...lostNotes(
      metadata,
      SECRET_NOTES,
      "it may hold credentials; write callbacks in the configuration",
    ),
  ];
}

/** Lists that name every model are empty lists here. `no-default-models` names none, here too. */
export function modelsOf(
  row: Row,
  groups: readonly string[],
  isOfTeam: boolean,
): readonly string[] {
  const named = listAt(row, "models");
  const all = ["all-proxy-models", "*", ...(isOfTeam ? ["all-team-models"] : [])];
  if (named.length === 0 || named.some((name) => all.includes(name))) return [];
  return [...new Set([...named, ...groups])];
}

/** Spend of a period that has ended counts in that period, and no longer in a budget. */
export function spendOf(row: Row, resets: readonly (Row | undefined)[], nowMs: number): JsonObject {
  const spend = dollarsAt(row, "spend") ?? 0;
  if (spend === 0) return {};
  const times = resets.flatMap((from) => (from && timeAt(from, "budget_reset_at")) ?? []);
  const resetMs = times.length === 0 ? Infinity : Math.min(...times);
  return { spend, ...(resetMs <= nowMs && { spend_at: new Date(resetMs - 1).toISOString() }) };
}
