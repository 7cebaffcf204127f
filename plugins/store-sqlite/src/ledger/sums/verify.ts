/** Compares the stored sums with the rows, a UTC day in each read transaction. */

import type { SumsCheck } from "@sluice/contract";
import { DAY_MS, HOUR_MS, TOTAL_MS } from "@sluice/store-sql/sums";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { explainOpenError } from "../../open-database.ts";
import { createPrunedBefore } from "../prune.ts";
import { CELL, type Keyed, type Table, TableComparison } from "./compare-table.ts";
import { addAmounts, AMOUNT_COLUMNS, type LedgerValues, noAmounts } from "./amounts.ts";
import { type Summed, SumsOfRows } from "./collect.ts";
import { SELECT_SUMMED } from "./fill.ts";
import { createKnownIds } from "./ids.ts";
import { compareWeeks } from "./weeks/verify.ts";

/** How long a read waits for another process, in milliseconds. */
const BUSY_TIMEOUT_MS = 30_000;

/** A span of time: whole UTC days, the end is exclusive. */
export interface VerifiedSpan {
  readonly fromMs?: number;
  readonly toMs?: number;
}

const TABLES = [
  {
    name: "spend_hour",
    key: ["hour", "cell"],
    unit: "hour",
    unitMs: HOUR_MS,
    amounts: AMOUNT_COLUMNS,
    ids: CELL,
  },
  {
    name: "spend_day",
    key: ["day", "cell"],
    unit: "day",
    unitMs: DAY_MS,
    amounts: AMOUNT_COLUMNS,
    ids: CELL,
  },
  {
    name: "spend_tag_hour",
    key: ["hour", "tag", "cell"],
    unit: "hour",
    unitMs: HOUR_MS,
    amounts: AMOUNT_COLUMNS,
    ids: `(select t.tag from spend_tag t where t.id = spend_tag_hour.tag) || ' ' || ${CELL}`,
  },
  {
    name: "spend_customer_day",
    key: ["day", "customer", "cell"],
    unit: "day",
    unitMs: DAY_MS,
    amounts: AMOUNT_COLUMNS,
    ids: `customer || ' ' || ${CELL}`,
  },
  {
    name: "spend_total",
    key: ["subject", "span", "model_id"],
    unit: "span",
    unitMs: TOTAL_MS,
    amounts: ["nano_usd"],
    ids: "subject || ' ' || (select model from spend_model m where m.id = model_id)",
  },
] as const satisfies readonly Table[];

/**
 * Compares the sums of a file. It may be in use. Rejects with the signal's reason, and with `Error`
 * that names a file that cannot be read.
 */
export async function verifySums(
  path: string,
  span: VerifiedSpan,
  signal: AbortSignal,
): Promise<SumsCheck> {
  if (!existsSync(path)) throw new Error(`there is no store file ${path}`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (!isFilled(database)) throw new UnfilledError(path);
    return await new SumsComparison(database).compare(span, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof UnfilledError ? error : explainOpenError(error, path);
  } finally {
    database?.close();
  }
}

class UnfilledError extends Error {
  constructor(path: string) {
    super(
      `the sums of the store file ${path} are not filled yet, or it is of an earlier version: start the gateway once`,
    );
  }
}

function isFilled(database: DatabaseSync): boolean {
  const tables = database
    .prepare(
      "select 1 from sqlite_master where name in ('spend_fill', 'ledger_pruned', 'spend_total_rolled')",
    )
    .all();
  return tables.length === 3 && database.prepare("select 1 from spend_fill").get() === undefined;
}

/** Sums by day of those by hour. */
function daysOf(hours: Summed<readonly [hour: number, cell: number]>): Keyed {
  const days: Keyed = new Map();
  for (const {
    key: [hour, cell],
    amounts,
  } of hours.values()) {
    const key = [Math.floor((hour * HOUR_MS) / DAY_MS), cell];
    const text = key.join("\0");
    const sum = days.get(text) ?? { key, amounts: noAmounts() };
    days.set(text, sum);
    addAmounts(sum.amounts, amounts);
  }
  return days;
}

/** One comparison over an open file. */
class SumsComparison {
  readonly #database: DatabaseSync;
  readonly #tables: TableComparison;
  #rows = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#tables = new TableComparison(database);
  }

  /** Compares the days that have rows or sums. */
  async compare({ fromMs, toMs }: VerifiedSpan, signal: AbortSignal): Promise<SumsCheck> {
    const end = toMs ?? Number.MAX_SAFE_INTEGER;
    const prunedMs = createPrunedBefore(this.#database)();
    let at = Math.max(fromMs ?? Number.MIN_SAFE_INTEGER, prunedMs);
    for (;;) {
      signal.throwIfAborted();
      const next = this.#nextDay(at, end);
      if (next === undefined) break;
      this.#compareDay(next, Math.min(next + DAY_MS, end));
      at = next + DAY_MS;
      await yieldToLoop();
    }
    await compareWeeks(this.#database, this.#tables, { fromMs, toMs }, signal);
    return {
      rows: this.#rows,
      ...this.#tables.found,
      ...(Number.isFinite(prunedMs) && { prunedBeforeMs: prunedMs }),
    };
  }

  /** The begin of the first day with rows or sums. */
  #nextDay(fromMs: number, toMs: number): number | undefined {
    const row = this.#database
      .prepare(
        "select started_at_ms as at from ledger where started_at_ms >= ? and started_at_ms < ? order by started_at_ms limit 1",
      )
      .get(fromMs, toMs);
    const times = TABLES.map(({ name, unit, unitMs }) =>
      this.#database
        .prepare(
          `select min(${unit}) * ${unitMs} as at from ${name} where ${unit} >= ? and ${unit} < ?`,
        )
        .get(fromMs / unitMs, toMs / unitMs),
    );
    const found = [row, ...times].map((one) => one?.["at"] ?? null).filter((at) => at !== null);
    if (found.length === 0) return undefined;
    return Math.floor(Math.min(...found.map(Number)) / DAY_MS) * DAY_MS;
  }

  #compareDay(fromMs: number, toMs: number): void {
    this.#database.exec("begin");
    try {
      const rowSums = new SumsOfRows();
      const rows = this.#database.prepare(SELECT_SUMMED);
      rows.setReturnArrays(true);
      for (const row of rows.iterate(fromMs, toMs)) {
        rowSums.add(row as unknown as LedgerValues);
        this.#rows += 1;
      }
      const sums = rowSums.byTable(createKnownIds(this.#database));
      const expected = [sums.hours, daysOf(sums.hours), sums.tags, sums.customers, sums.totals];
      for (const [index, table] of TABLES.entries())
        this.#tables.compare(table, expected[index] as Keyed, fromMs, toMs);
    } finally {
      this.#database.exec("rollback");
    }
  }
}
