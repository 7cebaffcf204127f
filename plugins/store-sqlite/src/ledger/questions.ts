/** The queries of the ledger's file, and the answers of an open database in batches. */

import type {
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
import type { DatabaseSync } from "node:sqlite";
import { createLedgerDays } from "./days.ts";
import { createLedgerRows } from "./rows.ts";
import { createLedgerSum } from "./sum.ts";
import { createSpendReport } from "./sums/report.ts";
import { createLedgerTags } from "./tags.ts";

/** A question that another thread can be sent. */
export type LedgerQuestion =
  | { readonly about: "rows"; readonly query: LedgerQuery }
  | { readonly about: "days"; readonly filter: LedgerFilter }
  | { readonly about: "tags"; readonly filter: LedgerTagQuery }
  | { readonly about: "report"; readonly query: SpendReportQuery }
  | { readonly about: "spent"; readonly filter: LedgerSumFilter };

/** A part of an answer. */
export type LedgerBatch = readonly (SpendRow | LedgerDay | LedgerTag | SpendGroup | number)[];

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
  const spent = createLedgerSum(database);
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
      case "spent":
        return spent(question.filter);
    }
  };
}

function* inBatches(rows: readonly SpendRow[]): Generator<readonly SpendRow[]> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    yield rows.slice(start, start + BATCH_ROWS);
}
