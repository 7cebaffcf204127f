/** Admin route for the explanation of one request, step by step. */

import { requestIdIn } from "@sluice/runtime";
import { GatewayError, type LedgerQuery, type LedgerReader, type SpendRow } from "@sluice/contract";
import { attemptRecord, type ExchangeRecord } from "../../accounting/exchange-record.ts";
import type { RecentRequests } from "../../accounting/recent-requests.ts";
import { describeAttempt, describeRecord } from "../../accounting/explain.ts";
import { isVisible, type Visible } from "../access/may.ts";
import { type AdminRoutes, listed } from "../access/route.ts";

/** Rows of one request that are read. */
const MAX_ROWS = 100;
const READ_TIMEOUT_MS = 10_000;

/**
 * `GET /requests/{id}`: the record while it is kept; later what the ledger knows, which is the
 * attempts. The id is the request's, or that of its completion. Requests at places that the caller
 * may not see do not exist.
 */
export function requestRoutes(
  recent: RecentRequests<ExchangeRecord>,
  ledger: Pick<LedgerReader, "rows">,
): AdminRoutes {
  return {
    "GET /requests/:id": listed("request.read", async ({ parameters }, visible) => {
      const { id = "" } = parameters;
      const requestId = requestIdIn(id);
      const recorded = (one: string): ExchangeRecord | undefined => {
        const record = recent.find(one);
        return record !== undefined && isVisible(visible, record) ? record : undefined;
      };
      const record = recorded(requestId);
      if (record !== undefined) return describeRecord(record);
      const ids = { requestId, completionId: id };
      const rows = await rowsOf({ ...ids, ...withinOf(visible) }, ledger);
      const [first] = rows;
      const named = first === undefined ? undefined : recorded(first.requestId);
      if (named !== undefined) return describeRecord(named);
      if (first !== undefined) return fromLedger(first, rows);
      throw new GatewayError(
        "route_not_found",
        "The request does not exist, or its record was dropped. GET /requests lists the known ones.",
      );
    }),
  };
}

/** The places whose rows a caller may see, as a part of the query. */
export function withinOf(visible: Visible): Pick<LedgerQuery, "within"> {
  return visible === "all" ? {} : { within: visible };
}

/**
 * The rows of one request, by attempt. An upstream may have given its id to several completions:
 * the newest one counts.
 */
async function rowsOf(
  ids: Pick<LedgerQuery, "requestId" | "completionId" | "within">,
  ledger: Pick<LedgerReader, "rows">,
) {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const found = await ledger.rows({ ...ids, limit: MAX_ROWS }, signal);
  const { within } = ids;
  const requestId = found[0]?.requestId;
  const isNamed = requestId !== undefined && requestId !== ids.requestId;
  const seen = within === undefined ? {} : { within };
  const rows = isNamed ? await ledger.rows({ requestId, ...seen, limit: MAX_ROWS }, signal) : found;
  return rows
    .filter((row) => row.requestId === requestId)
    .toSorted((a, b) => a.attempt - b.attempt);
}

/**
 * An explanation from at least one row. The steps and the total time are null, because only the
 * process knew them.
 */
function fromLedger(first: SpendRow, inOrder: readonly SpendRow[]) {
  return {
    request_id: first.requestId,
    source: "ledger",
    route: null,
    operation: first.callType,
    pipeline: null,
    generation: first.generation,
    key: { id: first.keyId, alias: first.keyAlias },
    model: first.model,
    stream: null,
    started_at: new Date(first.startedAtMs).toISOString(),
    status: null,
    error: inOrder.at(-1)?.errorCode ?? null,
    total_ms: null,
    overhead_ms: null,
    body_ms: null,
    steps: null,
    // A refusal before any attempt has a row of its own, of the number 0.
    attempts: inOrder
      .filter(({ attempt }) => attempt > 0)
      .map((row) => describeAttempt(attemptRecord(row, first.startedAtMs))),
  };
}
