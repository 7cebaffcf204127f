/** Sums the cost of spend rows, day by day: what a budget begins with. */

import type { LedgerSumFilter } from "@sluice/spec";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { createStatementCache } from "./ledger-filter.ts";
import { createDaySpans } from "./ledger-spans.ts";

const WITH_TAG = "exists (select 1 from json_each(ledger.tags) each where each.value = ?)";
/** A target's id is `provider/model`, or the provider's name alone where no model was named. */
const OF_PROVIDER = "(target_id = ? or substr(target_id, 1, ?) = ?)";

/** Makes the sum of an open database. It yields empty batches while it adds up, then one number, in nano-dollars. */
export function createLedgerSum(database: DatabaseSync): (filter: LedgerSumFilter) => Generator<readonly number[]> {
  const spans = createDaySpans(database);
  const prepare = createStatementCache((sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  });

  return function* (filter) {
    const { tag, provider } = filter;
    const terms: string[] = [];
    const values: SQLInputValue[] = [];
    if (tag !== undefined) {
      terms.push(WITH_TAG);
      values.push(tag);
    }
    if (provider !== undefined) {
      terms.push(OF_PROVIDER);
      values.push(provider, provider.length + 1, `${provider}/`);
    }
    let sum = 0n;
    for (const { where, parameters } of spans(filter)) {
      const all = [where, ...terms].join(" and ");
      const row = prepare(`select sum(cost_nano_usd) as cost from ledger where ${all}`).get(...parameters, ...values);
      sum += (row?.["cost"] as bigint | null | undefined) ?? 0n;
      yield [];
    }
    yield [Number(sum)];
  };
}
