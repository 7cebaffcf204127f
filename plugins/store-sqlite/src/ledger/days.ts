/** Sums spend rows by UTC day, day by day. All sums are integers. */

import { GatewayError, type LedgerDay, type LedgerFilter } from "@sluice/contract";
import type { DatabaseSync } from "node:sqlite";
import { createStatementCache } from "./filter.ts";
import { createDaySpans } from "./spans.ts";

/**
 * Names in the maps of one batch of days, about: more would make the message to the main thread a
 * long one.
 */
const BATCH_NAMES = 2_000;
/**
 * Names in one report: some 50 MB of JSON. Clients choose the names of models, so there may be any
 * number of them.
 */
const MAX_NAMES = 1_000_000;

const SELECT = `
  select ifnull(model, ''), ifnull(user_id, ''), ifnull(key_id, ''),
    sum(case when attempt <= 1 then ifnull(requests, 1) else 0 end), count(distinct case when cost_nano_usd is null then request_id end),
    sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost_nano_usd)
  from ledger`;

type Group = [
  model: string,
  user: string,
  key: string,
  requests: bigint,
  unpriced: bigint,
  prompt: bigint | null,
  completion: bigint | null,
  total: bigint | null,
  cost: bigint | null,
];

/**
 * Makes the reader of an open database. It yields batches of days, oldest first, and an empty batch
 * after a day that can wait. It throws `invalid_field` when the report is too large.
 */
export function createLedgerDays(
  database: DatabaseSync,
): (filter: LedgerFilter) => Generator<readonly LedgerDay[]> {
  const spans = createDaySpans(database);
  const prepare = createStatementCache((sql) => {
    const statement = database.prepare(sql);
    // A sum over many rows may pass what a double holds exactly.
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  });

  return function* (filter) {
    let batch: LedgerDay[] = [];
    let names = 0;
    let left = MAX_NAMES;
    for (const { date, where, parameters } of spans(filter)) {
      const statement = prepare(`${SELECT} where ${where} group by model, user_id, key_id`);
      const day = sumUp(date, statement.all(...parameters) as unknown as readonly Group[]);
      batch.push(day);
      const size = 10 + day.models.size + day.users.size + day.keys.size;
      names += size;
      left -= size;
      if (left < 0) throw tooLarge();
      if (names < BATCH_NAMES) {
        yield [];
        continue;
      }
      yield batch;
      batch = [];
      names = 0;
    }
    yield batch;
  };
}

function sumUp(date: string, groups: readonly Group[]): LedgerDay {
  const models = new Map<string, bigint>();
  const users = new Map<string, bigint>();
  const keys = new Map<string, bigint>();
  const sums = [0n, 0n, 0n, 0n, 0n, 0n] as [bigint, bigint, bigint, bigint, bigint, bigint];
  for (const [model, user, key, ...numbers] of groups) {
    for (const [index, number] of numbers.entries())
      sums[index] = (sums[index] ?? 0n) + (number ?? 0n);
    const cost = numbers[5] ?? 0n;
    add(models, model, cost);
    add(users, user, cost);
    add(keys, key, cost);
  }
  const [requests, unpriced, prompt, completion, total, costNanoUsd] = sums;
  return {
    date,
    costNanoUsd,
    requests: Number(requests),
    unpricedRequests: Number(unpriced),
    promptTokens: Number(prompt),
    completionTokens: Number(completion),
    totalTokens: Number(total),
    models,
    users,
    keys,
  };
}

/**
 * A row without a name, a refusal whose body was not read for example, is in the day's sums only.
 */
function add(sums: Map<string, bigint>, name: string, cost: bigint): void {
  if (name !== "") sums.set(name, (sums.get(name) ?? 0n) + cost);
}

function tooLarge(): GatewayError {
  return new GatewayError(
    "invalid_field",
    `The report has more than ${MAX_NAMES} sums; ask for fewer days, or for one key or user.`,
  );
}
