/** `GET /spend/tags`: the spend of each request tag, highest first. */

import type { Exchange, Host, WholeReply } from "@sluice/contract";
import { documentOf, jsonReply } from "@sluice/kit";
import { makeSpendTags, readSpendTags } from "@sluice/runtime";
import { readerOf, scopeOf } from "./scope.ts";

/** Answers with the tags of rows that the caller may read. Throws `invalid_field`. */
export async function spendTags(exchange: Exchange, host: Host): Promise<WholeReply> {
  const asked = readSpendTags(exchange.client.query);
  const scope = await scopeOf(readerOf(exchange), host.authority, {});
  if (scope === undefined) return jsonReply([]);
  const text = await makeSpendTags(asked, scope, host.ledger, exchange.signal);
  return { kind: "whole", status: 200, document: documentOf(text) };
}
