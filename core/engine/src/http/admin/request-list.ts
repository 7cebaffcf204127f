/**
 * `GET /requests`: the newest requests, from the ledger and from the process's memory, in one list.
 */

import {
  rowCursor,
  ERROR_CODES,
  isGatewayError,
  type JsonObject,
  type LedgerReader,
  type SpendRow,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { dollarsOf, requestIdIn } from "@sluice/runtime";
import type { ExchangeRecord } from "../../accounting/exchange-record.ts";
import type { RecentRequests } from "../../accounting/recent-requests.ts";
import { isVisible, type Visible } from "../access/may.ts";
import { type AdminRoutes, listed } from "../access/route.ts";
import { invalid, refuseUnknown } from "./fields.ts";
import { MAX_REQUESTS, pageOf, placeOfCursor, type RequestPlace } from "./request-page.ts";
import { withinOf } from "./requests.ts";
import { timeIn } from "./time-query.ts";

const DEFAULT_LIMIT = 20;
/**
 * Rows that one page looks through at most: a filter that few requests pass gives a short page and
 * a cursor.
 */
const MAX_ROWS = 2_000;
const ROWS_AT_ONCE = 500;
const MAX_ATTEMPTS = 100;
const READ_TIMEOUT_MS = 3_000;
const PARAMETERS = [
  "request_id",
  "guardrail",
  "status",
  "model",
  "key",
  "since",
  "limit",
  "cursor",
];

interface Wanted {
  readonly status: string;
  readonly model: string;
  readonly key: string;
  readonly guardrail: string;
  readonly sinceMs: number;
  readonly limit: number;
  readonly after: RequestPlace | undefined;
}

/** What the caller asked for, and may see. */
interface Asked extends Wanted {
  readonly visible: Visible;
}

/**
 * The route. `keyIdOf` finds the id of a key by its id or alias. To a caller with a part of the
 * gateway, a key that is not its own is one without requests.
 */
export function requestListRoute(
  recent: RecentRequests<ExchangeRecord>,
  ledger: Pick<LedgerReader, "rows">,
  keyIdOf: (key: string) => Promise<string>,
): AdminRoutes {
  return {
    "GET /requests": listed("request.read", async ({ query }, visible) => {
      refuseUnknown(query.keys(), PARAMETERS, "query parameter");
      const asked = { ...wantedOf(query), visible };
      const named = query.get("request_id") ?? "";
      if (named !== "") return oneOf(requestIdIn(named), asked, recent, ledger);
      const wanted = asked.key === "" ? asked : { ...asked, key: await keyOf(asked, keyIdOf) };
      const seen = recent.all().filter((record) => isVisible(visible, record));
      const records = new Map(seen.map((record) => [record.id, record]));
      const { found, reached } = await fromLedger(wanted, records, ledger);
      const { sinceMs, limit, after } = wanted;
      for (const record of records.values()) {
        const { startedAtMs: atMs, id } = record;
        const isShown =
          after !== undefined &&
          (atMs > after.atMs || (atMs === after.atMs && after.ids.includes(id)));
        if (isShown || atMs < sinceMs || found.has(id) || record.attempts.length > 0) continue;
        // What guardrails did is in the rows.
        if (
          wanted.guardrail === "" &&
          passes(wanted, record.model, record.keyId, statusOf(record, record.errorCode ?? null))
        )
          found.set(id, view(record, undefined));
      }
      const listed = [...found.values()].filter((one) => one !== undefined);
      return { ...pageOf(listed, limit, reached, after), limit };
    }),
  };
}

/** The request of an id, or an empty list: also for one that has not ended. */
async function oneOf(
  id: string,
  { visible, limit }: Asked,
  recent: RecentRequests<ExchangeRecord>,
  ledger: Pick<LedgerReader, "rows">,
) {
  const known = recent.find(id);
  const record = known !== undefined && isVisible(visible, known) ? known : undefined;
  const asked = { requestId: id, ...withinOf(visible), limit: MAX_ATTEMPTS };
  const rows = await ledger.rows(asked, AbortSignal.timeout(READ_TIMEOUT_MS));
  const all = rows.toSorted((a, b) => a.attempt - b.attempt);
  const isKnown = record !== undefined || all.length > 0;
  const requests = isKnown ? [view(record, all.length > 0 ? all : undefined)] : [];
  return { requests, next_cursor: null, limit };
}

/** The id of the key that is asked for. */
async function keyOf(
  { key, visible }: Asked,
  keyIdOf: (key: string) => Promise<string>,
): Promise<string> {
  if (visible === "all") return keyIdOf(key);
  return keyIdOf(key).catch((error: unknown) => {
    if (isGatewayError(error) && error.code === "not_found") return key;
    throw error;
  });
}

interface Found {
  /** Views by the request's id; `undefined` for one that the filter leaves out. */
  readonly found: Map<string, JsonObject | undefined>;
  /** The place up to which the ledger was read, when it has more. */
  readonly reached: RequestPlace | undefined;
}

/** The place of a request is that of its first row: number 1, or 0 without an upstream call. */
async function fromLedger(
  wanted: Asked,
  records: ReadonlyMap<string, ExchangeRecord>,
  ledger: Pick<LedgerReader, "rows">,
): Promise<Found> {
  const { key, sinceMs, limit, after, visible } = wanted;
  const found = new Map<string, JsonObject | undefined>();
  const later = new Map<string, SpendRow[]>();
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const filter = {
    fromMs: sinceMs,
    ...withinOf(visible),
    ...(key !== "" && { keyId: key }),
    ...(after !== undefined && { toMs: after.atMs + 1 }),
  };
  let before: string | undefined;
  let shown = 0;
  for (let read = 0; read < MAX_ROWS;) {
    const rows = await ledger.rows(
      { ...filter, limit: ROWS_AT_ONCE, ...(before !== undefined && { before }) },
      signal,
    );
    for (const row of rows) {
      const { requestId: id, attempt, startedAtMs: atMs } = row;
      if (after !== undefined && atMs === after.atMs && after.ids.includes(id)) continue;
      if (attempt > 1) {
        later.set(id, [...(later.get(id) ?? []), row]);
        continue;
      }
      let all = [row, ...(later.get(id) ?? [])];
      // Its later attempts may have been on the page before.
      if (all.length === 1 && row.status !== "success" && attempt === 1 && after !== undefined)
        all = (await ledger.rows({ requestId: id, limit: MAX_ATTEMPTS }, signal)).toSorted(
          (a, b) => a.attempt - b.attempt,
        );
      const record = records.get(id);
      const last = all.reduce((newest, one) => (one.attempt > newest.attempt ? one : newest));
      const status = record === undefined ? statusOfRow(last) : statusOf(record, last.errorCode);
      const isWanted =
        passes(wanted, row.model, row.keyId, status) &&
        (wanted.guardrail === "" || all.some((one) => wasJudged(one, wanted.guardrail)));
      found.set(id, isWanted ? view(record, all) : undefined);
      if (isWanted && ++shown > limit) return { found, reached: { atMs, ids: idsAt(found, atMs) } };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return { found, reached: undefined };
    before = rowCursor(last);
    read += rows.length;
    if (read >= MAX_ROWS)
      return { found, reached: { atMs: last.startedAtMs, ids: idsAt(found, last.startedAtMs) } };
  }
  return { found, reached: undefined };
}

/** Whether a row names a verdict of a guardrail. */
function wasJudged({ metadata }: SpendRow, guardrail: string): boolean {
  const { guardrails } = metadata;
  return (
    Array.isArray(guardrails) &&
    guardrails.some((one: unknown) => isObject(one) && one["guardrail"] === guardrail)
  );
}

function idsAt(
  found: ReadonlyMap<string, JsonObject | undefined>,
  atMs: number,
): readonly string[] {
  const at = new Date(atMs).toISOString();
  return [...found].filter(([, one]) => one?.["started_at"] === at).map(([id]) => id);
}

/** The client's status, if it is known. */
interface Status {
  readonly status: number | null;
  readonly error: string | null;
}

function statusOf(record: ExchangeRecord, errorCode: string | null): Status {
  return {
    status: record.status ?? null,
    error: record.errorCode ?? (record.status === 200 ? null : errorCode),
  };
}

function statusOfRow({ status, errorCode }: SpendRow): Status {
  if (status === "success") return { status: 200, error: null };
  const known =
    errorCode === null
      ? undefined
      : (ERROR_CODES as Readonly<Record<string, { readonly status: number }>>)[errorCode];
  return { status: status === "partial" ? 200 : (known?.status ?? null), error: errorCode };
}

function passes(
  wanted: Wanted,
  model: string | undefined,
  keyId: string | null,
  { status, error }: Status,
): boolean {
  if (wanted.model !== "" && wanted.model !== model) return false;
  if (wanted.key !== "" && wanted.key !== keyId) return false;
  const isFailed = error !== null || status === null || status >= 400;
  switch (wanted.status) {
    case "":
      return true;
    case "failed":
      return isFailed;
    case "ok":
      return !isFailed;
    default:
      return wanted.status === String(status) || wanted.status === error;
  }
}

function view(
  record: ExchangeRecord | undefined,
  rows: readonly SpendRow[] | undefined,
): JsonObject {
  const [first] = rows ?? [];
  const last = rows?.reduce((newest, one) => (one.attempt > newest.attempt ? one : newest));
  const startedAtMs = first?.startedAtMs ?? record?.startedAtMs ?? 0;
  const shown =
    record !== undefined
      ? statusOf(record, last?.errorCode ?? null)
      : last === undefined
        ? undefined
        : statusOfRow(last);
  const costs = (rows ?? []).map(({ costNanoUsd }) => costNanoUsd);
  const isKnown = costs.length > 0 && costs.every((cost) => cost !== null);
  return {
    request_id: record?.id ?? first?.requestId ?? "",
    started_at: new Date(startedAtMs).toISOString(),
    status: shown?.status ?? null,
    error: shown?.error ?? null,
    operation: record?.outline.operation ?? first?.callType ?? null,
    model: record?.model ?? first?.model ?? null,
    deployment: last?.targetId ?? null,
    key: {
      id: record?.keyId ?? first?.keyId ?? null,
      alias: record?.keyAlias ?? first?.keyAlias ?? null,
    },
    attempts: (rows ?? []).filter(({ attempt }) => attempt > 0).length,
    total_tokens: last?.totalTokens ?? null,
    cost: isKnown ? dollarsOf(costs.reduce((sum: number, cost) => sum + (cost ?? 0), 0)) : null,
    total_ms:
      record !== undefined
        ? Math.round(record.totalMs)
        : last === undefined
          ? null
          : last.endedAtMs - startedAtMs,
    generation: record?.generation ?? first?.generation ?? null,
    source: record === undefined ? "ledger" : "memory",
  };
}

function wantedOf(query: URLSearchParams): Wanted {
  const read = (name: string): string => query.get(name) ?? "";
  const limit = read("limit") === "" ? DEFAULT_LIMIT : Number(read("limit"));
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_REQUESTS)
    throw invalid(
      "limit",
      `The query parameter limit must be a whole number from 1 to ${MAX_REQUESTS}.`,
    );
  const cursor = read("cursor");
  const after = cursor === "" ? undefined : placeOfCursor(cursor);
  if (cursor !== "" && after === undefined)
    throw invalid("cursor", "The query parameter cursor must be the next_cursor of an answer.");
  return {
    status: read("status"),
    model: read("model"),
    key: read("key"),
    guardrail: read("guardrail"),
    sinceMs: timeIn(query, "since") ?? 0,
    limit,
    after,
  };
}
