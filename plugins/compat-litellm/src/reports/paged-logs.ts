/** `GET /spend/logs/v2`: rows with pages and their number, made of `GET /spend/logs`. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { withOwners } from "./owners.ts";

/** Rows that one answer looks through: as many as LiteLLM's own route. */
const MAX_ROWS = 10_000;
const ROWS_AT_ONCE = 1_000;
const DEFAULT_SIZE = 50;
const MAX_SIZE = 100;

/** Rows of the caller that pass the filters, newest first. */
export async function pagedLogs(
  { query }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const size = wholeIn(query, "page_size", DEFAULT_SIZE, MAX_SIZE);
  const page = wholeIn(query, "page", 1, MAX_ROWS);
  const passes = filterOf(query);
  const found: JsonObject[] = [];
  let cursor: string | undefined;
  for (let read = 0; read < MAX_ROWS; read += ROWS_AT_ONCE) {
    // oxlint-disable-next-line no-await-in-loop -- pages come one after the other.
    const answer = await gateway.call({
      method: "GET",
      path: "/spend/logs",
      query: { ...rowQuery(query), limit: String(ROWS_AT_ONCE), cursor },
    });
    if (answer.status !== 200 || !Array.isArray(answer.body)) return answer;
    found.push(...(answer.body as readonly JsonValue[]).filter(isObject).filter(passes));
    cursor = answer.headers?.["x-sluice-next-cursor"];
    if (cursor === undefined) break;
  }
  return {
    status: 200,
    body: {
      data: found.slice((page - 1) * size, page * size).map(withOwners),
      total: found.length,
      page,
      page_size: size,
      total_pages: Math.ceil(found.length / size),
      // More rows are in the span than were looked through.
      ...(cursor !== undefined && { is_total_a_minimum: true }),
    },
  };
}

/** What the gateway's own route selects by. */
function rowQuery(query: URLSearchParams): Readonly<Record<string, string | undefined>> {
  return {
    summarize: "false",
    start_date: timeIn(query, "start_date"),
    end_date: timeIn(query, "end_date"),
    api_key: query.get("api_key") || undefined,
    user_id: query.get("user_id") || undefined,
    request_id: query.get("request_id") || undefined,
  };
}

/** A day, or a time with a space between day and hour, in UTC. */
function timeIn(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? "";
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return text;
  if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d$/.test(text)) return `${text.replace(" ", "T")}Z`;
  throw new GatewayError(
    "invalid_field",
    `The query parameter ${name} must be a day such as 2030-01-31, or a time such as 2030-01-31 08:00:00.`,
    { param: name },
  );
}

/** Filters of LiteLLM that the gateway's own route does not have: of single rows. */
const EQUAL: Readonly<Record<string, string>> = {
  team_id: "team_id",
  end_user: "end_user",
  model: "model",
  model_id: "model_id",
  model_group: "model_group",
};

function filterOf(query: URLSearchParams): (row: JsonObject) => boolean {
  const equal = Object.entries(EQUAL).flatMap(([name, member]) => {
    const wanted = query.get(name);
    return wanted === null || wanted === "" ? [] : [[member, wanted] as const];
  });
  const alias = query.get("key_alias") ?? "";
  const status = query.get("status_filter") ?? "";
  const [least, most] = [numberIn(query, "min_spend"), numberIn(query, "max_spend")];
  return (row) =>
    equal.every(([member, wanted]) => row[member] === wanted) &&
    (alias === "" || String(row.key_alias ?? "").includes(alias)) &&
    (status === "" || (row.status === "failure") === (status === "failure")) &&
    (least === undefined || Number(row.spend ?? 0) >= least) &&
    (most === undefined || Number(row.spend ?? 0) <= most);
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new GatewayError("invalid_field", `The query parameter ${name} must be a number.`, {
    param: name,
  });
}

function wholeIn(query: URLSearchParams, name: string, otherwise: number, maximum: number): number {
  const text = query.get(name) ?? String(otherwise);
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= maximum) return value;
  throw new GatewayError(
    "invalid_field",
    `The query parameter ${name} must be a whole number from 1 to ${maximum}.`,
    { param: name },
  );
}
