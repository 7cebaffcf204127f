/** The question of `GET /spend/report`, as both listeners read it. */

import {
  SPEND_DIMENSIONS,
  type SpendBucket,
  type SpendDimension,
  type SpendReportQuery,
} from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { readDate } from "./dates.ts";
import { invalidParameter, limitOf, readParameters } from "./parameters.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The name of each dimension as a parameter, a member and a column. */
export const SPEND_REPORT_COLUMNS: Readonly<Record<SpendDimension, string>> = Object.freeze({
  organization: "organization_id",
  team: "team_id",
  user: "user_id",
  key: "api_key",
  tag: "tag",
  model: "model",
  provider: "provider",
  customer: "end_user",
});

const BUCKETS: readonly SpendBucket[] = ["none", "hour", "day"];
const ORDERS = ["time", "spend"] as const;
const FORMATS = ["json", "csv"] as const;

/** The parameters of the route. */
export const SPEND_REPORT_PARAMETERS: readonly string[] = Object.freeze([
  "group_by",
  "bucket",
  "from",
  "to",
  ...Object.values(SPEND_REPORT_COLUMNS),
  "order",
  "limit",
  "cursor",
  "format",
]);

/** A question, and the form of its answer. */
export interface SpendReportRequest {
  readonly query: SpendReportQuery;
  readonly format: "json" | "csv";
}

/**
 * Reads the query of a request. `filter.key` is what the client sent: a key or its id. Throws
 * `invalid_field` with the name of a bad parameter.
 */
export function readSpendReport(text: string | URLSearchParams): SpendReportRequest {
  const parameters = readParameters(text, SPEND_REPORT_PARAMETERS);
  const by = dimensionsOf(parameters.get("group_by"));
  const filter = Object.fromEntries(
    SPEND_DIMENSIONS.flatMap((name) => {
      const id = parameters.get(SPEND_REPORT_COLUMNS[name]);
      return id === undefined ? [] : [[name, id]];
    }),
  );
  const isOfCustomers = by.includes("customer") || filter["customer"] !== undefined;
  const bucket = oneOf(parameters, "bucket", BUCKETS);
  const order = oneOf(parameters, "order", ORDERS);
  const cursor = parameters.get("cursor");
  if (isOfCustomers && (by.includes("tag") || filter["tag"] !== undefined))
    throw invalidParameter(
      "group_by",
      "A report has tags or customers, not both: no sums of a customer's tags are kept.",
    );
  if (isOfCustomers && bucket === "hour")
    throw invalidParameter("bucket", "A report of customers has days: send bucket=day or none.");
  if (order === "spend" && bucket !== "none")
    throw invalidParameter("order", "Leave order=spend out, or send it without bucket.");
  if (order === "spend" && cursor !== undefined)
    throw invalidParameter("cursor", "A report with order=spend has no pages: leave cursor out.");
  const query: SpendReportQuery = {
    by,
    bucket,
    filter,
    order,
    limit: limitOf(parameters),
    ...spanOf(parameters.get("from"), parameters.get("to"), isOfCustomers ? DAY_MS : HOUR_MS),
    ...(cursor !== undefined && { after: readCursor(cursor, by.length) }),
  };
  return { query, format: oneOf(parameters, "format", FORMATS) };
}

function dimensionsOf(text: string | undefined): readonly SpendDimension[] {
  const names = text?.split(",") ?? [];
  const by = names.filter((name) => SPEND_DIMENSIONS.some((one) => one === name));
  if (by.length < names.length || new Set(by).size < by.length || by.length > 2)
    throw invalidParameter(
      "group_by",
      `The query parameter group_by must be one or two of ${SPEND_DIMENSIONS.join(", ")}, with a comma between them.`,
    );
  return by as SpendDimension[];
}

/** The first value is the default. */
function oneOf<Value extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  values: readonly [Value, ...Value[]] | readonly Value[],
): Value {
  const text = parameters.get(name) ?? values[0];
  const value = values.find((one) => one === text);
  if (value === undefined)
    throw invalidParameter(name, `The query parameter ${name} must be ${values.join(" or ")}.`);
  return value;
}

/** `from` is included; `to` too where it is a day, and where it is a time the report ends there. */
function spanOf(
  from: string | undefined,
  to: string | undefined,
  unitMs: number,
): Pick<SpendReportQuery, "fromMs" | "toMs"> {
  const first = from === undefined ? undefined : readDate(from, "from");
  const last = to === undefined ? undefined : readDate(to, "to");
  const fromMs = first?.startMs;
  const toMs = last?.isDay === true ? last.endMs : last?.startMs;
  for (const [name, atMs] of Object.entries({ from: fromMs, to: toMs })) {
    if (atMs === undefined || atMs % unitMs === 0) continue;
    const what =
      unitMs === DAY_MS ? "a day (customers are summed up by day)" : "a day or a whole hour";
    throw invalidParameter(name, `The query parameter ${name} must be ${what}, in UTC.`);
  }
  if (fromMs !== undefined && toMs !== undefined && toMs <= fromMs)
    throw invalidParameter("to", "The query parameter to is not after from.");
  return { ...(fromMs !== undefined && { fromMs }), ...(toMs !== undefined && { toMs }) };
}

/** A cursor as text: the begin of the bucket and the ids of the last group. */
export function cursorText({ startMs, ids }: NonNullable<SpendReportQuery["after"]>): string {
  return Buffer.from(JSON.stringify([startMs, ...ids])).toString("base64url");
}

function readCursor(text: string, dimensions: number): NonNullable<SpendReportQuery["after"]> {
  const [startMs, ...ids] = listIn(text);
  const isTime = startMs === null || Number.isSafeInteger(startMs);
  const areIds = ids.every((id) => id === null || typeof id === "string");
  if (!isTime || !areIds || ids.length !== dimensions)
    throw invalidParameter(
      "cursor",
      "The query parameter cursor must be the next_cursor of a report with the same group_by and bucket.",
    );
  return { startMs: startMs as number | null, ids: ids as (string | null)[] };
}

function listIn(text: string): readonly unknown[] {
  try {
    const value: unknown = parseJson(Buffer.from(text, "base64url").toString());
    return Array.isArray(value) ? value : [undefined];
  } catch {
    return [undefined];
  }
}
