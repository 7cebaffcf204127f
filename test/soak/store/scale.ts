/** 20,000,000 spend rows of 90 days: a list, a report and the begin of a budget. */

import type { Store } from "@sluice/contract";
import { Client } from "pg";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { type Goals, quantile, timed } from "./goals.ts";
import { makeRows } from "./made-rows.ts";
import { openStore } from "./open-store.ts";

const DAY_MS = 86_400_000;
const DAYS = 90;
const KEYS = 1_000;
const TEAMS = 50;
const TIMES = 40;

/** Makes the rows, and measures. */
export async function proveScale(
  cluster: PostgresCluster,
  goals: Goals,
  rows: number,
): Promise<void> {
  await cluster.query("create database scale");
  const url = cluster.url("scale");
  const store = await openStore(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  const endMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  try {
    const startMs = performance.now();
    await makeRows(client, { rows, days: DAYS, keys: KEYS, teams: TEAMS, endMs });
    const { rows: size } = await client.query<{ size: string; sums: string }>(
      "select pg_size_pretty(pg_database_size(current_database())) as size, (select count(*) from spend_hour)::text as sums",
    );
    await rollWeeks(store);
    await client.query("vacuum analyze spend_week, spend_total_week");
    const minutes = Math.round((performance.now() - startMs) / 6_000) / 10;
    console.log(
      `      ${rows} rows and ${size[0]?.sums} sums by hour, ${size[0]?.size}, in ${minutes} min`,
    );
    await measure(store, goals, endMs);
    const check = await store.verifySums?.(
      { fromMs: endMs - 2 * DAY_MS, toMs: endMs },
      AbortSignal.timeout(600_000),
    );
    goals.atMost(
      `differences of ${check?.sums} sums of two days`,
      check?.total ?? Number.NaN,
      0,
      "",
    );
  } finally {
    await client.end();
    await store.stop();
  }
}

/** Adds up the weeks that are over, as the leader does. */
async function rollWeeks({ jobs = [] }: Store): Promise<void> {
  const job = jobs.find(({ name }) => name === "weeks");
  const startMs = performance.now();
  const did = await job?.run({ keepLedgerMs: undefined, signal: AbortSignal.timeout(600_000) });
  console.log(`      ${did} in ${Math.round(performance.now() - startMs)} ms`);
}

async function measure({ ledger }: Store, goals: Goals, endMs: number): Promise<void> {
  const fromMs = endMs - DAYS * DAY_MS;
  const keyId = (index: number): string => `k${1 + ((index * 37) % (KEYS / 2))}`;
  const take = async (what: string, goal: number, work: (index: number) => Promise<unknown>) => {
    // The first calls connect and fill caches.
    await timed(3, work);
    const found = await timed(TIMES, work);
    goals.atMost(`${what}, p50`, quantile(found, 0.5), goal, "ms");
    console.log(`      p99 ${Math.round(quantile(found, 0.99))} ms`);
  };
  await take("the newest 100 rows of a key", 20, (index) =>
    ledger.rows({ keyId: keyId(index), limit: 100 }),
  );
  const span = { fromMs, toMs: endMs, limit: 1_000 };
  await take("a report of 90 days, of all by day", 100, () =>
    ledger.report({ by: [], bucket: "day", filter: {}, ...span }),
  );
  await take("a report of 90 days, by team", 100, () =>
    ledger.report({ by: ["team"], bucket: "none", filter: {}, ...span }),
  );
  await take("a report of 90 days, by key and model", 100, () =>
    ledger.report({ by: ["key", "model"], bucket: "none", filter: {}, ...span }),
  );
  await take("a report of 90 days, of a team by day and model", 100, (index) =>
    ledger.report({ by: ["model"], bucket: "day", filter: { team: `t${index % TEAMS}` }, ...span }),
  );
  const monthMs = endMs - 30 * DAY_MS;
  await take("the begin of a key's budget of 30 days", 10, (index) =>
    ledger.spent({ keyId: keyId(index), fromMs: monthMs }),
  );
  await take("the begin of a team's budget of 30 days", 10, (index) =>
    ledger.spent({ teamId: `t${index % TEAMS}`, fromMs: monthMs }),
  );
  await take("the begin of a customer's budget of 30 days", 10, (index) =>
    ledger.spent({ endUser: `c${index}`, fromMs: monthMs }),
  );
}
