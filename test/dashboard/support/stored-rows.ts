/** Spend rows of the past in a SQLite store, written by the store itself before a gateway starts. */

import { join } from "node:path";
import type { Log, SpendRow } from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";

const quiet: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const BATCH = 1_000;
const START_MS = 60_000;

/** What differs between rows. */
export interface PastRow {
  /** Makes the id of the request unique. */
  readonly index: number;
  readonly atMs: number;
  readonly key: string;
  readonly team: string | null;
  readonly model: string;
  readonly dollars: number;
  readonly isFailed?: boolean;
}

/** Writes rows into the store of a data folder. */
export async function storeRows(dataDirectory: string, rows: Iterable<PastRow>): Promise<void> {
  const store = sqlite.create(
    { path: join(dataDirectory, "sluice.db") },
    { log: quiet, clock, dataDirectory },
  );
  await store.start(AbortSignal.timeout(START_MS));
  try {
    let batch: SpendRow[] = [];
    for (const row of rows) {
      if (batch.push(rowOf(row)) < BATCH) continue;
      await store.ledger.insert(batch);
      batch = [];
    }
    if (batch.length > 0) await store.ledger.insert(batch);
  } finally {
    await store.stop();
  }
}

/** A UUID of version 7: lists go by the time in it. */
function idOf(atMs: number, index: number): string {
  const time = Math.round(atMs).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${index.toString(16).padStart(12, "0")}`;
}

function rowOf({ index, atMs, key, team, model, dollars, isFailed = false }: PastRow): SpendRow {
  return {
    requestId: idOf(atMs, index),
    attempt: 1,
    callType: "chat",
    keyId: `key_${key}`,
    keyAlias: key,
    userId: null,
    teamId: team,
    organizationId: null,
    endUser: null,
    model,
    targetId: `openai/${model}`,
    modelGroup: model,
    provider: "openai",
    status: isFailed ? "failure" : "success",
    errorCode: isFailed ? "upstream_overloaded" : null,
    promptTokens: 120,
    completionTokens: 40,
    totalTokens: 160,
    cachedTokens: 0,
    reasoningTokens: 0,
    usageSource: "provider",
    costNanoUsd: Math.round(dollars * 1e9),
    costStatus: "priced",
    cacheHit: false,
    startedAtMs: atMs,
    firstContentAtMs: atMs + 300,
    endedAtMs: atMs + 900,
    generation: 1,
    tags: [],
    metadata: {},
    clientAddress: "127.0.0.1",
    upstreamRequestId: null,
    completionId: null,
  };
}
