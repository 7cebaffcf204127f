import {
  AUDIT_START,
  type AuditEntry,
  type AuditLine,
  auditText,
  type Log,
  type Store,
} from "@sluice/contract";
import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSqliteStore } from "../store.ts";
import { key, team } from "../tenants/records.fixture.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const signal = new AbortController().signal;

let directory: string;
let path: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-audit-"));
  path = join(directory, "sluice.db");
  store = createSqliteStore({ path }, host);
  await store.start(signal);
});

afterEach(async () => {
  await store.stop();
  rmSync(directory, { recursive: true });
});

function entry(object: string, parts: Partial<AuditEntry> = {}): AuditEntry {
  return {
    atMs: 1_900_000_000_123,
    actor: "master",
    userId: null,
    session: null,
    address: "127.0.0.1",
    action: "key.update",
    object,
    organizationId: null,
    teamId: null,
    outcome: "done",
    before: { rpm_limit: 1 },
    after: { rpm_limit: null, alias: "ü\u0000\u2028", 2: "b", 1: "a" },
    requestId: "r1",
    ...parts,
  };
}

async function linesOf(asked: Store = store): Promise<readonly AuditLine[]> {
  return (await asked.audit?.list({ order: "oldest", limit: 1_000 })) ?? [];
}

/** The first line that does not continue the chain; `undefined` when all do. */
function breakOf(lines: readonly AuditLine[]): number | undefined {
  let prevHash = AUDIT_START;
  for (const [index, line] of lines.entries()) {
    if (line.seq !== index + 1 || line.prevHash !== prevHash) return index + 1;
    if (hash("sha256", auditText(line), "hex") !== line.hash) return index + 1;
    prevHash = line.hash;
  }
  return undefined;
}

describe.each(["a file", "memory"])("the audit in %s", (place) => {
  test("has a line for each change, in the change's own transaction", async () => {
    const asked = place === "memory" ? createSqliteStore({ path: ":memory:" }, host) : store;
    if (place === "memory") await asked.start(signal);
    const audited = (object: string) => asked.audited?.(entry(object)) ?? asked;
    expect(await audited("team:t1").teams.insert(team)).toBe("added");
    expect(await audited("key:k1").keys.insert({ ...key, teamId: null })).toBe("added");
    // A conflict, a key that does not exist, and a change of nothing.
    expect(await audited("key:k1").keys.insert({ ...key, teamId: null })).toBe("taken");
    expect(await audited("key:none").keys.update("none", { rpm: 1 })).toBeUndefined();
    expect(await audited("key:none").keys.delete("none")).toBe(false);
    expect(await audited("key:k1").keys.update("k1", { rpm: 7 })).toMatchObject({ rpm: 7 });
    await asked.audit?.append(entry("key:k1", { outcome: "refused", before: null, after: null }));
    expect(await audited("team:t1").teams.delete("t1", "delete")).toMatchObject({
      outcome: "deleted",
    });
    const lines = await linesOf(asked);
    expect(lines.map(({ object, outcome }) => [object, outcome])).toEqual([
      ["team:t1", "done"],
      ["key:k1", "done"],
      ["key:k1", "done"],
      ["key:k1", "refused"],
      ["team:t1", "done"],
    ]);
    expect(lines[0]).toMatchObject(entry("team:t1"));
    expect(breakOf(lines)).toBeUndefined();
    expect(await asked.audit?.head()).toEqual({ seq: 5, hash: lines[4]?.hash });
    if (place === "memory") await asked.stop();
  });
});

test("two processes on one file write one chain, and no change is without its line", async () => {
  const second = createSqliteStore({ path }, host);
  await second.start(signal);
  await store.keys.insert({ ...key, teamId: null });
  const writes: Promise<unknown>[] = [];
  for (let round = 0; round < 60; round++) {
    const one = round % 2 === 0 ? store : second;
    writes.push(
      (one.audited?.(entry(`key:k1:${round}`)) ?? one).keys.update("k1", { rpm: round }),
      one.audit?.append(entry(`refusal:${round}`, { outcome: "refused" })) ??
        Promise.reject(new Error("the store has no audit")),
    );
  }
  await Promise.all(writes);
  const lines = await linesOf();
  expect(lines.length).toBe(120);
  expect(breakOf(lines)).toBeUndefined();
  await second.stop();
});

test("a line that cannot be written takes its change with it", async () => {
  await store.keys.insert({ ...key, teamId: null, rpm: 1 });
  const other = new DatabaseSync(path);
  other.exec(
    "create trigger full before insert on audit begin select raise(abort, 'no room'); end",
  );
  const { keys } = store.audited?.(entry("key:k1")) ?? store;
  await expect(keys.update("k1", { rpm: 2 })).rejects.toThrow("no room");
  await expect(keys.delete("k1")).rejects.toThrow("no room");
  await expect(store.audit?.append(entry("x"))).rejects.toThrow("no room");
  expect(await store.keys.find("k1")).toMatchObject({ rpm: 1 });
  other.exec("drop trigger full");
  other.close();
  expect(await keys.update("k1", { rpm: 2 })).toMatchObject({ rpm: 2 });
  expect(await linesOf()).toHaveLength(1);
});

test("lines are found by each filter, in both orders and by pages", async () => {
  const append = async (parts: Partial<AuditEntry>) => store.audit?.append(entry("o", parts));
  await append({ actor: "key_1", userId: "u1", teamId: "t1", atMs: 10 });
  await append({ action: "key.read", outcome: "refused", organizationId: "o1", atMs: 20 });
  await append({ object: "team:t2", teamId: "t2", atMs: 30 });
  const found = async (query: object) =>
    (await store.audit?.list({ order: "newest", limit: 9, ...query }))?.map(({ seq }) => seq);
  expect(await found({})).toEqual([3, 2, 1]);
  expect(await found({ order: "oldest", after: 1 })).toEqual([2, 3]);
  expect(await found({ after: 3, limit: 1 })).toEqual([2]);
  expect(await found({ actor: "key_1" })).toEqual([1]);
  expect(await found({ userId: "u1" })).toEqual([1]);
  expect(await found({ action: "key.read" })).toEqual([2]);
  expect(await found({ outcome: "refused" })).toEqual([2]);
  expect(await found({ object: "team:t2" })).toEqual([3]);
  expect(await found({ fromMs: 20, toMs: 30 })).toEqual([2]);
  const within = { organizations: ["o1"], teams: ["t2"], users: [] };
  expect(await found({ within })).toEqual([3, 2]);
  expect(await found({ within: { organizations: [], teams: [], users: ["u1"] } })).toEqual([]);
});

test("a line is not changed by a statement", async () => {
  await store.audit?.append(entry("x"));
  const other = new DatabaseSync(path);
  expect(() => other.exec("update audit set actor = 'y'")).toThrow("never changed");
  other.close();
});
