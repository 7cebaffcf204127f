/**
 * Sums the cost of spend rows: what a budget begins with. Whole spans are read from the totals, the
 * rest row by row.
 */

import type { LedgerSumFilter } from "@sluice/contract";
import type { DatabaseSync } from "node:sqlite";
import { createStatementCache, modelConditions } from "./filter.ts";
import { createDaySpans } from "./spans.ts";
import { TOTAL_MS } from "./totals.ts";

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
  const prepare = createStatementCache((sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  });

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
      const row = prepare(`select sum(cost_nano_usd) as cost from ledger where ${all}`).get(
        ...parameters,
        ...values,
      );
      sum += (row?.["cost"] as bigint | null | undefined) ?? 0n;
      yield [];
    }
    return sum;
  }

  return function* (filter) {
    const subject = subjectOf(filter);
    if (subject === undefined) {
      yield [Number(yield* ofRows(filter))];
      return;
    }
    const { fromMs = 0 } = filter;
    const span = Math.ceil(fromMs / TOTAL_MS);
    const row = prepare(
      "select sum(nano_usd) as cost from spent where subject = ? and span >= ?",
    ).get(subject, span);
    let sum = (row?.["cost"] as bigint | null | undefined) ?? 0n;
    if (span * TOTAL_MS > fromMs)
      sum += yield* ofRows({ ...filter, fromMs, toMs: span * TOTAL_MS });
    yield [Number(sum)];
  };
}

/**
 * The subject of the totals that a filter means; `undefined` where it has another bound or more
 * than one subject.
 */
function subjectOf(filter: LedgerSumFilter): string | undefined {
  const { requestId, completionId, toMs, keyId, userId, teamId, tag, provider } = filter;
  if ([filter.organizationId, filter.endUser, filter.models].some((one) => one !== undefined))
    return undefined;
  if (requestId !== undefined || completionId !== undefined || toMs !== undefined) return undefined;
  const subjects = Object.entries({ key: keyId, user: userId, team: teamId, tag, provider }).filter(
    ([, id]) => id !== undefined,
  );
  const [first] = subjects;
  if (subjects.length > 1 || provider?.includes("/") === true) return undefined;
  return first === undefined ? "all" : `${first[0]}:${first[1]}`;
}
