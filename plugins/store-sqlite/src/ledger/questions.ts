/** The queries of the ledger's file, and the answers of an open database in batches. */

import type {
  GuardrailDay,
  GuardrailDayQuery,
  KeyUse,
  KeyUseQuery,
  LedgerDay,
  LedgerFilter,
  LedgerQuery,
  LedgerSumFilter,
  LedgerTag,
  LedgerTagQuery,
  SpendGroup,
  SpendReportQuery,
  SpendRow,
} from "@sluice/contract";
import { SUMS_MS } from "@sluice/store-sql/customers";
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { createLedgerDays } from "./days.ts";
import { createStatementCache } from "./filter.ts";
import { createGuardrailDays } from "./guardrails.ts";
import { createLedgerRows } from "./rows.ts";
import { createLedgerSum } from "./sum.ts";
import { createSpendReport } from "./sums/report.ts";
import { createLedgerTags } from "./tags.ts";
import { createKeyUses } from "./uses.ts";

/** A question that another thread can be sent. */
export type LedgerQuestion =
  | { readonly about: "rows"; readonly query: LedgerQuery }
  | { readonly about: "days"; readonly filter: LedgerFilter }
  | { readonly about: "tags"; readonly filter: LedgerTagQuery }
  | { readonly about: "report"; readonly query: SpendReportQuery }
  | { readonly about: "guardrails"; readonly query: GuardrailDayQuery }
  /** Sums of the first filters, in one batch: of all, unless that takes long. */
  | { readonly about: "spent"; readonly filters: readonly LedgerSumFilter[] }
  | { readonly about: "uses"; readonly keys: readonly KeyUseQuery[] }
  /** A list of records: a statement that only reads. */
  | {
      readonly about: "records";
      readonly sql: string;
      readonly parameters: readonly SQLInputValue[];
    };

/** A part of an answer. */
export type LedgerBatch = readonly (
  | SpendRow
  | LedgerDay
  | LedgerTag
  | SpendGroup
  | GuardrailDay
  | KeyUse
  | number
  | Readonly<Record<string, SQLOutputValue>>
)[];

/** Rows in one batch. */
const BATCH_ROWS = 250;

/**
 * Makes the answers of an open database. Between two batches, also empty ones, the caller may pause
 * or stop.
 */
export function createLedgerAnswers(
  database: DatabaseSync,
): (question: LedgerQuestion) => Iterable<LedgerBatch> {
  const rows = createLedgerRows(database);
  const days = createLedgerDays(database);
  const tags = createLedgerTags(database);
  const report = createSpendReport(database);
  const guardrails = createGuardrailDays(database);
  const spent = createLedgerSum(database);
  const uses = createKeyUses(database);
  const prepare = createStatementCache((sql) => database.prepare(sql));
  return (question) => {
    switch (question.about) {
      case "rows":
        return inBatches(rows(question.query));
      case "days":
        return days(question.filter);
      case "tags":
        return tags(question.filter);
      case "report":
        return report(question.query);
      case "guardrails":
        return inBatches(guardrails(question.query));
      case "spent":
        return inOne(question.filters.map((filter) => spent(filter)));
      case "uses":
        return uses(question.keys);
      case "records":
        return inBatches(prepare(question.sql).all(...question.parameters));
    }
  };
}

/**
 * The numbers of the first sums, at least of one, in the last batch; empty ones between, for a
 * pause.
 */
function* inOne(sums: readonly Iterable<readonly number[]>[]): Generator<readonly number[]> {
  const found: number[] = [];
  const endMs = performance.now() + SUMS_MS;
  for (const sum of sums) {
    for (const batch of sum) {
      found.push(...batch);
      yield [];
    }
    if (performance.now() >= endMs) break;
  }
  yield found;
}

function* inBatches<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    yield rows.slice(start, start + BATCH_ROWS);
}
