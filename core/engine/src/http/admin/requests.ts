/** Admin route for one request: what happened to it, step by step. */

import { GatewayError, type LedgerReader } from "@sluice/spec";
import { attemptRecord, type ExchangeRecord } from "../../pipeline/exchange-record.ts";
import type { RecentRequests } from "../../resources/recent-requests.ts";
import { describeAttempt, describeRecord } from "../explain.ts";
import type { AdminRoutes } from "./app.ts";

/** Rows of one request that are read. */
const MAX_ROWS = 100;
const READ_TIMEOUT_MS = 10_000;

/** `GET /requests/{id}`: the record while it is kept; later what the ledger knows, which is the attempts. */
export function requestRoutes(recent: RecentRequests<ExchangeRecord>, ledger: Pick<LedgerReader, "rows">): AdminRoutes {
  return {
    async "GET /requests/{id}"({ parameters }) {
      const { id = "" } = parameters;
      const record = recent.find(id);
      if (record !== undefined) return describeRecord(record);
      const described = await fromLedger(id, ledger);
      if (described !== undefined) return described;
      throw new GatewayError("route_not_found", "There is no such request, or nothing is known of it any more.");
    },
  };
}

/** An explanation by the rows. What only the process knew is null: the steps, and how long all of it took. */
async function fromLedger(requestId: string, ledger: Pick<LedgerReader, "rows">) {
  const rows = await ledger.rows({ requestId, limit: MAX_ROWS }, AbortSignal.timeout(READ_TIMEOUT_MS));
  const inOrder = rows.toSorted((a, b) => a.attempt - b.attempt);
  const [first] = inOrder;
  const last = inOrder.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return {
    request_id: requestId,
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
    error: last.errorCode,
    total_ms: null,
    overhead_ms: null,
    body_ms: null,
    steps: null,
    // A refusal before any attempt has a row of its own, of the number 0.
    attempts: inOrder.filter(({ attempt }) => attempt > 0).map((row) => describeAttempt(attemptRecord(row, first.startedAtMs))),
  };
}
