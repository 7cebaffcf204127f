/** `GET /spend/report`: exact sums by one or two dimensions, as JSON or CSV. */

import type {
  Exchange,
  Host,
  LedgerFilter,
  Reply,
  SpendFilter,
  SpendReportQuery,
} from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { makeSpendReport, readSpendReport, type SpendReportText } from "@sluice/runtime";
import { readerOf, scopeOf } from "./scope.ts";

/** Answers with the sums of the rows that the caller may read. Throws `invalid_field`. */
export async function spendReport(exchange: Exchange, host: Host): Promise<Reply> {
  const { query, format } = readSpendReport(exchange.client.query);
  const { key: keyId, user: userId, team: teamId } = query.filter;
  const scope = await scopeOf(readerOf(exchange), host.authority, {
    ...(keyId !== undefined && { keyId }),
    ...(userId !== undefined && { userId }),
    ...(teamId !== undefined && { teamId }),
  });
  const report = await makeSpendReport(
    { query: narrowed(query, scope), format },
    host.ledger,
    exchange.signal,
  );
  return replyOf(exchange, report);
}

/** The query with the caller's scope; of no rows where the scope is none. */
function narrowed(query: SpendReportQuery, scope: LedgerFilter | undefined): SpendReportQuery {
  if (scope === undefined) return { ...query, within: [] };
  const { keyId, userId, teamId } = scope;
  const own: SpendFilter = {
    ...(keyId !== undefined && { key: keyId }),
    ...(userId !== undefined && { user: userId }),
    ...(teamId !== undefined && { team: teamId }),
  };
  return { ...query, filter: { ...query.filter, ...own } };
}

function replyOf(exchange: Exchange, { type, text, next }: SpendReportText): Reply {
  if (next !== undefined) exchange.headers.set("x-sluice-next-cursor", next);
  if (type.startsWith("application/json"))
    return { kind: "whole", status: 200, document: documentOf(text) };
  const headers = {
    "content-type": type,
    "content-disposition": 'attachment; filename="spend.csv"',
  };
  return { kind: "bytes", status: 200, headers, body: inOnePiece(text) };
}

async function* inOnePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
