/** `GET /spend/logs`: rows, newest first, or the sums of their days, oldest first. */

import {
  rowCursor,
  type Exchange,
  type Host,
  type JsonObject,
  type LedgerDay,
  type LedgerFilter,
  type WholeReply,
} from "@sluice/contract";
import { jsonReply } from "@sluice/kit";
import {
  requestIdIn,
  dollarsOf,
  dateRange,
  booleanOf,
  cursorOf,
  invalidParameter,
  limitOf,
  readParameters,
} from "@sluice/runtime";
import { listReply } from "./list-reply.ts";
import { publicRow } from "./row.ts";
import { readerOf, scopeOf } from "./scope.ts";

const PARAMETERS = [
  "request_id",
  "api_key",
  "user_id",
  "start_date",
  "end_date",
  "summarize",
  "limit",
  "cursor",
];

/**
 * Answers with rows or days. All filters are ANDed. Throws `invalid_field` with the name of a bad
 * parameter.
 */
export async function spendLogs(exchange: Exchange, host: Host): Promise<WholeReply> {
  const parameters = readParameters(exchange.client.query, PARAMETERS);
  const range = dateRange(parameters.get("start_date"), parameters.get("end_date"));
  const isSummary =
    booleanOf(parameters, "summarize", true) &&
    range.fromMs !== undefined &&
    range.toMs !== undefined;
  const limit = limitOf(parameters);
  const before = cursorOf(parameters);
  if (isSummary) refuseWithSummary(parameters, ["limit", "cursor"]);
  const scope = await scopeOf(readerOf(exchange), host.authority, {
    ...optional("keyId", parameters.get("api_key")),
    ...optional("userId", parameters.get("user_id")),
  });
  if (scope === undefined) return jsonReply([]);
  const filter: LedgerFilter = { ...scope, ...range, ...idsOf(parameters.get("request_id")) };
  if (isSummary) return listReply(await host.ledger.days(filter, exchange.signal), publicDay);

  // One additional row shows whether there is another page.
  const rows = await host.ledger.rows(
    { ...filter, limit: limit + 1, ...optional("before", before) },
    exchange.signal,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length > limit && last !== undefined) {
    exchange.headers.set("x-sluice-next-cursor", rowCursor(last));
  }
  return listReply(page, publicRow);
}

/**
 * Finds a request by its own id, or by the id of its completion, which may be the gateway's or the
 * upstream's.
 */
function idsOf(id: string | undefined): Pick<LedgerFilter, "requestId" | "completionId"> {
  return id === undefined ? {} : { requestId: requestIdIn(id), completionId: id };
}

function refuseWithSummary(
  parameters: ReadonlyMap<string, string>,
  names: readonly string[],
): void {
  for (const name of names) {
    if (!parameters.has(name)) continue;
    throw invalidParameter(
      name,
      `A summary has no pages: leave the query parameter ${name} out, or ask with summarize=false.`,
    );
  }
}

function publicDay(day: LedgerDay): JsonObject {
  return {
    date: day.date,
    startTime: day.date,
    spend: dollarsOf(day.costNanoUsd),
    requests: day.requests,
    unpriced_requests: day.unpricedRequests,
    prompt_tokens: day.promptTokens,
    completion_tokens: day.completionTokens,
    total_tokens: day.totalTokens,
    models: spendByName(day.models),
    users: spendByName(day.users),
    api_keys: spendByName(day.keys),
  };
}

function spendByName(sums: ReadonlyMap<string, bigint>): JsonObject {
  return Object.fromEntries([...sums].map(([name, nanoUsd]) => [name, dollarsOf(nanoUsd)]));
}

function optional<K extends string>(name: K, value: string | undefined): { [key in K]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [key in K]?: string };
}
