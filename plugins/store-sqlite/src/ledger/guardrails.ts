/** Sums of what guardrails did, by day: written with the rows that say it, and read. */

import type { GuardrailCount, GuardrailDay, GuardrailDayQuery } from "@sluice/contract";
import { withoutNul } from "@sluice/store-sql/text";
import type { DatabaseSync } from "node:sqlite";
import { parseJson } from "@sluice/kit";
import { LEDGER_COLUMNS } from "./columns.ts";
import { AT, type LedgerValues } from "./sums/amounts.ts";

const DAY_MS = 86_400_000;

/** The table. Its names are those of the configuration. */
export const GUARDRAIL_DAYS = `create table guardrail_day (
  day integer not null, route text not null, guardrail text not null, direction text not null,
  verdict text not null, mode text not null, requests integer not null,
  primary key (day, route, guardrail, direction, verdict, mode)) without rowid`;

/** The counts of a row, behind the values of its columns. */
export function countsIn(row: LedgerValues): readonly GuardrailCount[] {
  const text = row[LEDGER_COLUMNS.length];
  return typeof text === "string" ? (parseJson(text) as readonly GuardrailCount[]) : [];
}

/** The values of the columns alone. */
export function columnsOf(row: LedgerValues): LedgerValues {
  return row.length > LEDGER_COLUMNS.length ? row.slice(0, LEDGER_COLUMNS.length) : row;
}

/** Prepares what adds the counts of rows, within their transaction. */
export function createGuardrailWriter(
  database: DatabaseSync,
): (rows: readonly LedgerValues[]) => void {
  const add = database.prepare(
    `insert into guardrail_day (day, route, guardrail, direction, verdict, mode, requests)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (day, route, guardrail, direction, verdict, mode)
     do update set requests = requests + excluded.requests`,
  );
  return (rows) => {
    // Most rows of a batch are of the same day and route: each sum is written once.
    const sums = new Map<string, { readonly day: number; readonly count: GuardrailCount }>();
    for (const row of rows) {
      const day = Math.floor(Number(row[AT.started_at_ms]) / DAY_MS);
      for (const count of countsIn(row)) {
        const { requests, ...names } = count;
        const name = JSON.stringify([day, Object.values(names)]);
        const known = sums.get(name)?.count.requests ?? 0;
        sums.set(name, { day, count: { ...count, requests: known + Math.trunc(requests) } });
      }
    }
    for (const { day, count } of sums.values()) {
      const { route, guardrail, direction, verdict, mode, requests } = count;
      add.run(day, withoutNul(route), withoutNul(guardrail), direction, verdict, mode, requests);
    }
  };
}

/** Makes the reader of an open database. The oldest day comes first. */
export function createGuardrailDays(
  database: DatabaseSync,
): (query: GuardrailDayQuery) => readonly GuardrailDay[] {
  let statement: ReturnType<DatabaseSync["prepare"]> | undefined;
  return ({ fromMs }) => {
    statement ??= database.prepare(
      `select day, route, guardrail, direction, verdict, mode, requests from guardrail_day
       where day >= ? order by day, route, guardrail, direction, verdict, mode`,
    );
    return statement.all(Math.floor(fromMs / DAY_MS)).map((found) => {
      const { day, ...names } = found as { day: number } & Omit<GuardrailDay, "date">;
      return { ...names, date: new Date(day * DAY_MS).toISOString().slice(0, 10) };
    });
  };
}
