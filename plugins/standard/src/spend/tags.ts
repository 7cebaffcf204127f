/** `GET /spend/tags`: the spend of each request tag, highest first. */

import type { Exchange, Host, JsonObject, LedgerTag, WholeReply } from "@sluice/contract";
import { jsonReply } from "@sluice/kit";
import { dollarsOf, dateRange, limitOf, readParameters } from "@sluice/runtime";
import { listReply } from "./list-reply.ts";
import { readerOf, scopeOf } from "./scope.ts";

/**
 * Answers with tags. A row with several tags counts for each of them. Throws `invalid_field` for a
 * bad parameter.
 */
export async function spendTags(exchange: Exchange, host: Host): Promise<WholeReply> {
  const parameters = readParameters(exchange.client.query, ["start_date", "end_date", "limit"]);
  const range = dateRange(parameters.get("start_date"), parameters.get("end_date"));
  const limit = limitOf(parameters);
  const scope = await scopeOf(readerOf(exchange), host.authority, {});
  if (scope === undefined) return jsonReply([]);
  return listReply(
    await host.ledger.tags({ ...scope, ...range, limit }, exchange.signal),
    publicTag,
  );
}

function publicTag(tag: LedgerTag): JsonObject {
  return {
    individual_request_tag: tag.tag,
    log_count: tag.rows,
    unpriced_log_count: tag.unpricedRows,
    total_spend: dollarsOf(tag.costNanoUsd),
    total_tokens: tag.totalTokens,
  };
}
