/** The amounts that the sums keep, and what one row adds to each of them. */

import type { SpendRow, SpendSums } from "@sluice/contract";

/** An amount: its column, the member of a report, and what a row adds. */
export interface Amount {
  readonly column: string;
  readonly member: keyof SpendSums;
  readonly of: (row: SpendRow) => number;
}

const count = ({ requests }: SpendRow): number => Math.max(1, integer(requests));

function counted(is: (row: SpendRow) => boolean): (row: SpendRow) => number {
  return (row) => (is(row) ? count(row) : 0);
}

/** All amounts. */
export const AMOUNTS: readonly Amount[] = [
  {
    column: "requests",
    member: "requests",
    of: counted(({ attempt }) => attempt <= 1),
  },
  { column: "row_count", member: "rows", of: count },
  {
    column: "failed_rows",
    member: "failedRows",
    of: counted(({ status }) => status === "failure"),
  },
  {
    column: "partial_rows",
    member: "partialRows",
    of: counted(({ status }) => status === "partial"),
  },
  {
    column: "unpriced_rows",
    member: "unpricedRows",
    of: counted(({ costNanoUsd }) => costNanoUsd === null || costNanoUsd === undefined),
  },
  {
    column: "estimated_rows",
    member: "estimatedRows",
    of: counted(({ usageSource }) => usageSource === "estimated"),
  },
  { column: "cache_hits", member: "cacheHits", of: counted(({ cacheHit }) => cacheHit) },
  { column: "prompt_tokens", member: "promptTokens", of: (row) => integer(row.promptTokens) },
  {
    column: "completion_tokens",
    member: "completionTokens",
    of: (row) => integer(row.completionTokens),
  },
  { column: "total_tokens", member: "totalTokens", of: (row) => integer(row.totalTokens) },
  { column: "cached_tokens", member: "cachedTokens", of: (row) => integer(row.cachedTokens) },
  {
    column: "reasoning_tokens",
    member: "reasoningTokens",
    of: (row) => integer(row.reasoningTokens),
  },
  { column: "nano_usd", member: "costNanoUsd", of: (row) => integer(row.costNanoUsd) },
  {
    column: "lost_nano_usd",
    member: "lostNanoUsd",
    of: (row) => (row.status === "success" ? 0 : integer(row.costNanoUsd)),
  },
];

/** A number that is no safe integer adds nothing. */
function integer(value: number | null | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}
