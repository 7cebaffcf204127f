/**
 * The answer of `GET /spend/report`, as JSON or CSV. It is written in pieces, so that the event
 * loop serves other requests between them.
 */

import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { JsonObject, LedgerReader, SpendGroup, SpendReportQuery } from "@sluice/contract";
import { dollarsOf } from "../money/dollars.ts";
import { cursorText, SPEND_REPORT_COLUMNS, type SpendReportRequest } from "./report-query.ts";

/** Groups of one piece: about a millisecond of work. */
const TURN_GROUPS = 200;
const NANO_DIGITS = 9;

/** A report as a body. */
export interface SpendReportText {
  readonly type: "application/json; charset=utf-8" | "text/csv; charset=utf-8";
  readonly text: string;
  /** The `cursor` of the next page; absent after the last one. */
  readonly next?: string;
}

/** Reads the groups of a page and writes them. Rejects as the reader does. */
export async function makeSpendReport(
  { query, format }: SpendReportRequest,
  ledger: Pick<LedgerReader, "report">,
  signal?: AbortSignal,
): Promise<SpendReportText> {
  // One additional group shows whether there is another page.
  const found = await ledger.report({ ...query, limit: query.limit + 1 }, signal);
  const groups = found.slice(0, query.limit);
  const last = groups.at(-1);
  const isPaged = query.order !== "spend" && found.length > groups.length && last !== undefined;
  const next = isPaged ? { next: cursorText(last) } : {};
  const { from, to } = {
    from: isoOf(query.fromMs),
    to: isoOf(query.toMs),
  };
  if (format === "csv") {
    const lines = await inTurns(groups, (group) => csvLine(Object.values(columnsOf(group, query))));
    const header = csvLine(columnNames(query));
    return { type: "text/csv; charset=utf-8", text: [header, ...lines, ""].join("\r\n"), ...next };
  }
  const data = await inTurns(groups, (group) => JSON.stringify(spendGroupMembers(group, query)));
  const head = JSON.stringify({
    group_by: query.by,
    bucket: query.bucket,
    time_zone: "UTC",
    from,
    to,
    next_cursor: next.next ?? null,
  });
  return {
    type: "application/json; charset=utf-8",
    text: `${head.slice(0, -1)},"data":[${data.join(",")}]}`,
    ...next,
  };
}

function isoOf(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

async function inTurns(
  groups: readonly SpendGroup[],
  write: (group: SpendGroup) => string,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const group of groups) {
    texts.push(write(group));
    if (texts.length % TURN_GROUPS === 0) await yieldToLoop();
  }
  return texts;
}

/** The members of a group in JSON: its ids, its amounts in dollars and exactly, its counts. */
export function spendGroupMembers(group: SpendGroup, query: SpendReportQuery): JsonObject {
  const { sums } = group;
  return {
    ...idsOf(group, query),
    spend: dollarsOf(sums.costNanoUsd),
    lost_spend: dollarsOf(sums.lostNanoUsd),
    spend_nano_usd: String(sums.costNanoUsd),
    ...Object.fromEntries(countsOf(group).map(([name, count]) => [name, Number(count)])),
  };
}

/** What a group is of, by the names of the interface. */
function idsOf(
  { startMs, ids, keyAlias }: SpendGroup,
  { by, bucket }: SpendReportQuery,
): JsonObject {
  const named = by.flatMap((name, index): [string, string | null][] => {
    const id: [string, string | null] = [SPEND_REPORT_COLUMNS[name], ids[index] ?? null];
    return name === "key" ? [id, ["key_alias", keyAlias ?? null]] : [id];
  });
  return {
    ...(bucket !== "none" && { start: isoOf(startMs ?? 0) }),
    ...Object.fromEntries(named),
  };
}

function countsOf({ sums }: SpendGroup): readonly (readonly [string, bigint])[] {
  return [
    ["requests", sums.requests],
    ["rows", sums.rows],
    ["failed_rows", sums.failedRows],
    ["partial_rows", sums.partialRows],
    ["unpriced_rows", sums.unpricedRows],
    ["estimated_rows", sums.estimatedRows],
    ["cache_hits", sums.cacheHits],
    ["prompt_tokens", sums.promptTokens],
    ["completion_tokens", sums.completionTokens],
    ["total_tokens", sums.totalTokens],
    ["cached_tokens", sums.cachedTokens],
    ["reasoning_tokens", sums.reasoningTokens],
  ];
}

/** Columns by name: amounts are exact decimals. */
function columnsOf(group: SpendGroup, query: SpendReportQuery): Readonly<Record<string, string>> {
  const ids = Object.entries(idsOf(group, query)).map(([name, id]) => [name, String(id ?? "")]);
  const { costNanoUsd, lostNanoUsd } = group.sums;
  return {
    ...(Object.fromEntries(ids) as Readonly<Record<string, string>>),
    spend: exactDollars(costNanoUsd),
    lost_spend: exactDollars(lostNanoUsd),
    ...Object.fromEntries(countsOf(group).map(([name, count]) => [name, String(count)])),
  };
}

const NO_SUMS = {
  requests: 0n,
  rows: 0n,
  failedRows: 0n,
  partialRows: 0n,
  unpricedRows: 0n,
  estimatedRows: 0n,
  cacheHits: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
  totalTokens: 0n,
  cachedTokens: 0n,
  reasoningTokens: 0n,
  costNanoUsd: 0n,
  lostNanoUsd: 0n,
};

function columnNames(query: SpendReportQuery): readonly string[] {
  return Object.keys(columnsOf({ startMs: 0, ids: [], sums: NO_SUMS }, query));
}

function exactDollars(nanoUsd: bigint): string {
  const digits = String(nanoUsd < 0n ? -nanoUsd : nanoUsd).padStart(NANO_DIGITS + 1, "0");
  const sign = nanoUsd < 0n ? "-" : "";
  return `${sign}${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`;
}

/**
 * A line of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe
 * before it, as OWASP's page on CSV injection says: clients choose models and tags.
 */
function csvLine(fields: readonly string[]): string {
  return fields
    .map((field) => {
      const text =
        /^[=+\-@\t\r]/.test(field) && !/^-?\d+(?:\.\d+)?$/.test(field) ? `'${field}` : field;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(",");
}
