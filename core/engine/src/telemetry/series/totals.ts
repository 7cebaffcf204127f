/** What the metrics of requests say in all, without labels: the numbers of one moment. */

import { ERROR_CODES } from "@sluice/contract";
import { REQUEST_METRICS } from "../metric-table.ts";
import type { HistogramReading, MetricReading, MetricRegistry } from "../metrics.ts";

/** Counts, in the order of their columns. */
export const COUNTS = [
  "requests",
  "client_errors",
  "gateway_errors",
  "upstream_errors",
  "nano_usd",
] as const;

const CODES: Readonly<Record<string, { readonly status: number } | undefined>> = ERROR_CODES;
const COUNT_OF = Object.fromEntries(COUNTS.map((name, index) => [name, index])) as Record<
  (typeof COUNTS)[number],
  number
>;

/** Bounds of both histograms, in milliseconds. A value beyond the last has a bucket of its own. */
export const FIRST_CONTENT_MS: readonly number[] = REQUEST_METRICS.firstToken.buckets.map(ms);
export const OVERHEAD_MS: readonly number[] = REQUEST_METRICS.overhead.buckets.map(ms);

/** The columns of one moment: counts, the time to first content, the gateway's own time. */
export const WIDTH = COUNTS.length + FIRST_CONTENT_MS.length + 1 + OVERHEAD_MS.length + 1;
/** The first columns of both histograms. */
export const FIRST_CONTENT_AT = COUNTS.length;
export const OVERHEAD_AT = FIRST_CONTENT_AT + FIRST_CONTENT_MS.length + 1;

/** The status of a client that left. It counts once, whether a failure names it or not. */
const CLIENT_GONE = "499";
const GONE_CODES: ReadonlySet<string> = new Set(["client_closed", "client_stalled"]);
/** Codes of upstreams' failures that do not begin with `upstream_`. */
const UPSTREAM_CODES: ReadonlySet<string> = new Set(["stream_truncated", "provider_unavailable"]);

/** Reads the columns. They only grow. */
export function readTotals(metrics: Pick<MetricRegistry, "readOne">): Float64Array {
  const totals = new Float64Array(WIDTH);
  const read = (name: string): MetricReading["samples"] => metrics.readOne(name)?.samples ?? [];
  for (const { labels, value } of read(REQUEST_METRICS.requests.name)) {
    add(totals, COUNT_OF.requests, Number(value));
    if (labels[1] === CLIENT_GONE) add(totals, COUNT_OF.client_errors, Number(value));
  }
  for (const { labels, value } of read(REQUEST_METRICS.failures.name)) {
    const [, code = ""] = labels;
    if (!GONE_CODES.has(code)) add(totals, COUNT_OF[`${faultOf(code)}_errors`], Number(value));
  }
  for (const { value } of read(REQUEST_METRICS.cost.name))
    add(totals, COUNT_OF.nano_usd, Number(value));
  addHistogram(totals, FIRST_CONTENT_AT, read(REQUEST_METRICS.firstToken.name));
  addHistogram(totals, OVERHEAD_AT, read(REQUEST_METRICS.overhead.name));
  return totals;
}

/** Whose fault a failure is. An upstream that refuses a request says that the client is wrong. */
export function faultOf(code: string): "client" | "gateway" | "upstream" {
  const { status = 500 } = CODES[code] ?? {};
  if (UPSTREAM_CODES.has(code)) return "upstream";
  if (code.startsWith("upstream_") && (status >= 500 || status === 429)) return "upstream";
  return status >= 500 ? "gateway" : "client";
}

function addHistogram(totals: Float64Array, at: number, samples: MetricReading["samples"]): void {
  for (const { value } of samples) {
    const { counts } = value as HistogramReading;
    for (let index = 0; index < counts.length; index++)
      add(totals, at + index, counts[index] as number);
  }
}

function add(totals: Float64Array, at: number, amount: number): void {
  totals[at] = (totals[at] as number) + amount;
}

function ms(seconds: number): number {
  return seconds * 1_000;
}
