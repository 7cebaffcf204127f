/**
 * Sums the cost of spend rows: what a budget begins with. Whole spans are read from the stored
 * sums, the edges row by row.
 */

import type { LedgerSumFilter } from "@sluice/contract";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { createPrunedBefore } from "./prune.ts";
import { createStatementCache, modelConditions } from "./filter.ts";
import { createDaySpans } from "./spans.ts";
import { sumSource } from "./sums/source.ts";

const WITH_TAG = "exists (select 1 from json_each(ledger.tags) each where each.value = ?)";
/** A target's id is `provider/model`, or the provider's name alone where no model was named. */
const OF_PROVIDER = "(target_id = ? or substr(target_id, 1, ?) = ?)";

/**
 * Makes the sum of an open database. It yields empty batches while it adds up, then one number, in
 * nano-dollars.
 */
export function createLedgerSum(
  database: DatabaseSync,
): (filter: LedgerSumFilter) => Generator<readonly number[]> {
  const spans = createDaySpans(database);
  const prunedBefore = createPrunedBefore(database);
  const prepare = createStatementCache((sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  });
  const sumOf = (sql: string, parameters: readonly SQLInputValue[]): bigint =>
    (prepare(sql).get(...parameters)?.["cost"] as bigint | null | undefined) ?? 0n;

  function* ofRows(filter: LedgerSumFilter): Generator<readonly never[], bigint> {
    const { tag, provider, models } = filter;
    const { terms, parameters: values } = modelConditions(models);
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
      sum += sumOf(`select sum(cost_nano_usd) as cost from ledger where ${all}`, [
        ...parameters,
        ...values,
      ]);
      yield [];
    }
    return sum;
  }

  return function* (filter) {
    const source = sumSource(filter);
    const { fromMs = -Infinity, toMs = Infinity } = filter;
    // Where rows may be gone, a whole unit stands for its part: no budget gets more than it has.
    const prunedMs = prunedBefore();
    const roundUp = fromMs < prunedMs ? Math.floor : Math.ceil;
    const roundDown = toMs < prunedMs ? Math.ceil : Math.floor;
    const first = roundUp(fromMs / (source?.unitMs ?? 1));
    const end = roundDown(toMs / (source?.unitMs ?? 1));
    if (source === undefined || first >= end) {
      yield [Number(yield* ofRows(filter))];
      return;
    }
    const { unitMs } = source;
    const { sql, parameters } = source.select(first, end);
    let sum = sumOf(sql, parameters);
    if (first * unitMs > fromMs) sum += yield* ofRows({ ...filter, fromMs, toMs: first * unitMs });
    if (end * unitMs < toMs) sum += yield* ofRows({ ...filter, fromMs: end * unitMs, toMs });
    yield [Number(sum)];
  };
}
