/** What the routes of users, organizations, budgets, customers and access groups share. */

import type { EdgeAnswer, EdgeGateway, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { get, objectIn, objectsIn } from "./calls.ts";
import { DROP, type FieldRules, id, MODELS } from "./translate.ts";

/** Fields of limits that every kind has with LiteLLM. */
export const LIMIT_RULES: FieldRules = {
  models: MODELS,
  budget_id: id("budget_id"),
  organization_id: id("organization_id"),
  budget_limits: { refuse: "Use `max_budget` with `budget_duration`, and `budget_id`." },
  tpd_limit: { refuse: "Use `tpm_limit`, or a budget with `budget_duration: 1d`." },
  object_permission: { refuse: "Leave it out, or restrict by `models` and limits." },
  policies: { refuse: "Use `guardrails`." },
  budget_reset_at: DROP,
  spend: DROP,
  updated_at: DROP,
  created_at: DROP,
  created_by: DROP,
  updated_by: DROP,
};

/** Limits as LiteLLM shows them beside a record. */
export function budgetTable(record: JsonObject): JsonObject {
  return {
    budget_id: record.budget_id ?? null,
    max_budget: record.max_budget ?? null,
    soft_budget: record.soft_budget ?? null,
    budget_duration: record.budget_duration ?? null,
    tpm_limit: record.tpm_limit ?? null,
    rpm_limit: record.rpm_limit ?? null,
    max_parallel_requests: record.max_parallel_requests ?? null,
    budget_reset_at: record.budget_reset_at ?? null,
  };
}

const MAX_RECORDS = 20_000;

/** Every record of a list with a cursor, up to a bound. A failure is its answer. */
export async function everyRecord(
  gateway: EdgeGateway,
  path: string,
  list: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly JsonObject[] | EdgeAnswer> {
  const records: JsonObject[] = [];
  let cursor: string | undefined;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- pages come one after the other.
    const answer = await get(gateway, path, { ...query, limit: "200", cursor });
    if (answer.status !== 200) return answer;
    const { [list]: found, next_cursor: next } = objectIn(answer);
    records.push(...objectsIn(found));
    if (typeof next !== "string" || records.length >= MAX_RECORDS) return records;
    cursor = next;
  }
}

/** Whether every record was read. */
export function isRecords(
  found: readonly JsonObject[] | EdgeAnswer,
): found is readonly JsonObject[] {
  return Array.isArray(found);
}

/** A record by its id; the answer of a failure. */
export async function recordOf(
  gateway: EdgeGateway,
  kind: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly record: JsonObject } | { readonly failed: EdgeAnswer }> {
  const answer = await get(gateway, `/${kind}/info`, query);
  const { [`${kind}_info`]: found } = objectIn(answer);
  return answer.status === 200 && isObject(found) ? { record: found } : { failed: answer };
}

/** The texts of a list. */
export function textsIn(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  return list.filter((one): one is string => typeof one === "string");
}
