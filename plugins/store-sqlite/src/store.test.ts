import type { KeyRecord, Log, Store, TeamRecord } from "@sluice/spec";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteStore } from "./store.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const signal = new AbortController().signal;

const key: KeyRecord = {
  id: "k1",
  digest: "ab".repeat(32),
  last4: "wxyz",
  alias: "laptop",
  models: ["gpt-4o", "claude"],
  maxBudgetNanoUsd: 5_000_000_000,
  budgetDuration: "30d",
  rpm: 10,
  tpm: null,
  maxParallelRequests: 2,
  expiresAtMs: 1_800_000_000_000,
  tags: ["a"],
  metadata: { nested: { list: [1, null] } },
  guardrails: ["pii"],
  userId: "u1",
  teamId: null,
  blocked: false,
  createdAtMs: 1_700_000_000_000,
};

const team: TeamRecord = {
  id: "t1",
  alias: "research",
  models: [],
  maxBudgetNanoUsd: null,
  budgetDuration: null,
  rpm: null,
  tpm: 1_000,
  maxParallelRequests: null,
  tags: [],
  metadata: {},
  blocked: true,
  createdAtMs: 1_700_000_000_000,
};

let directory: string;
let path: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-store-"));
  path = join(directory, "made/here/sluice.db");
  store = createSqliteStore({ path }, log);
  await store.start(signal);
});

afterEach(async () => {
  await store.stop();
  rmSync(directory, { recursive: true });
});

test("gives back keys as they were inserted, by id and by digest, after a restart too", async () => {
  await store.keys.insert(key);
  await store.keys.insert({ ...key, id: "k0", digest: "cd", createdAtMs: key.createdAtMs + 1 });
  await store.stop();
  await store.start(signal);
  expect(await store.keys.find("k1")).toEqual(key);
  expect(await store.keys.findByDigest(key.digest)).toEqual(key);
  expect(await store.keys.find("k2")).toBeUndefined();
  expect(await store.keys.findByDigest("ef")).toBeUndefined();
  expect((await store.keys.list()).map(({ id }) => id)).toEqual(["k1", "k0"]);
});

test("updates the members that are named, and only those", async () => {
  await store.keys.insert(key);
  const changes = { blocked: true, rpm: null, models: [], metadata: { note: "x" }, teamId: "t1", expiresAtMs: null };
  expect(await store.keys.update("k1", changes)).toEqual({ ...key, ...changes });
  expect(await store.keys.update("k1", {})).toEqual({ ...key, ...changes });
  expect(await store.keys.update("k2", { blocked: true })).toBeUndefined();
  expect(await store.keys.update("k1", { digest: "new", last4: "1234" })).toMatchObject({ digest: "new", last4: "1234" });
});

test("deletes keys, and says whether there was one", async () => {
  await store.keys.insert(key);
  expect(await store.keys.delete("k1")).toBe(true);
  expect(await store.keys.delete("k1")).toBe(false);
  expect(await store.keys.list()).toEqual([]);
});

test("refuses a key or team whose id is taken, and a digest that is taken", async () => {
  await store.keys.insert(key);
  await store.teams.insert(team);
  await expect(store.keys.insert({ ...key, digest: "other" })).rejects.toThrow("a key with the id k1 or the same digest exists");
  await expect(store.keys.insert({ ...key, id: "k2" })).rejects.toThrow("a key with the id k2 or the same digest exists");
  await expect(store.teams.insert(team)).rejects.toThrow("a team with the id t1 exists");
});

test("keeps teams as it keeps keys", async () => {
  await store.teams.insert(team);
  expect(await store.teams.find("t1")).toEqual(team);
  expect(await store.teams.list()).toEqual([team]);
  expect(await store.teams.update("t1", { blocked: false, tags: ["x"] })).toEqual({ ...team, blocked: false, tags: ["x"] });
  expect(await store.teams.update("t2", { blocked: false })).toBeUndefined();
  expect(await store.teams.delete("t1")).toBe(true);
  expect(await store.teams.delete("t1")).toBe(false);
});

test("takes NUL characters out of texts, lists and objects", async () => {
  await store.keys.insert({ ...key, alias: "a\0b", tags: ["x\0"], metadata: { "m\0": ["\0y"], path: "C:\\u0000" } });
  expect(await store.keys.find("k1")).toMatchObject({ alias: "ab", tags: ["x"], metadata: { m: ["y"], path: "C:\\u0000" } });
});

test("is safe to stop unstarted and twice, and says so when it is used closed", async () => {
  const closed = createSqliteStore({ path: ":memory:" }, log);
  await closed.stop();
  await closed.stop();
  await expect(closed.keys.list()).rejects.toThrow("is not open");
  await expect(closed.ledger.insert([])).rejects.toThrow("is not open");
});

test("refuses a schema of a newer version, names it, and leaves the file as it is", async () => {
  await store.stop();
  const database = new DatabaseSync(path);
  database.exec("insert into kysely_migration values ('0999_from_the_future', '2030-01-01T00:00:00Z')");
  database.close();
  await expect(store.start(signal)).rejects.toThrow(
    /made\/here\/sluice\.db was written by a newer version.*0999_from_the_future/,
  );
});

test("refuses a damaged file by name with a hint, and leaves it as it is", async () => {
  await store.stop();
  const damaged = join(directory, "damaged.db");
  writeFileSync(damaged, "not a database at all ".repeat(400));
  const other = createSqliteStore({ path: damaged }, log);
  await expect(other.start(signal)).rejects.toThrow(/damaged\.db is damaged or is no SQLite database.*move it away/);
  expect(readFileSync(damaged, "utf8")).toContain("not a database at all");
  await other.stop();
});

test("refuses a file that was cut, by name with a hint", async () => {
  await store.keys.insert(key);
  await store.stop();
  const bytes = readFileSync(path);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xff)]));
  await expect(store.start(signal)).rejects.toThrow(/sluice\.db is damaged/);
});

test("names a file that cannot be opened", async () => {
  const other = createSqliteStore({ path: join(path, "below-a-file.db") }, log);
  await expect(other.start(signal)).rejects.toThrow(/below-a-file\.db cannot be opened/);
});

test("does nothing when its start was aborted", async () => {
  const aborted = join(directory, "aborted.db");
  await expect(createSqliteStore({ path: aborted }, log).start(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  expect(existsSync(aborted)).toBe(false);
});
