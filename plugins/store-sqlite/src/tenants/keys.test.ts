import type { KeyRecord, Log, Store } from "@sluice/contract";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openEarlierStore } from "../earlier-store.fixture.ts";
import { key, team } from "./records.fixture.ts";
import { createSqliteStore } from "../store.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const signal = new AbortController().signal;

let directory: string;
let path: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-keys-"));
  path = join(directory, "sluice.db");
  store = createSqliteStore({ path }, host);
  await store.start(signal);
});

afterEach(async () => {
  await store.stop();
  rmSync(directory, { recursive: true });
});

/** Another key, whose unique members no other has. */
function other(id: string, parts: Partial<KeyRecord> = {}): KeyRecord {
  return {
    ...key,
    id,
    digest: `digest of ${id}`,
    previousDigest: null,
    previousUntilMs: null,
    alias: null,
    ...parts,
  };
}

describe("keys", () => {
  test("come back as they were inserted, by id and by both digests, after a restart too", async () => {
    expect(await store.keys.insert(key)).toBe("added");
    await store.stop();
    await store.start(signal);
    expect(await store.keys.find("k1")).toEqual(key);
    expect(await store.keys.findByDigest(key.digest)).toEqual(key);
    expect(await store.keys.findByDigest(key.previousDigest ?? "")).toEqual(key);
    expect(await store.keys.find("k2")).toBeUndefined();
    expect(await store.keys.findByDigest("01")).toBeUndefined();
  });

  test("change in the members that are named, and only those", async () => {
    await store.keys.insert(key);
    await store.teams.insert(team);
    const changes = {
      blocked: true,
      rpm: null,
      models: [],
      metadata: { note: "x" },
      teamId: "t1",
      expiresAtMs: null,
    };
    expect(await store.keys.update("k1", changes)).toEqual({ ...key, ...changes });
    expect(await store.keys.update("k1", {})).toEqual({ ...key, ...changes });
    expect(await store.keys.update("k1", { spendScope: "team", guardrails: [] })).toMatchObject({
      spendScope: "team",
      guardrails: [],
    });
    expect(await store.keys.update("k2", { blocked: true })).toBeUndefined();
  });

  test("are deleted, and it is said whether there was one", async () => {
    await store.keys.insert(key);
    expect(await store.keys.delete("k1")).toBe(true);
    expect(await store.keys.delete("k1")).toBe(false);
    expect(await store.keys.find("k1")).toBeUndefined();
    expect(await store.keys.update("k1", { blocked: false })).toBeUndefined();
    expect(
      await store.keys.rotate("k1", { digest: "x", last4: "x", previousUntilMs: null }),
    ).toBeUndefined();
  });

  test("are one of a kind in id, digest and alias; no alias is no alias", async () => {
    await store.keys.insert(key);
    expect(await store.keys.insert(other("k1"))).toBe("taken");
    expect(await store.keys.insert(other("k2", { digest: key.digest }))).toBe("taken");
    expect(await store.keys.insert(other("k3", { alias: key.alias }))).toBe("taken");
    expect(await store.keys.insert(other("k4"))).toBe("added");
    expect(await store.keys.insert(other("k5"))).toBe("added");
    expect(await store.keys.update("k4", { alias: key.alias, rpm: 99 })).toBe("taken");
    expect(await store.keys.find("k4")).toMatchObject({ alias: null, rpm: key.rpm });
    expect(await store.keys.update("k1", { alias: key.alias })).toMatchObject({ alias: key.alias });
  });

  test("belong to teams that exist", async () => {
    expect(await store.keys.insert(other("k1", { teamId: "t1" }))).toBe("no-team");
    await store.teams.insert(team);
    expect(await store.keys.insert(other("k1", { teamId: "t1" }))).toBe("added");
    expect(await store.keys.update("k1", { teamId: "t2", rpm: 99 })).toBe("no-team");
    expect(await store.keys.find("k1")).toMatchObject({ teamId: "t1", rpm: key.rpm });
    expect(await store.keys.update("k1", { teamId: null })).toMatchObject({ teamId: null });
  });

  test("are listed in pages, the oldest first, by every filter", async () => {
    await store.teams.insert(team);
    await store.keys.insert(other("b", { createdAtMs: 2 }));
    await store.keys.insert(other("a", { createdAtMs: 2, userId: "u2", teamId: "t1" }));
    await store.keys.insert(other("c", { createdAtMs: 1, userId: "u2", alias: "laptop" }));
    const ids = async (query: object): Promise<unknown> => {
      const { keys, total } = await store.keys.list({ offset: 0, limit: 10, ...query });
      return [total, ...keys.map(({ id }) => id)];
    };
    expect(await ids({})).toEqual([3, "c", "a", "b"]);
    expect(await ids({ limit: 2 })).toEqual([3, "c", "a"]);
    expect(await ids({ offset: 2, limit: 2 })).toEqual([3, "b"]);
    expect(await ids({ limit: 0 })).toEqual([3]);
    expect(await ids({ userId: "u2" })).toEqual([2, "c", "a"]);
    expect(await ids({ userId: "u2", teamId: "t1" })).toEqual([1, "a"]);
    expect(await ids({ alias: "laptop" })).toEqual([1, "c"]);
    expect(await ids({ alias: "lap" })).toEqual([0]);
  });
});

describe("a rotation", () => {
  test("keeps one previous digest, the last", async () => {
    await store.keys.insert(other("k1", { digest: "first" }));
    const second = await store.keys.rotate("k1", {
      digest: "second",
      last4: "2222",
      previousUntilMs: 5,
    });
    expect(second).toMatchObject({
      digest: "second",
      last4: "2222",
      previousDigest: "first",
      previousUntilMs: 5,
      rpm: key.rpm,
    });
    const third = await store.keys.rotate("k1", {
      digest: "third",
      last4: "3333",
      previousUntilMs: 9,
    });
    expect(third).toMatchObject({ digest: "third", previousDigest: "second", previousUntilMs: 9 });
    expect(await store.keys.findByDigest("first")).toBeUndefined();
    expect(
      await store.keys.rotate("k1", { digest: "fourth", last4: "4444", previousUntilMs: null }),
    ).toMatchObject({
      previousDigest: null,
      previousUntilMs: null,
    });
    expect(await store.keys.findByDigest("third")).toBeUndefined();
  });
});

describe("many writers at once", () => {
  test("lose no change, and bring back neither a block nor a digest that is gone", async () => {
    await store.keys.insert(other("k1", { digest: "d0" }));
    // A second connection stands for another process.
    const second = createSqliteStore({ path }, host);
    await second.start(signal);
    const writes: Promise<unknown>[] = [];
    for (let round = 0; round < 50; round++) {
      const [one, two] = round % 2 === 0 ? [store, second] : [second, store];
      // Writes of two processes have no order: the last round comes after all others.
      if (round === 49) await Promise.all(writes);
      writes.push(one.keys.update("k1", { rpm: round }));
      writes.push(two.keys.update("k1", { metadata: { round } }));
      writes.push(
        one.keys.rotate("k1", { digest: `d${round + 1}`, last4: "last", previousUntilMs: null }),
      );
      if (round === 20) writes.push(two.keys.update("k1", { blocked: true }));
    }
    await Promise.all(writes);
    expect(await store.keys.find("k1")).toMatchObject({
      blocked: true,
      digest: "d50",
      rpm: 49,
      metadata: { round: 49 },
    });
    expect(await store.keys.findByDigest("d7")).toBeUndefined();
    await Promise.all([
      store.keys.update("k1", { tpm: 1 }),
      second.keys.delete("k1"),
      store.keys.update("k1", { tpm: 2 }),
    ]);
    expect(await second.keys.find("k1")).toBeUndefined();
    await second.stop();
  });
});

describe("teams", () => {
  test("are kept as keys are", async () => {
    expect(await store.teams.insert(team)).toBe("added");
    expect(await store.teams.insert({ ...team, alias: "b" })).toBe("taken");
    expect(await store.teams.find("t1")).toEqual(team);
    expect(await store.teams.list({ limit: 9 })).toEqual({ records: [team] });
    expect(await store.teams.update("t1", { blocked: false, tags: ["x"] })).toEqual({
      ...team,
      blocked: false,
      tags: ["x"],
    });
    expect(await store.teams.update("t2", { blocked: false })).toBeUndefined();
  });
});

test("a file of the first schema is brought up to date: defaults filled in, aliases made unique, lost teams kept", async () => {
  await store.stop();
  const old = join(directory, "old.db");
  const database = await openEarlierStore(old, "0002_teams_and_rotation");
  const insert =
    database.prepare(`insert into virtual_key (id, digest, last4, alias, models, tags, metadata, guardrails, team_id,
    blocked, created_at_ms) values (?, ?, 'last', ?, '[]', '[]', '{}', '[]', ?, 0, ?)`);
  database.exec(
    `insert into team (id, alias, models, tags, metadata, blocked, created_at_ms)
      values ('t2', 'twins', '[]', '[]', '{}', 0, 2), ('T2', 'twins', '[]', '[]', '{}', 0, 1)`,
  );
  insert.run("b", "d1", "same", null, 1);
  insert.run("a", "d2", "same", "lost", 2);
  insert.run("c", "d3", null, null, 3);
  database.close();
  const upgraded = createSqliteStore({ path: old }, host);
  await upgraded.start(signal);
  expect((await upgraded.keys.list({ offset: 0, limit: 9 })).keys).toMatchObject([
    {
      id: "b",
      alias: "same",
      spendScope: "key",
      previousDigest: null,
      previousUntilMs: null,
      softBudgetNanoUsd: null,
    },
    { id: "a", alias: "same-a", teamId: "lost" },
    { id: "c", alias: null },
  ]);
  expect(await upgraded.keys.update("a", { blocked: true })).toMatchObject({
    blocked: true,
    teamId: "lost",
  });
  // Teams from before may differ by case alone: both stay, and no third one is added.
  const { records } = await upgraded.teams.list({ limit: 9 });
  expect(records.map(({ id, alias }) => [id, alias])).toEqual([
    ["T2", "twins"],
    ["t2", "twins-t2"],
  ]);
  expect(await upgraded.teams.update("t2", { blocked: true })).toMatchObject({ id: "t2" });
  expect(await upgraded.teams.insert({ ...team, id: "ｔ2" })).toBe("taken");
  await upgraded.stop();
});

test("a file from before soft budgets keeps its keys and teams, and takes soft budgets", async () => {
  await store.stop();
  const old = join(directory, "old.db");
  const database = await openEarlierStore(old, "0003_soft_budgets");
  database.exec(`
    insert into team (id, models, max_budget_nano_usd, tags, metadata, blocked, created_at_ms)
      values ('t', '[]', 7, '[]', '{}', 0, 1);
    insert into virtual_key (id, digest, last4, models, tags, metadata, guardrails, team_id, blocked, created_at_ms)
      values ('k', 'd', 'last', '[]', '[]', '{}', '[]', 't', 0, 1)`);
  database.close();
  const upgraded = createSqliteStore({ path: old }, host);
  for (const softBudgetNanoUsd of [null, 5]) {
    await upgraded.start(signal);
    expect(await upgraded.keys.find("k")).toMatchObject({ teamId: "t", softBudgetNanoUsd });
    expect(await upgraded.teams.find("t")).toMatchObject({
      maxBudgetNanoUsd: 7,
      softBudgetNanoUsd,
    });
    await upgraded.keys.update("k", { softBudgetNanoUsd: 5 });
    await upgraded.teams.update("t", { softBudgetNanoUsd: 5 });
    await upgraded.stop();
  }
});
