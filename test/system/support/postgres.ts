/** Databases of a test's own, on the server at 127.0.0.1:5432. */

import { randomBytes } from "node:crypto";
import { type Log, Secret, type Store } from "@sluice/contract";
import postgres, { type PostgresConfig } from "@sluice/store-postgres";
import { Client } from "pg";
import {
  isPgbouncerThere,
  type Pgbouncer,
  PGBOUNCER,
  startPgbouncer,
} from "./databases/pgbouncer.ts";

/** The server, without a database. */
export const SERVER = "postgresql://postgres@127.0.0.1:5432";
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

async function onServer(statement: string, database = "test"): Promise<void> {
  const client = new Client({
    connectionString: `${SERVER}/${database}`,
    connectionTimeoutMillis: 2_000,
  });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Whether a server answers. Suites that need one are skipped without it. */
export const isServerThere = await onServer("select 1").then(
  () => true,
  () => false,
);

/** The ways to the server. Suites that cannot go one are skipped, and their title names it. */
export const WAYS = [
  { way: "at 127.0.0.1:5432", isThere: isServerThere, pooled: false },
  { way: `behind ${PGBOUNCER}`, isThere: isServerThere && isPgbouncerThere, pooled: true },
] as const;

/** A database that is dropped at the end, and stores on it. */
export interface TestDatabase {
  readonly url: string;
  store(options?: Partial<PostgresConfig>): Promise<Store>;
  query(statement: string): Promise<void>;
  /** Ends all connections and lets none in, or lets them in again. */
  setAway(isAway: boolean): Promise<void>;
  drop(): Promise<void>;
}

/** Makes an empty database on one of the ways; the pooler ends with it. */
export async function createDatabaseOn({ pooled }: { pooled: boolean }): Promise<TestDatabase> {
  if (!pooled) return createDatabase();
  const pooler = await startPgbouncer();
  const database = await createDatabase(pooler);
  return {
    ...database,
    async drop() {
      await database.drop();
      await pooler.stop();
    },
  };
}

/** Makes an empty database. With a pooler, its stores are behind it. */
export async function createDatabase(pooler?: Pgbouncer): Promise<TestDatabase> {
  const name = `sluice_${randomBytes(6).toString("hex")}`;
  await onServer(`create database ${name}`);
  const url = `${pooler?.url ?? SERVER}/${name}`;
  const started: Store[] = [];
  return {
    url,
    async store(options = {}) {
      const store = postgres.create(
        {
          url: new Secret("url", url),
          pooler: pooler === undefined ? "none" : "transaction",
          connections: 4,
          migrate: "auto",
          ...options,
        },
        { log, clock, dataDirectory: "/nonexistent" },
      );
      started.push(store);
      await store.start(AbortSignal.timeout(30_000));
      return store;
    },
    query: async (statement) => onServer(statement, name),
    async setAway(isAway) {
      await onServer(`alter database ${name} with allow_connections ${String(!isAway)}`);
      if (isAway)
        await onServer(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        );
    },
    async drop() {
      for (const store of started) await store.stop();
      await onServer(`drop database ${name} with (force)`);
    },
  };
}
