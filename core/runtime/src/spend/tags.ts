/** `GET /spend/tags` of both listeners: the spend of each request tag, highest first. */

import type { JsonObject, LedgerFilter, LedgerReader, LedgerTag } from "@sluice/contract";
import { dollarsOf } from "../money/dollars.ts";
import { type DateRange, dateRange } from "./dates.ts";
import { listText } from "./list-text.ts";
import { limitOf, readParameters } from "./parameters.ts";

/** A question for tags. */
export interface SpendTagsRequest {
  readonly range: DateRange;
  readonly limit: number;
}

/** Reads the query of a request. Throws `invalid_field` with the name of a bad parameter. */
export function readSpendTags(query: string | URLSearchParams): SpendTagsRequest {
  const parameters = readParameters(query, ["start_date", "end_date", "limit"]);
  const range = dateRange(parameters.get("start_date"), parameters.get("end_date"));
  return { range, limit: limitOf(parameters) };
}

/**
 * The tags of the rows of a scope, as a JSON array. A row with several tags counts for each of
 * them. Rejects as the reader does.
 */
export async function makeSpendTags(
  { range, limit }: SpendTagsRequest,
  scope: LedgerFilter,
  ledger: Pick<LedgerReader, "tags">,
  signal?: AbortSignal,
): Promise<string> {
  return listText(await ledger.tags({ ...scope, ...range, limit }, signal), publicTag);
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
