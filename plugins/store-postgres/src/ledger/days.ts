/** Sums spend rows by UTC day and by tag. All sums are integers. */

import type { LedgerDay, LedgerFilter, LedgerTag, LedgerTagQuery } from "@sluice/contract";
import { conditionsOf } from "./filter.ts";
import type { Reading } from "./read.ts";
import { DAY_MS } from "./days-of-ids.ts";

type DayRow = Readonly<
  Record<"requests" | "unpriced" | "prompt" | "completion" | "total" | "cost", string>
> & {
  readonly day: number;
  readonly model: string;
  readonly user_id: string;
  readonly key_id: string;
};

const SUMS = `sum(case when attempt <= 1 then coalesce(requests, 1) else 0 end)::text as requests,
  count(distinct case when cost_nano_usd is null then request_id end)::text as unpriced,
  coalesce(sum(prompt_tokens), 0)::text as prompt, coalesce(sum(completion_tokens), 0)::text as completion,
  coalesce(sum(total_tokens), 0)::text as total, coalesce(sum(cost_nano_usd), 0)::text as cost`;

/** The days of a filter that have rows, oldest first. */
export async function readDays(
  reading: Reading,
  filter: LedgerFilter,
): Promise<readonly LedgerDay[]> {
  const { where, parameters } = conditionsOf(filter);
  const { rows } = await reading.query<DayRow>(
    `select floor(started_at_ms / ${DAY_MS}.0)::integer as day, coalesce(model, '') as model, coalesce(user_id, '') as user_id,
       coalesce(key_id, '') as key_id, ${SUMS} from ledger where ${where} group by 1, 2, 3, 4 order by 1`,
    parameters,
  );
  const byDay = Map.groupBy(rows, ({ day }) => day);
  return Array.from(byDay, ([day, groups]) => dayOf(day, groups));
}

function dayOf(day: number, groups: readonly DayRow[]): LedgerDay {
  const sum = (name: "requests" | "unpriced" | "prompt" | "completion" | "total"): number =>
    Number(groups.reduce((total, group) => total + BigInt(group[name]), 0n));
  const costs = (name: "model" | "user_id" | "key_id"): ReadonlyMap<string, bigint> => {
    const found = new Map<string, bigint>();
    for (const group of groups) {
      const id = group[name];
      // A row without a name is in the day's sums only.
      if (id !== "") found.set(id, (found.get(id) ?? 0n) + BigInt(group.cost));
    }
    return found;
  };
  return {
    date: new Date(day * DAY_MS).toISOString().slice(0, 10),
    costNanoUsd: groups.reduce((total, { cost }) => total + BigInt(cost), 0n),
    requests: sum("requests"),
    unpricedRequests: sum("unpriced"),
    promptTokens: sum("prompt"),
    completionTokens: sum("completion"),
    totalTokens: sum("total"),
    models: costs("model"),
    users: costs("user_id"),
    keys: costs("key_id"),
  };
}

/** The tags of a filter's rows, the highest cost first. */
export async function readTags(
  reading: Reading,
  { limit, ...filter }: LedgerTagQuery,
): Promise<readonly LedgerTag[]> {
  const { where, parameters } = conditionsOf(filter);
  const { rows } = await reading.query<
    Record<"tag" | "rows" | "unpriced" | "cost" | "tokens", string>
  >(
    `select tag collate "C" as tag, sum(coalesce(requests, 1))::text as rows, coalesce(sum(coalesce(requests, 1)) filter (where cost_nano_usd is null), 0)::text as unpriced,
       coalesce(sum(cost_nano_usd), 0)::text as cost, coalesce(sum(total_tokens), 0)::text as tokens
     from ledger cross join lateral jsonb_array_elements_text(tags) tag where tags is not null and ${where}
     group by 1 order by coalesce(sum(cost_nano_usd), 0) desc, sum(coalesce(requests, 1)) desc, 1
     ${limit === undefined ? "" : `limit ${Math.trunc(limit)}`}`,
    parameters,
  );
  return rows.map((row) => ({
    tag: row.tag,
    rows: Number(row.rows),
    unpricedRows: Number(row.unpriced),
    costNanoUsd: BigInt(row.cost),
    totalTokens: Number(row.tokens),
  }));
}
