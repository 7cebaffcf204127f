import type { Log, SpendRow, Store } from "@sluice/contract";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEarlierStore } from "./earlier-store.fixture.ts";
import { key } from "./tenants/records.fixture.ts";
import { createSqliteStore } from "./store.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const signal = new AbortController().signal;

let directory: string;
let path: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-store-"));
  path = join(directory, "made/here/sluice.db");
  store = createSqliteStore({ path }, host);
  await store.start(signal);
});

function row(requestId: string, completionId: string | null): SpendRow {
  return {
    requestId,
    attempt: 1,
    keyId: "k1",
    startedAtMs: 1,
    endedAtMs: 2,
    completionId,
  } as unknown as SpendRow;
}

afterEach(async () => {
  await store.stop();
  rmSync(directory, { recursive: true });
});

test("takes NUL characters out of texts, lists and objects", async () => {
  await store.keys.insert({
    ...key,
    alias: "a\0b",
    tags: ["x\0"],
    metadata: { "m\0": ["\0y"], path: "C:\\u0000" },
  });
  expect(await store.keys.find("k1")).toMatchObject({
    alias: "ab",
    tags: ["x"],
    metadata: { m: ["y"], path: "C:\\u0000" },
  });
});

test("is safe to stop unstarted and twice, and says so when it is used closed", async () => {
  const closed = createSqliteStore({ path: ":memory:" }, host);
  await closed.stop();
  await closed.stop();
  expect(() => closed.keys).toThrow("is not open");
  await expect(closed.ledger.insert([])).rejects.toThrow("is not open");
});

test("refuses a schema of a newer version, names it, and leaves the file as it is", async () => {
  await store.stop();
  const database = new DatabaseSync(path);
  database.exec(
    "insert into kysely_migration values ('0999_from_the_future', '2030-01-01T00:00:00Z')",
  );
  database.close();
  await expect(store.start(signal)).rejects.toThrow(
    /made\/here\/sluice\.db was written by a newer version.*0999_from_the_future/,
  );
});

test("finds rows of before the upgrade, and rows of after it by the id of their completion", async () => {
  await store.stop();
  const earlier = join(directory, "earlier.db");
  const database = await openEarlierStore(earlier, "0009_upstream_ids");
  database.exec(
    "insert into ledger (request_id, attempt, key_id, started_at_ms) values ('old', 1, 'k', 0)",
  );
  database.close();
  store = createSqliteStore({ path: earlier }, host);
  await store.start(signal);
  await store.ledger.insert([row("new", "chatcmpl-1"), row("newer", "chatcmpl-2")]);
  const found = async (query: object) =>
    (await store.ledger.rows({ ...query, limit: 9 })).map(({ requestId }) => requestId);
  expect(await found({ requestId: "chatcmpl-1", completionId: "chatcmpl-1" })).toEqual(["new"]);
  expect(await found({ requestId: "old", completionId: "old" })).toEqual(["old"]);
  expect(await found({ completionId: "chatcmpl-1", keyId: "another" })).toEqual([]);
  const [old] = await store.ledger.rows({ requestId: "old", limit: 1 });
  expect([old?.completionId, old?.upstreamRequestId, old?.organizationId]).toEqual([
    null,
    null,
    null,
  ]);
});

test("refuses a damaged file by name with a hint, and leaves it as it is", async () => {
  await store.stop();
  const damaged = join(directory, "damaged.db");
  writeFileSync(damaged, "not a database at all ".repeat(400));
  const other = createSqliteStore({ path: damaged }, host);
  await expect(other.start(signal)).rejects.toThrow(
    /damaged\.db is damaged or is no SQLite database.*move it away/,
  );
  expect(readFileSync(damaged, "utf8")).toContain("not a database at all");
  await other.stop();
});

test("refuses a file that was cut, by name with a hint", async () => {
  await store.keys.insert(key);
  await store.stop();
  const bytes = readFileSync(path);
  writeFileSync(
    path,
    Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xff)]),
  );
  await expect(store.start(signal)).rejects.toThrow(/sluice\.db is damaged/);
});

test("names a file that cannot be opened", async () => {
  const other = createSqliteStore({ path: join(path, "below-a-file.db") }, host);
  await expect(other.start(signal)).rejects.toThrow(/below-a-file\.db cannot be opened/);
});

test("does nothing when its start was aborted", async () => {
  const aborted = join(directory, "aborted.db");
  await expect(
    createSqliteStore({ path: aborted }, host).start(AbortSignal.abort(new Error("late"))),
  ).rejects.toThrow("late");
  expect(existsSync(aborted)).toBe(false);
});
