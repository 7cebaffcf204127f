/**
 * The UTC days of a filter that have rows, one after the other, so that no statement reads more
 * than one day.
 */

import type { LedgerFilter } from "@sluice/contract";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { createCompletionTimes } from "./completions.ts";
import { createStatementCache, idConditions } from "./filter.ts";

const DAY_MS = 86_400_000;

/** The part of one day that a filter means. */
export interface DaySpan {
  /** `2026-01-31`. */
  readonly date: string;
  /** The filter's condition with the bounds of the span, without the word `where`. */
  readonly where: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Makes the walk through the days of an open database, oldest first. */
export function createDaySpans(
  database: DatabaseSync,
): (filter: LedgerFilter) => Generator<DaySpan> {
  const prepare = createStatementCache((sql) => database.prepare(sql));
  const completionTimes = createCompletionTimes(database);

  return function* (filter) {
    const { terms, parameters, column } = idConditions(filter, completionTimes);
    const where = [...terms, `${column}started_at_ms >= ?`, `${column}started_at_ms < ?`].join(
      " and ",
    );
    const next = prepare(
      `select started_at_ms as at from ledger where ${where} order by started_at_ms limit 1`,
    );
    const toMs = filter.toMs ?? Number.MAX_SAFE_INTEGER;
    let fromMs = filter.fromMs ?? Number.MIN_SAFE_INTEGER;
    for (;;) {
      const first = next.get(...parameters, fromMs, toMs);
      if (first === undefined) return;
      const dayMs = Math.floor(Number(first["at"]) / DAY_MS) * DAY_MS;
      const endMs = Math.min(dayMs + DAY_MS, toMs);
      yield {
        date: new Date(dayMs).toISOString().slice(0, 10),
        where,
        parameters: [...parameters, Math.max(dayMs, fromMs), endMs],
      };
      fromMs = endMs;
    }
  };
}
