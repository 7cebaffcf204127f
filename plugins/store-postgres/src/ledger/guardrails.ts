/** Sums of what guardrails did, by day: written with the rows that say it, and read. */

import type { GuardrailDay, GuardrailDayQuery, SpendRow } from "@sluice/contract";
import { withoutNul } from "@sluice/store-sql/text";
import type { PoolClient } from "pg";
import type { Reading } from "./read.ts";

const DAY_MS = 86_400_000;

/** The table. Each writer has rows of its own, so that none waits for another. */
export const GUARDRAIL_TABLES: readonly string[] = [
  `create table guardrail_day (
    day integer not null, route text not null collate "C", guardrail text not null collate "C",
    direction text not null collate "C", verdict text not null collate "C",
    mode text not null collate "C",
    writer smallint not null, requests bigint not null,
    primary key (day, route, guardrail, direction, verdict, mode, writer)) with (fillfactor = 80)`,
];

const ADD = `insert into guardrail_day
  (day, route, guardrail, direction, verdict, mode, requests, writer)
  select *, $8::smallint from unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[],
    $6::text[], $7::bigint[])
  on conflict (day, route, guardrail, direction, verdict, mode, writer)
  do update set requests = guardrail_day.requests + excluded.requests`;

type Cell = readonly [
  day: number,
  route: string,
  guardrail: string,
  direction: string,
  verdict: string,
  mode: string,
];

/** Adds the counts of rows, within their transaction, in the order of their keys. */
export async function writeGuardrailDays(
  client: PoolClient,
  rows: readonly SpendRow[],
  writer: number,
): Promise<void> {
  const sums = new Map<string, { readonly cell: Cell; requests: number }>();
  for (const { startedAtMs, judged = [] } of rows) {
    const day = Math.floor(startedAtMs / DAY_MS);
    for (const { route, guardrail, direction, verdict, mode, requests } of judged ?? []) {
      const cell: Cell = [day, withoutNul(route), withoutNul(guardrail), direction, verdict, mode];
      const name = JSON.stringify(cell);
      const sum = sums.get(name);
      if (sum === undefined) sums.set(name, { cell, requests });
      else sum.requests += requests;
    }
  }
  if (sums.size === 0) return;
  const found = [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  const columns = [0, 1, 2, 3, 4, 5].map((index) => found.map(({ cell }) => cell[index]));
  await client.query(ADD, [
    ...columns,
    found.map(({ requests }) => String(Math.trunc(requests))),
    writer,
  ]);
}

/** The sums of days, the oldest first. */
export async function readGuardrailDays(
  reading: Reading,
  { fromMs }: GuardrailDayQuery,
): Promise<readonly GuardrailDay[]> {
  const { rows } = await reading.query<
    { day: number; requests: string } & Omit<GuardrailDay, "date">
  >(
    `select day, route, guardrail, direction, verdict, mode, sum(requests)::text as requests
     from guardrail_day where day >= $1
     group by day, route, guardrail, direction, verdict, mode
     order by day, route, guardrail, direction, verdict, mode`,
    [Math.floor(fromMs / DAY_MS)],
  );
  return rows.map(({ day, requests, ...names }) => ({
    ...names,
    requests: Number(requests),
    date: new Date(day * DAY_MS).toISOString().slice(0, 10),
  }));
}
