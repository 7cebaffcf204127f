/** Sums of groups of a report, under LiteLLM's names. */

import type { JsonObject, JsonValue } from "@sluice/contract";

/** What is added up. Money is nano-dollars, so that the sum is exact. */
export interface Sums {
  nanoUsd: bigint;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  totalTokens: number;
  rows: number;
  failedRows: number;
  requests: number;
}

export function noSums(): Sums {
  return {
    nanoUsd: 0n,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    totalTokens: 0,
    rows: 0,
    failedRows: 0,
    requests: 0,
  };
}

/** Adds a group of a report. */
export function addGroup(into: Sums, group: JsonObject): void {
  into.nanoUsd += BigInt(String(group.spend_nano_usd ?? 0));
  into.promptTokens += numberOf(group.prompt_tokens);
  into.completionTokens += numberOf(group.completion_tokens);
  into.cachedTokens += numberOf(group.cached_tokens);
  into.totalTokens += numberOf(group.total_tokens);
  into.rows += numberOf(group.rows);
  into.failedRows += numberOf(group.failed_rows);
  into.requests += numberOf(group.requests);
}

/** The sums as LiteLLM's metrics. A row is an attempt, a cache hit or a refusal. */
export function metricsOf(sums: Sums): JsonObject {
  return {
    spend: dollarsOf(sums),
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    cache_read_input_tokens: sums.cachedTokens,
    cache_creation_input_tokens: 0,
    total_tokens: sums.totalTokens,
    successful_requests: sums.rows - sums.failedRows,
    failed_requests: sums.failedRows,
    api_requests: sums.rows,
  };
}

export function dollarsOf({ nanoUsd }: Pick<Sums, "nanoUsd">): number {
  return Number(nanoUsd) / 1e9;
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
