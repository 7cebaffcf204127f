import type { Log, Store } from "@sluice/contract";
import { fleetStoreContract } from "@sluice/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSqliteStore } from "../store.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const directory = mkdtempSync(join(tmpdir(), "sluice-fleet-"));
const started: Store[] = [];

async function startedAt(path: string): Promise<Store> {
  const store = createSqliteStore({ path }, host);
  started.push(store);
  await store.start(new AbortController().signal);
  return store;
}

afterAll(async () => {
  for (const store of started) await store.stop();
  rmSync(directory, { recursive: true });
});

fleetStoreContract({ describe, it, expect }, "two processes on one SQLite file", async () => {
  const file = join(directory, `${started.length}.db`);
  return [await startedAt(file), await startedAt(file)];
});

it("a store in memory has no fleet: it belongs to its process", async () => {
  const { instances, rollouts } = await startedAt(":memory:");
  expect([instances, rollouts]).toEqual([undefined, undefined]);
});
