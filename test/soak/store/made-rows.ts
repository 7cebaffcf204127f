/** Millions of spend rows with their sums, made by the database itself. */

import type { Client } from "pg";

const DAY_MS = 86_400_000;
/** Of each key, in two models. */
export const MODELS = 2;

/** What is made. */
export interface MadeRows {
  readonly rows: number;
  readonly days: number;
  readonly keys: number;
  readonly teams: number;
  /** The end of the last day. */
  readonly endMs: number;
}

/**
 * Makes rows, the same number for each day, and their sums. Partitions are filled before their
 * indexes are made. Random values are those of a fixed seed.
 */
export async function makeRows(client: Client, made: MadeRows): Promise<void> {
  const { rows, days, keys, teams, endMs } = made;
  const perDay = Math.round(rows / days);
  await client.query("set synchronous_commit = off");
  await client.query("select setseed(0.5)");
  await client.query(
    `insert into spend_cell (organization_id, team_id, user_id, key_id, model, model_group, provider)
     select 'o' || k % 10, 't' || k % ${teams}, '', 'k' || k, 'm' || m, 'm' || m, 'openai'
     from generate_series(1, ${keys}) k, generate_series(1, ${MODELS}) m`,
  );
  for (let day = 0; day < days; day++) {
    const fromMs = endMs - (days - day) * DAY_MS;
    const name = `ledger_${new Date(fromMs).toISOString().slice(0, 10).replaceAll("-", "")}`;
    await client.query(`drop table if exists ${name}`);
    await client.query(`create table ${name} (like ledger including defaults)`);
    await client.query(
      `insert into ${name} (request_id, attempt, call_type, key_id, team_id, organization_id, end_user, model, target_id,
         model_group, provider, status, prompt_tokens, completion_tokens, total_tokens, cached_tokens, reasoning_tokens,
         usage_source, cost_nano_usd, cost_status, cache_hit, started_at_ms, first_content_at_ms, ended_at_ms, generation)
       select (lpad(to_hex(at), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid, 1, 'chat',
         'k' || k, 't' || k % ${teams}, 'o' || k % 10, 'c' || n % 5000, 'm' || m, 'openai/m' || m, 'm' || m, 'openai', 'success',
         100, 50, 150, 0, 0, 'provider', 1000 + n % 1000, 'priced', false, at, at + 300, at + 900, 1
       from (select n, ${fromMs}::bigint + (n::bigint * ${DAY_MS} / ${perDay}) as at, 1 + floor(random() * random() * ${keys})::integer as k,
         1 + n % ${MODELS} as m from generate_series(0, ${perDay - 1}) n) made`,
    );
    const bound = (ms: number): string => {
      const hex = ms.toString(16).padStart(12, "0");
      return `'${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000'`;
    };
    await client.query(
      `alter table ledger attach partition ${name} for values from (${bound(fromMs)}) to (${bound(fromMs + DAY_MS)})`,
    );
    await sumDay(client, name);
    if (day % 10 === 9) console.log(`      ${day + 1} days are made`);
  }
  await client.query("vacuum analyze");
}

const AMOUNTS = `count(*) as requests, count(*) as row_count, 0 as failed_rows, 0 as partial_rows, 0 as unpriced_rows, 0 as estimated_rows,
  0 as cache_hits, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(total_tokens) as total_tokens,
  0 as cached_tokens, 0 as reasoning_tokens, sum(cost_nano_usd) as nano_usd, 0 as lost_nano_usd`;
const AMOUNT_NAMES = [...AMOUNTS.matchAll(/ as (\w+)/g)].map(([, name]) => name).join(", ");

async function sumDay(client: Client, partition: string): Promise<void> {
  const ofCells = `from ${partition} l join spend_cell c on c.key_id = l.key_id and c.model = l.model`;
  await client.query(
    `insert into spend_hour (hour, cell, writer, ${AMOUNT_NAMES})
     select started_at_ms / 3600000, c.id, 1, ${AMOUNTS} ${ofCells} group by 1, 2`,
  );
  await client.query(
    `insert into spend_day (day, cell, writer, ${AMOUNT_NAMES})
     select started_at_ms / 86400000, c.id, 1, ${AMOUNTS} ${ofCells} group by 1, 2`,
  );
  await client.query(
    `insert into spend_customer_day (day, customer, cell, writer, ${AMOUNT_NAMES})
     select started_at_ms / 86400000, end_user, c.id, 1, ${AMOUNTS} ${ofCells} group by 1, 2, 3`,
  );
  await client.query(
    `insert into spend_total (subject, span, model, model_group, writer, nano_usd)
     select subject, started_at_ms / 900000, model, model_group, 1, sum(cost_nano_usd)
     from ${partition} cross join lateral (values ('all'), ('organization:' || organization_id), ('team:' || team_id), ('provider:openai')) s(subject)
     group by 1, 2, 3, 4`,
  );
}
