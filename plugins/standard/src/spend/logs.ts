/** `GET /spend/logs`: rows, newest first, or the sums of their days, oldest first. */

import type { Exchange, Host, WholeReply } from "@sluice/contract";
import { documentOf, jsonReply } from "@sluice/kit";
import { makeSpendLogs, readSpendLogs } from "@sluice/runtime";
import { readerOf, scopeOf } from "./scope.ts";

/**
 * Answers with the rows or days that the caller may read. Throws `invalid_field` with the name of a
 * bad parameter.
 */
export async function spendLogs(exchange: Exchange, host: Host): Promise<WholeReply> {
  const asked = readSpendLogs(exchange.client.query);
  const { keyId, userId, ...others } = asked.filter;
  const scope = await scopeOf(readerOf(exchange), host.authority, {
    ...(keyId !== undefined && { keyId }),
    ...(userId !== undefined && { userId }),
  });
  if (scope === undefined) return jsonReply([]);
  const { text, next } = await makeSpendLogs(
    { ...asked, filter: { ...scope, ...others } },
    host.ledger,
    exchange.signal,
  );
  if (next !== undefined) exchange.headers.set("x-sluice-next-cursor", next);
  return { kind: "whole", status: 200, document: documentOf(text) };
}
