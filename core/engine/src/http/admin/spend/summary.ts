/** `GET /spend/summary`: all that a look at the spend of a span of time shows, in one answer. */

import type { AdminAnswer } from "@sluice/admin-api";
import type { LedgerReader, SpendGroup, SpendReportQuery, SpendSums } from "@sluice/contract";
import { invalidParameter, MAX_ROWS, readSpendReport, spendGroupMembers } from "@sluice/runtime";

type Summary = AdminAnswer<"GET /spend/summary">;

/** Groups that are shown. */
const MAX_GROUPS = 50;
const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** The questions of a summary. */
export interface SummaryQuery {
  readonly times: SpendReportQuery;
  readonly groups: SpendReportQuery;
  readonly before: SpendReportQuery;
}

/** Reads the parameters, which have their form. Throws `invalid_field` for a bad value. */
export function readSummary(parameters: URLSearchParams): SummaryQuery {
  const grouped = new URLSearchParams(parameters);
  grouped.delete("bucket");
  grouped.set("order", "spend");
  grouped.set("limit", String(MAX_GROUPS));
  const timed = new URLSearchParams(parameters);
  timed.delete("group_by");
  const { query: times } = readSpendReport(timed);
  const { query: groups } = readSpendReport(grouped);
  const { bucket, fromMs = 0, toMs = 0 } = times;
  if (bucket !== "none" && (toMs - fromMs) / BUCKET_MS[bucket] > MAX_ROWS)
    throw invalidParameter("to", `A summary has ${MAX_ROWS} hours or days at most.`);
  const beforeMs = fromMs - (toMs - fromMs);
  return {
    times,
    groups,
    before: { ...groups, fromMs: beforeMs, toMs: fromMs, limit: MAX_ROWS },
  };
}

/** Reads the sums. Rejects as the reader does. */
export async function makeSummary(
  query: SummaryQuery,
  ledger: Pick<LedgerReader, "report">,
  signal: AbortSignal,
): Promise<Summary> {
  const [times, groups, before] = await Promise.all([
    ledger.report(query.times, signal),
    ledger.report(query.groups, signal),
    ledger.report(query.before, signal),
  ]);
  const earlier = new Map(before.map((group) => [group.ids[0] ?? null, group]));
  const membersOf = (group: SpendGroup, of: SpendReportQuery): Record<string, unknown> =>
    spendGroupMembers(group, of);
  const timeOf = (ms = 0): string => new Date(ms).toISOString();
  return {
    from: timeOf(query.times.fromMs),
    to: timeOf(query.times.toMs),
    before_from: timeOf(query.before.fromMs),
    total: membersOf(totalOf(times), { ...query.times, bucket: "none" }) as Summary["total"],
    times: times.map((group) => {
      const { start, spend, lost_spend } = membersOf(group, query.times);
      return { start, spend, lost_spend } as Summary["times"][number];
    }),
    groups: groups.map((group) => {
      const same = earlier.get(group.ids[0] ?? null);
      return {
        ...membersOf(group, query.groups),
        spend_before: same === undefined ? null : membersOf(same, query.before)["spend"],
      } as Summary["groups"][number];
    }),
  };
}

/** The exact sums of all buckets. */
function totalOf(groups: readonly SpendGroup[]): SpendGroup {
  const sum = (name: keyof SpendSums): bigint =>
    groups.reduce((total, { sums }) => total + sums[name], 0n);
  return {
    startMs: null,
    ids: [],
    sums: {
      requests: sum("requests"),
      rows: sum("rows"),
      failedRows: sum("failedRows"),
      partialRows: sum("partialRows"),
      unpricedRows: sum("unpricedRows"),
      estimatedRows: sum("estimatedRows"),
      cacheHits: sum("cacheHits"),
      promptTokens: sum("promptTokens"),
      completionTokens: sum("completionTokens"),
      totalTokens: sum("totalTokens"),
      cachedTokens: sum("cachedTokens"),
      reasoningTokens: sum("reasoningTokens"),
      costNanoUsd: sum("costNanoUsd"),
      lostNanoUsd: sum("lostNanoUsd"),
    },
  };
}
