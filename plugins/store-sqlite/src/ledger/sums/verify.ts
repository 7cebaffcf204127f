/** Compares the stored sums with the rows, a UTC day in each read transaction. */

import type { SumDifference, SumsCheck } from "@sluice/contract";
import { DAY_MS, HOUR_MS, TOTAL_MS } from "@sluice/store-sql/sums";
import { WEEK_DAYS, WEEK_MS } from "@sluice/store-sql/weeks";
import { existsSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { explainOpenError } from "../../open-database.ts";
import { createPrunedBefore } from "../prune.ts";
import { addAmounts, AMOUNT_COLUMNS, type LedgerValues, noAmounts } from "./amounts.ts";
import { type Summed, SumsOfRows } from "./collect.ts";
import { SELECT_SUMMED } from "./fill.ts";
import { createKnownIds } from "./ids.ts";
import { createNextWeek, weekOf } from "./weeks.ts";

/** Differences that are reported; the others are counted. */
const MAX_DIFFERENCES = 100;
/** How long a read waits for another process, in milliseconds. */
const BUSY_TIMEOUT_MS = 30_000;

/** A span of time: whole UTC days, the end is exclusive. */
export interface VerifiedSpan {
  readonly fromMs?: number;
  readonly toMs?: number;
}

interface Table {
  readonly name: string;
  /** The columns of the key. The one of time is named by `unit`. */
  readonly key: readonly string[];
  readonly unit: "hour" | "day" | "span" | "week";
  readonly unitMs: number;
  readonly amounts: readonly string[];
  /** Texts of a key, instead of ids. */
  readonly ids: string;
}

const CELL = `(select c.organization_id || ' ' || c.team_id || ' ' || c.user_id || ' ' || c.key_id || ' ' || m.model || ' ' || c.provider
  from spend_cell c join spend_model m on m.id = c.model_id where c.id = cell)`;

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

/** Its sums are compared with those by day, which are compared with the rows. */
const WEEKS = {
  name: "spend_week",
  key: ["week", "cell"],
  unit: "week",
  unitMs: WEEK_MS,
  amounts: AMOUNT_COLUMNS,
  ids: CELL,
} as const satisfies Table;

const DAYS_OF_WEEK = `select ${weekOf("day")}, cell, ${AMOUNT_COLUMNS.map((name) => `sum(${name})`).join(", ")} from spend_day
  where day >= ? * ${WEEK_DAYS} and day < (? + 1) * ${WEEK_DAYS} group by 1, 2`;

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
      "select 1 from sqlite_master where name in ('spend_fill', 'ledger_pruned', 'spend_rolled')",
    )
    .all();
  return tables.length === 3 && database.prepare("select 1 from spend_fill").get() === undefined;
}

type Keyed = Summed<readonly (string | number)[]>;

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
  readonly #differences: SumDifference[] = [];
  #rows = 0;
  #sums = 0;
  #total = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
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
    await this.#compareWeeks(fromMs, toMs, signal);
    return {
      rows: this.#rows,
      sums: this.#sums,
      differences: this.#differences,
      total: this.#total,
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
        this.#compareTable(
          table,
          expected[index] as Summed<readonly (string | number)[]>,
          fromMs,
          toMs,
        );
    } finally {
      this.#database.exec("rollback");
    }
  }

  /** The weeks of a span, also those whose rows are gone. */
  async #compareWeeks(
    fromMs = Number.MIN_SAFE_INTEGER,
    toMs = Number.MAX_SAFE_INTEGER,
    signal: AbortSignal,
  ): Promise<void> {
    const next = this.#database.prepare(
      `select min(week) as week from (select min(week) as week from spend_week where week >= ?
         union all select ${weekOf("min(day)")} from spend_day where day >= ? * ${WEEK_DAYS})`,
    );
    const nextWeek = createNextWeek(this.#database);
    for (let at = Math.floor(fromMs / WEEK_MS); ;) {
      signal.throwIfAborted();
      const week = next.get(at, at)?.["week"];
      if (typeof week !== "number" || week * WEEK_MS >= toMs) return;
      this.#database.exec("begin");
      try {
        this.#compareWeek(week, week < nextWeek());
      } finally {
        this.#database.exec("rollback");
      }
      at = week + 1;
      await yieldToLoop();
    }
  }

  #compareWeek(week: number, isRolled: boolean): void {
    const expected: Keyed = new Map();
    const days = this.#database.prepare(DAYS_OF_WEEK);
    days.setReturnArrays(true);
    days.setReadBigInts(true);
    for (const row of isRolled ? days.iterate(week, week) : []) {
      const [at, cell, ...amounts] = row as unknown as readonly bigint[];
      const key = [Number(at), Number(cell)];
      expected.set(key.join("\0"), { key, amounts });
    }
    this.#compareTable(WEEKS, expected, week * WEEK_MS, (week + 1) * WEEK_MS);
  }

  #compareTable(
    { name, key, unit, unitMs, amounts, ids }: Table,
    expected: Summed<readonly (string | number)[]>,
    fromMs: number,
    toMs: number,
  ): void {
    const stored: StatementSync = this.#database.prepare(
      `select ${[...key, ...amounts].join(", ")}, ${ids} from ${name} where ${unit} >= ? and ${unit} < ?`,
    );
    stored.setReturnArrays(true);
    stored.setReadBigInts(true);
    const at = key.indexOf(unit);
    for (const row of stored.iterate(fromMs / unitMs, toMs / unitMs)) {
      const values = row as unknown as readonly unknown[];
      const text = values.slice(0, key.length).join("\0");
      const sum = expected.get(text);
      expected.delete(text);
      this.#sums += 1;
      for (const [index, amount] of amounts.entries()) {
        const ofRows = BigInt(sum?.amounts[index] ?? 0);
        const found = values[key.length + index];
        if (found === ofRows) continue;
        this.#differ({
          sums: name,
          startMs: Number(values[at]) * unitMs,
          ids: [String(values.at(-1) ?? "")],
          amount,
          stored: typeof found === "bigint" ? found : BigInt(Math.trunc(Number(found ?? 0))),
          ofRows,
        });
      }
    }
    for (const sum of expected.values()) {
      this.#sums += 1;
      const others = sum.key.filter((_, place) => place !== at).map(String);
      for (const [index, amount] of amounts.entries()) {
        const ofRows = BigInt(sum.amounts[index] ?? 0);
        if (ofRows !== 0n)
          this.#differ({
            sums: name,
            startMs: Number(sum.key[at]) * unitMs,
            ids: others,
            amount,
            stored: 0n,
            ofRows,
          });
      }
    }
  }

  #differ(difference: SumDifference): void {
    this.#total += 1;
    if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push(difference);
  }
}
