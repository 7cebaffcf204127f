/** `GET /spend/logs` of both listeners: rows, newest first, or the sums of their days. */

import {
  type JsonObject,
  type LedgerDay,
  type LedgerFilter,
  type LedgerReader,
  rowCursor,
} from "@sluice/contract";
import { requestIdIn } from "../request-id-in.ts";
import { dollarsOf } from "../money/dollars.ts";
import { dateRange } from "./dates.ts";
import { listText } from "./list-text.ts";
import { booleanOf, cursorOf, invalidParameter, limitOf, readParameters } from "./parameters.ts";
import { publicRow } from "./row.ts";

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

/** A question for rows, or for their days. */
export interface SpendLogsRequest {
  /** `keyId` is what the client sent: a key or its id. All are ANDed. */
  readonly filter: LedgerFilter;
  readonly isSummary: boolean;
  readonly limit: number;
  readonly before?: string;
}

/** A list as a body. */
export interface SpendListText {
  /** A JSON array. */
  readonly text: string;
  /** The `cursor` of the next page; absent after the last one. */
  readonly next?: string;
}

/** Reads the query of a request. Throws `invalid_field` with the name of a bad parameter. */
export function readSpendLogs(query: string | URLSearchParams): SpendLogsRequest {
  const parameters = readParameters(query, PARAMETERS);
  const range = dateRange(parameters.get("start_date"), parameters.get("end_date"));
  const isSummary =
    booleanOf(parameters, "summarize", true) &&
    range.fromMs !== undefined &&
    range.toMs !== undefined;
  const limit = limitOf(parameters);
  const before = cursorOf(parameters);
  if (isSummary) refuseWithSummary(parameters, ["limit", "cursor"]);
  const filter: LedgerFilter = {
    ...optional("keyId", parameters.get("api_key")),
    ...optional("userId", parameters.get("user_id")),
    ...range,
    ...idsOf(parameters.get("request_id")),
  };
  return { filter, isSummary, limit, ...optional("before", before) };
}

/** Reads the rows of a page, or the days, and writes them. Rejects as the reader does. */
export async function makeSpendLogs(
  { filter, isSummary, limit, before }: SpendLogsRequest,
  ledger: Pick<LedgerReader, "rows" | "days">,
  signal?: AbortSignal,
): Promise<SpendListText> {
  if (isSummary) return { text: await listText(await ledger.days(filter, signal), publicDay) };
  // One additional row shows whether there is another page.
  const rows = await ledger.rows(
    { ...filter, limit: limit + 1, ...optional("before", before) },
    signal,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasNext = rows.length > limit && last !== undefined;
  return { text: await listText(page, publicRow), ...(hasNext && { next: rowCursor(last) }) };
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
