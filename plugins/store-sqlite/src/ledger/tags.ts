/** Sums of tags: of whole hours from the stored sums, else row by row. All sums are integers. */

import {
  GatewayError,
  type LedgerFilter,
  type LedgerTag,
  type LedgerTagQuery,
  type SpendGroup,
  type SpendReportQuery,
} from "@sluice/contract";
import { HOUR_MS } from "@sluice/store-sql/sums";
import type { DatabaseSync } from "node:sqlite";
import { createStatementCache } from "./filter.ts";
import { createDaySpans } from "./spans.ts";
import { createSpendReport } from "./sums/report.ts";

const BATCH_TAGS = 2_000;
/**
 * Different tags of one report: more would need more memory than the thread has, which ends every
 * report.
 */
const MAX_TAGS = 200_000;

const SELECT = `
  select each.value, sum(ifnull(requests, 1)), sum(iif(cost_nano_usd is null, ifnull(requests, 1), 0)), sum(cost_nano_usd), sum(total_tokens)
  from ledger, json_each(ledger.tags) each`;

type Group = [
  tag: string,
  rows: bigint,
  unpriced: bigint,
  cost: bigint | null,
  tokens: bigint | null,
];

type Sums = { -readonly [K in keyof LedgerTag]: LedgerTag[K] };

/**
 * Makes the reader of an open database. It yields empty batches while it sums up, then the tags,
 * highest cost first.
 */
export function createLedgerTags(
  database: DatabaseSync,
): (query: LedgerTagQuery) => Generator<readonly LedgerTag[]> {
  const spans = createDaySpans(database);
  const report = createSpendReport(database);
  const prepare = createStatementCache((sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  });

  /** Whole hours of scopes are read from the sums. */
  function* ofSums(query: SpendReportQuery): Generator<readonly LedgerTag[]> {
    for (const groups of report(query)) yield groups.map(toTag);
  }

  return function* ({ limit, ...filter }) {
    const query = reportQuery(filter, limit);
    if (query !== undefined) {
      yield* ofSums(query);
      return;
    }
    const found = new Map<string, Sums>();
    for (const { where, parameters } of spans(filter)) {
      const statement = prepare(
        `${SELECT} where ${where} and ledger.tags is not null group by each.value`,
      );
      for (const group of statement.all(...parameters) as unknown as readonly Group[])
        add(found, group);
      if (found.size > MAX_TAGS) throw tooLarge();
      yield [];
    }
    const tags = [...found.values()].sort(compareTags).slice(0, limit);
    for (let start = 0; start < tags.length; start += BATCH_TAGS)
      yield tags.slice(start, start + BATCH_TAGS);
  };
}

/** The report of a query; `undefined` where single rows must be read. */
function reportQuery(filter: LedgerFilter, limit = MAX_TAGS): SpendReportQuery | undefined {
  const { requestId, completionId, endUser, fromMs, toMs } = filter;
  const isWhole = [fromMs ?? 0, toMs ?? 0].every((atMs) => atMs % HOUR_MS === 0);
  if ([requestId, completionId, endUser].some((id) => id !== undefined) || !isWhole)
    return undefined;
  const { keyId, userId, teamId, organizationId } = filter;
  const ids = Object.entries({
    key: keyId,
    user: userId,
    team: teamId,
    organization: organizationId,
  }).filter(([, id]) => id !== undefined);
  if (ids.some(([, id]) => id === "")) return undefined;
  return {
    by: ["tag"],
    bucket: "none",
    order: "spend",
    filter: Object.fromEntries(ids),
    limit,
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
  };
}

function toTag({ ids: [tag], sums }: SpendGroup): LedgerTag {
  return {
    tag: tag ?? "",
    rows: Number(sums.rows),
    unpricedRows: Number(sums.unpricedRows),
    costNanoUsd: sums.costNanoUsd,
    totalTokens: Number(sums.totalTokens),
  };
}

function tooLarge(): GatewayError {
  return new GatewayError(
    "invalid_field",
    `The report has more than ${MAX_TAGS} different tags; ask for fewer days.`,
  );
}

function add(found: Map<string, Sums>, [value, rows, unpriced, cost, tokens]: Group): void {
  const tag = String(value);
  const sums = found.get(tag) ?? { tag, rows: 0, unpricedRows: 0, costNanoUsd: 0n, totalTokens: 0 };
  found.set(tag, sums);
  sums.rows += Number(rows);
  sums.unpricedRows += Number(unpriced);
  sums.costNanoUsd += cost ?? 0n;
  sums.totalTokens += Number(tokens ?? 0n);
}

/** Highest cost first; among equals the one with more rows, then by name. */
function compareTags(a: LedgerTag, b: LedgerTag): number {
  if (a.costNanoUsd !== b.costNanoUsd) return a.costNanoUsd > b.costNanoUsd ? -1 : 1;
  return b.rows - a.rows || (a.tag < b.tag ? -1 : 1);
}
