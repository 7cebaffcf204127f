/** Stores of tests: a file of SQLite, and databases of PostgreSQL. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SpendRow, Store } from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A place of a store. */
export interface Place {
  readonly store: Store;
  /** Of the database, where it is one. */
  readonly url?: string;
  /** Runs a statement beside the store. */
  query(text: string): Promise<void>;
  close(): Promise<void>;
}

async function fileOf(): Promise<Place> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "sluice-places-"));
  const store = sqlite.create({}, { log, clock, dataDirectory });
  await store.start(AbortSignal.timeout(30_000));
  return {
    store,
    async query(text) {
      const database = new DatabaseSync(join(dataDirectory, "sluice.db"));
      database.exec(text);
      database.close();
    },
    async close() {
      await store.stop();
      rmSync(dataDirectory, { recursive: true });
    },
  };
}

async function databaseOf(pooled: boolean): Promise<Place> {
  const database: TestDatabase = await createDatabaseOn({ pooled });
  return {
    store: await database.store(),
    url: database.url,
    query: (text) => database.query(text),
    close: () => database.drop(),
  };
}

/** A row that began at a time; its id is of the same time. */
export function rowAt(timeMs: number, parts: Partial<SpendRow> = {}): SpendRow {
  const hex = timeMs.toString(16).padStart(12, "0");
  return {
    requestId: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`,
    attempt: 1,
    callType: "chat",
    keyId: "k",
    keyAlias: null,
    userId: null,
    teamId: "t",
    organizationId: null,
    endUser: "c",
    model: "m",
    targetId: "p/m",
    modelGroup: "m",
    provider: "openai",
    status: "success",
    errorCode: null,
    promptTokens: 1,
    completionTokens: 1,
    totalTokens: 2,
    cachedTokens: 0,
    reasoningTokens: 0,
    usageSource: "provider",
    costNanoUsd: 100,
    costStatus: "priced",
    cacheHit: false,
    startedAtMs: timeMs,
    firstContentAtMs: timeMs,
    endedAtMs: timeMs,
    generation: 1,
    tags: ["x"],
    metadata: {},
    clientAddress: null,
    upstreamRequestId: null,
    completionId: null,
    ...parts,
  } as SpendRow;
}

/** The places. Suites that cannot reach one are skipped. */
export const PLACES = [
  { name: "a file of SQLite", isThere: true, isDirect: false, make: fileOf },
  ...WAYS.map(({ way, isThere, pooled }) => ({
    name: `PostgreSQL ${way}`,
    isThere,
    isDirect: !pooled,
    make: () => databaseOf(pooled),
  })),
];
