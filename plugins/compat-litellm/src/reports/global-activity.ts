/** Requests and tokens by day: `GET /global/activity`, and by model. */

import type { EdgeAnswer, EdgeGateway, ExtensionRequest, JsonObject } from "@sluice/contract";
import { addGroup, noSums, type Sums } from "./metrics.ts";
import { dayIn, isGroups, reportGroups } from "./report-groups.ts";

/** The sums of all models. */
export async function globalActivity(
  { query }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const groups = await reportGroups(gateway, { ...spanOf(query), group_by: "provider" });
  return isGroups(groups) ? { status: 200, body: activityOf(groups) } : groups;
}

/** The sums of each model, those with the most requests first. */
export async function modelActivity(
  { query }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const groups = await reportGroups(gateway, { ...spanOf(query), group_by: "model" });
  if (!isGroups(groups)) return groups;
  const byModel = new Map<string, JsonObject[]>();
  for (const group of groups) {
    const model = String(group.model ?? "");
    byModel.set(model, [...(byModel.get(model) ?? []), group]);
  }
  const models = [...byModel].map(([model, found]) => ({ model, ...activityOf(found) }));
  return {
    status: 200,
    body: models.toSorted((one, other) => other.sum_api_requests - one.sum_api_requests),
  };
}

function spanOf(query: URLSearchParams) {
  return { from: dayIn(query, "start_date"), to: dayIn(query, "end_date"), bucket: "day" };
}

function activityOf(groups: readonly JsonObject[]) {
  const days = new Map<string, Sums>();
  for (const group of groups) {
    const date = String(group.start).slice(0, 10);
    const sums = days.get(date) ?? noSums();
    addGroup(sums, group);
    days.set(date, sums);
  }
  const inOrder = [...days].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sumOf = (read: (sums: Sums) => number): number =>
    inOrder.reduce((sum, [, sums]) => sum + read(sums), 0);
  return {
    daily_data: inOrder.map(([date, { rows, totalTokens }]) => ({
      date: shortDate(date),
      api_requests: rows,
      total_tokens: totalTokens,
    })),
    sum_api_requests: sumOf(({ rows }) => rows),
    sum_total_tokens: sumOf(({ totalTokens }) => totalTokens),
  };
}

/** `May 05`: LiteLLM's dates have no year. */
function shortDate(date: string): string {
  const options = { month: "short", day: "2-digit", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat("en-US", options).format(new Date(date));
}
