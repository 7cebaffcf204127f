/** 3,000 rows a second from three processes: no deadlock, and no row that waits for long. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { type Goals, quantile } from "./goals.ts";
import { openStore } from "./open-store.ts";
import type { WritePlan, Written } from "./write-rows.ts";

const WRITERS = 3;
const RATE = 3_000;
const KEYS = 2_000;
const SCRIPT = fileURLToPath(new URL("write-rows.ts", import.meta.url));

/** Writes for some minutes, and compares rows and sums with what was written. */
export async function proveWriters(
  cluster: PostgresCluster,
  goals: Goals,
  minutes: number,
): Promise<void> {
  await cluster.query("create database writers");
  const url = cluster.url("writers");
  const store = await openStore(url);
  const logStart = await logPosition(url);
  const plan: WritePlan = {
    url,
    rate: RATE / WRITERS,
    forMs: minutes * 60_000,
    keys: KEYS,
  };
  const written = await Promise.all(Array.from({ length: WRITERS }, () => run(plan)));
  const rows = written.reduce((sum, one) => sum + one.rows, 0);
  const lags = written.flatMap(({ lagsMs }) => lagsMs);
  const errors = written.flatMap((one) => one.errors);
  for (const error of new Set(errors)) console.log(`      ${error}`);
  const cpuMs = written.reduce((sum, one) => sum + one.cpuMs, 0);
  console.log(
    `      ${rows} rows, ${Math.round((cpuMs * 1_000) / rows)} µs of the processes' CPU a row; lag p50 ${quantile(lags, 0.5)} ms, p99 ${quantile(lags, 0.99)} ms`,
  );
  console.log(
    `      ${Math.round((await logPosition(url, logStart)) / rows)} bytes of the server's log a row`,
  );
  goals.atMost("rows that are missing", RATE * 60 * minutes - rows, 0, "");
  goals.atMost("failed inserts", errors.length, 0, "");
  goals.atMost("the longest lag", Math.max(...lags) / 1_000, 5, "s");
  goals.atMost("deadlocks", await deadlocks(url), 0, "");
  await printTables(url);
  const check = await store.verifySums?.({}, AbortSignal.timeout(600_000));
  goals.atMost("rows lost or doubled", Math.abs((check?.rows ?? 0) - rows), 0, "");
  goals.atMost(`differences of ${check?.sums} sums`, check?.total ?? Number.NaN, 0, "");
  await store.stop();
}

async function run(plan: WritePlan): Promise<Written> {
  const child = fork(SCRIPT, { execPath: process.execPath });
  child.send(plan);
  const [written] = (await once(child, "message")) as [Written];
  return written;
}

/** Bytes of the write-ahead log, from its begin or from a position. */
async function logPosition(url: string, from = 0): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ readonly bytes: string }>(
    "select pg_current_wal_lsn() - '0/0' as bytes",
  );
  await client.end();
  return Number(rows[0]?.bytes) - from;
}

async function deadlocks(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ readonly deadlocks: string }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  await client.end();
  return Number(rows[0]?.deadlocks);
}

/** What was written to each table, and how many of the updates wrote no index entry. */
async function printTables(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(
    `select relname as name, n_tup_ins as inserted, n_tup_upd as updated, n_tup_hot_upd as hot,
       pg_size_pretty(pg_table_size(relid)) as size, pg_size_pretty(pg_indexes_size(relid)) as indexes
     from pg_stat_user_tables where n_tup_ins + n_tup_upd > 1000 order by relname`,
  );
  await client.end();
  for (const { name, inserted, updated, hot, size, indexes } of rows)
    console.log(
      `      ${name}: ${inserted} inserted, ${updated} updated, ${hot} of them in place; ${size}, indexes ${indexes}`,
    );
}
