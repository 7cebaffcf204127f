/** Budgets and limits of a row, also of single models. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { defined, hasContent, jsonAt, numberAt, objectAt, type Row, textAt } from "../values.ts";
import type { Loss } from "./entry.ts";

const MAX_DOLLARS = 8_000_000;

/** The amounts of a row that has columns of LiteLLM_BudgetTable. */
export function amountsOf(row: Row): JsonObject {
  const max = dollarsAt(row, "max_budget");
  const soft = dollarsAt(row, "soft_budget");
  // A warning above the limit would never appear.
  const isSoft = soft !== undefined && (max === undefined || soft <= max);
  return {
    ...defined("max_budget", max),
    ...(isSoft && { soft_budget: soft }),
    ...defined("budget_duration", durationOf(textAt(row, "budget_duration"))),
    ...defined("rpm_limit", countAt(row, "rpm_limit")),
    ...defined("tpm_limit", countAt(row, "tpm_limit")),
    ...defined("max_parallel_requests", countAt(row, "max_parallel_requests")),
  };
}

/** US dollars within what the gateway takes. */
export function dollarsAt(row: Row, column: string): number | undefined {
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

/** Limits by model, and what of them cannot be read. */
export interface ModelLimits {
  readonly perModel: JsonObject;
  readonly unreadable: readonly Loss[];
}

/** `model_max_budget` of a row, and the limits of single models in its `metadata`. */
export function modelLimitsOf(row: Row): ModelLimits {
  const perModel = new Map<string, JsonObject>();
  const unreadable: Loss[] = [];
  const metadata = objectAt(row, "metadata");
  const sources = [
    { from: row, column: "model_max_budget", name: "model_max_budget", read: readModelBudget },
    ...(["rpm_limit", "tpm_limit"] as const).map((field) => ({
      from: metadata as Row,
      column: `model_${field}`,
      name: `metadata.model_${field}`,
      read: (value: JsonValue) => readModelCount(value, field),
    })),
  ];
  for (const { from, column, name, read } of sources) {
    if (!hasContent(from, column)) continue;
    const value = jsonAt(from, column);
    const entries = isObject(value) ? Object.entries(value) : undefined;
    const amounts = entries?.map(([model, one]) => [model, read(one as JsonValue)] as const);
    if (amounts?.every(([, one]) => one !== undefined) !== true)
      unreadable.push({ column: name, why: "it is not an object of limits by model" });
    else
      for (const [model, one] of amounts) perModel.set(model, { ...perModel.get(model), ...one });
  }
  return { perModel: Object.fromEntries(perModel), unreadable };
}

const NUMBERS = ["max_budget", "budget_limit", "rpm_limit", "tpm_limit"];

/** A number of dollars, or an object; its older names are `budget_limit` and `time_period`. */
function readModelBudget(value: JsonValue): JsonObject | undefined {
  if (typeof value === "number") return readModelBudget({ max_budget: value });
  if (!isObject(value)) return undefined;
  const isReadable =
    NUMBERS.every((name) => !hasContent(value, name) || numberAt(value, name) !== undefined) &&
    !hasContent(value, "tpd_limit");
  if (!isReadable) return undefined;
  const { budget_limit: limit, time_period: period, ...rest } = value;
  const { soft_budget: _soft, ...amounts } = amountsOf({
    ...(limit !== undefined && { max_budget: limit }),
    ...(period !== undefined && { budget_duration: period }),
    ...rest,
  });
  return amounts;
}

function readModelCount(
  value: JsonValue,
  field: "rpm_limit" | "tpm_limit",
): JsonObject | undefined {
  const count = countAt({ value }, "value");
  return count === undefined ? undefined : { [field]: count };
}
