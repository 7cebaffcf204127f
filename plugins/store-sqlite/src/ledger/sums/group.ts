/** Groups of a report: read from a statement, and added up over days. */

import type { SpendGroup, SpendReportQuery, SpendSums } from "@sluice/contract";
import { DAY_MS, HOUR_MS } from "@sluice/store-sql/sums";

/** The members of sums, in the order of `AMOUNT_COLUMNS`. */
const MEMBERS = [
  "requests",
  "rows",
  "failedRows",
  "partialRows",
  "unpricedRows",
  "estimatedRows",
  "cacheHits",
  "promptTokens",
  "completionTokens",
  "totalTokens",
  "cachedTokens",
  "reasoningTokens",
  "costNanoUsd",
  "lostNanoUsd",
] as const satisfies readonly (keyof SpendSums)[];

/** The group of a row: hours where the query has them, ids, sums. `atMs` is a time of its day. */
export function readGroup(
  row: readonly unknown[],
  { by, bucket }: SpendReportQuery,
  atMs: number | null,
): SpendGroup {
  const isHourly = bucket === "hour";
  const ids = row.slice(isHourly ? 1 : 0, by.length + (isHourly ? 1 : 0));
  const amounts = row.slice(-MEMBERS.length);
  const sums = Object.fromEntries(MEMBERS.map((name, index) => [name, exact(amounts[index])]));
  return {
    startMs: isHourly
      ? Number(row[0]) * HOUR_MS
      : atMs === null
        ? null
        : Math.floor(atMs / DAY_MS) * DAY_MS,
    ids: ids.map((id) => (id === "" ? null : String(id))),
    sums: sums as unknown as SpendSums,
  };
}

/** A sum beyond 64 bits is a double. */
function exact(value: unknown): bigint {
  return typeof value === "bigint" ? value : BigInt(Math.trunc(Number(value ?? 0)));
}

/** Groups of several days, by their ids. */
export class Merged {
  #groups = new Map<string, SpendGroup>();

  get size(): number {
    return this.#groups.size;
  }

  add(group: SpendGroup): void {
    const name = group.ids.join("\0");
    const known = this.#groups.get(name);
    this.#groups.set(name, known === undefined ? group : { ...known, sums: plus(known, group) });
  }

  /** Drops what comes behind the first groups by their ids. */
  keepFirst(count: number): void {
    if (this.#groups.size <= count) return;
    const first = this.sorted(compareIds).slice(0, count);
    this.#groups = new Map(first.map((group) => [group.ids.join("\0"), group]));
  }

  sorted(compare: (a: SpendGroup, b: SpendGroup) => number): SpendGroup[] {
    return [...this.#groups.values()].sort(compare);
  }
}

function plus({ sums: a }: SpendGroup, { sums: b }: SpendGroup): SpendSums {
  return Object.fromEntries(
    MEMBERS.map((name) => [name, a[name] + b[name]]),
  ) as unknown as SpendSums;
}

/** By ids, byte by byte, as SQLite sorts texts. */
export function compareIds(a: SpendGroup, b: SpendGroup): number {
  for (const [index, id] of a.ids.entries()) {
    const other = b.ids[index] ?? "";
    if ((id ?? "") !== other) return Buffer.compare(Buffer.from(id ?? ""), Buffer.from(other));
  }
  return 0;
}

/** The highest cost first; among equals the one with more rows, then by ids. */
export function compareSpend(a: SpendGroup, b: SpendGroup): number {
  if (a.sums.costNanoUsd !== b.sums.costNanoUsd)
    return a.sums.costNanoUsd > b.sums.costNanoUsd ? -1 : 1;
  if (a.sums.rows !== b.sums.rows) return a.sums.rows > b.sums.rows ? -1 : 1;
  return compareIds(a, b);
}
