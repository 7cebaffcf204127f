import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CallNotes, readCallNotes } from "./call-notes.ts";
import { MAX_BATCH_ROWS } from "./batches.ts";
import { openOutbox } from "./outbox.ts";
import type { Outbox } from "./outbox.ts";
import { makeRow } from "../testing/make-row.ts";

let directory: string;
let outbox: Outbox;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-outbox-"));
  outbox = openOutbox({ directory });
});

afterEach(() => {
  outbox.close();
  rmSync(directory, { recursive: true });
});

const batchesInFile = (): number => {
  outbox.close();
  const database = new DatabaseSync(join(directory, "outbox.db"));
  const count = Number(database.prepare("select count(*) as n from batch").get()?.["n"]);
  database.close();
  return count;
};

const note = (requestId: string): Promise<void> => outbox.note(makeRow(requestId), () => undefined);

const drain = (from: Outbox): string[] => {
  const ids: string[] = [];
  for (let batch = from.peek(); batch !== undefined; batch = from.peek()) {
    expect(batch.rows.length).toBeLessThanOrEqual(MAX_BATCH_ROWS);
    ids.push(...batch.rows.map((row) => row.requestId));
    from.discard(batch.throughSequence);
  }
  return ids;
};

test("commits all appends of one turn by one insert and one promise", async () => {
  const first = outbox.append([makeRow("a")]);
  expect(outbox.append([makeRow("b"), makeRow("c")])).toBe(first);
  expect(outbox.committedSequence).toBe(0);
  await first;
  expect(outbox.committedSequence).toBe(1);
  await outbox.append([makeRow("d")]);
  expect(batchesInFile()).toBe(2);
});

test("gives back every row as it came, after a restart too", async () => {
  const row = makeRow("a", {
    metadata: { text: 'NUL \0, quote ", \u2028, \ud83d\ude00' },
    tags: ["ü"],
    costNanoUsd: null,
  });
  await outbox.append([row]);
  expect(outbox.peek()?.rows).toEqual([row]);
  outbox.close();
  outbox = openOutbox({ directory });
  expect(outbox.peek()).toEqual({ rows: [row], throughSequence: 1 });
});

test("keeps a batch until it is discarded, and numbers go on after the file became empty", async () => {
  await outbox.append([makeRow("a")]);
  expect(outbox.peek()).toEqual(outbox.peek());
  outbox.discard(1);
  expect(outbox.peek()).toBeUndefined();
  await outbox.append([makeRow("b")]);
  expect(outbox.peek()?.throughSequence).toBe(2);
});

test("divides a turn with many rows into batches, all or none", async () => {
  const ids = Array.from({ length: MAX_BATCH_ROWS * 2 + 1 }, (_, index) => `r${index}`);
  await outbox.append(ids.map((id) => makeRow(id)));
  expect(outbox.committedSequence).toBe(3);
  expect(drain(outbox)).toEqual(ids);
});

test("rejects every appender of a turn whose commit fails, and takes the next turn when there is room again", async () => {
  outbox.close();
  outbox = openOutbox({ directory, maxBytes: 64 * 4096 });
  const large = makeRow("large", { metadata: { text: "x".repeat(300_000) } });
  const appends = [outbox.append([large]), outbox.append([makeRow("same turn")])];
  for (const result of await Promise.allSettled(appends)) {
    expect(result.status).toBe("rejected");
    expect(String((result as PromiseRejectedResult).reason)).toMatch(
      /outbox\.db did not take 2 spend rows: .*full/,
    );
  }
  await outbox.append([makeRow("small")]);
  expect(drain(outbox)).toEqual(["small"]);
});

test("rejects a large turn as a whole when it does not fit", async () => {
  outbox.close();
  outbox = openOutbox({ directory, maxBytes: 32 * 4096 });
  const rows = Array.from({ length: 500 }, (_, index) => makeRow(`r${index}`));
  await expect(outbox.append(rows)).rejects.toThrow(/full/);
  expect(outbox.peek()).toBeUndefined();
  await outbox.append([makeRow("small")]);
  expect(drain(outbox)).toEqual(["small"]);
});

test("keeps few rows in memory and reads the others from the file, in order", async () => {
  outbox.close();
  outbox = openOutbox({ directory, maxRowsInMemory: 5 });
  const ids: string[] = [];
  const moved: string[] = [];
  for (let index = 0; index < 40; index++) {
    ids.push(`r${index}`);
    await outbox.append([makeRow(`r${index}`)]);
    if (index % 13 === 12) moved.push(...drain(outbox));
  }
  expect([...moved, ...drain(outbox)]).toEqual(ids);
});

test("refuses a second process on the same directory, by name", () => {
  expect(() => openOutbox({ directory })).toThrow(
    /outbox\.db cannot be opened.*Another process uses the same data directory/,
  );
});

test("refuses a damaged file, by name, and leaves it there", () => {
  outbox.close();
  writeFileSync(join(directory, "outbox.db"), "this is no database".repeat(500));
  expect(() => openOutbox({ directory })).toThrow(/outbox\.db cannot be opened.*damaged/);
});

test("commits what waits when it closes, and refuses what comes after", async () => {
  const last = outbox.append([makeRow("a")]);
  outbox.close();
  outbox.close();
  await last;
  await expect(outbox.append([makeRow("b")])).rejects.toThrow("the outbox is closed");
  await turn();
  expect(batchesInFile()).toBe(1);
});

test("has the row of a call that was noted and not settled, after a restart; one that was settled comes from its own row", async () => {
  await Promise.all([note("settled"), note("open")]);
  await outbox.append([makeRow("settled")]);
  const copy = mkdtempSync(join(tmpdir(), "sluice-outbox-"));
  // What a killed process leaves: the files as they are.
  for (const name of ["outbox.db", "outbox.db-wal", "calls.log"])
    cpSync(join(directory, name), join(copy, name));
  const next = openOutbox({ directory: copy });
  const rows: [string, string][] = [];
  for (let batch = next.peek(); batch !== undefined; batch = next.peek()) {
    for (const row of batch.rows) rows.push([row.requestId, row.status]);
    next.discard(batch.throughSequence);
  }
  // The store keeps the first of two rows of one call.
  expect(rows).toEqual([
    ["settled", "success"],
    ["settled", "partial"],
    ["open", "partial"],
  ]);
  next.close();
  expect(existsSync(join(copy, "calls.log"))).toBe(false);
  rmSync(copy, { recursive: true });
});

test("keeps its notes short: those of settled calls leave the file, open ones stay", async () => {
  const tags = ["x".repeat(1_000)];
  await outbox.note(makeRow("open", { tags }), () => undefined);
  for (let round = 0; round < 4_000; round += 1) {
    const row = makeRow(`r${round}`, { tags });
    await outbox.note(row, () => undefined);
    outbox.write([row]);
  }
  const path = join(directory, "calls.log");
  expect(statSync(path).size).toBeLessThan(2.5 * 2 ** 20);
  expect(readCallNotes(directory, "outbox.db").some(({ requestId }) => requestId === "open")).toBe(
    true,
  );
});

test("has, of a call that was noted, the row as it stands while nothing is heard of it", async () => {
  const call = makeRow("a", {
    tags: ['quote " and\nline'],
    costNanoUsd: null,
    costStatus: "unpriced",
    teamId: "ü",
  });
  await outbox.note(call, () => undefined);
  const totalTokens = (call.promptTokens ?? 0) + (call.completionTokens ?? 0);
  const expected = { status: "partial", totalTokens, usageSource: "estimated" } as const;
  const nothing = { firstContentAtMs: null, cachedTokens: null, endedAtMs: call.startedAtMs };
  expect(readCallNotes(directory, "outbox.db")).toEqual([
    { ...call, ...expected, ...nothing, metadata: { interrupted: true } },
  ]);
});

test("writes the notes of one turn at once, before any of their calls is made, however long they are", async () => {
  const path = join(directory, "calls.log");
  const long = "ü".repeat(40_000);
  const notes = [
    note("a"),
    outbox.note(makeRow("b", { tags: [long] }), () => undefined),
    note("c"),
  ];
  expect(statSync(path).size).toBe(0);
  await notes[0];
  expect(
    readCallNotes(directory, "outbox.db").map(({ requestId, tags }) => [requestId, tags[0]]),
  ).toEqual([
    ["a", "team-a"],
    ["b", long],
    ["c", "team-a"],
  ]);
});

test("withdraws every call of a turn whose notes are not written, and none of another turn", async () => {
  const full = join(directory, "full");
  mkdirSync(full);
  symlinkSync("/dev/full", join(full, "calls.log"));
  const failing = openOutbox({ directory: join(directory, "failing") });
  failing.notes?.end();
  failing.notes = new CallNotes(full, "outbox.db");
  const withdrawn: string[] = [];
  const results = await Promise.allSettled(
    ["a", "b"].map((requestId) =>
      failing.note(makeRow(requestId), () => withdrawn.push(requestId)),
    ),
  );
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(String((results[0] as PromiseRejectedResult).reason)).toContain("ENOSPC");
  expect(withdrawn).toEqual(["a", "b"]);
  failing.close();
  // No note is open: nothing is left for the next start.
  expect(existsSync(join(full, "calls.log"))).toBe(false);
});

test("reads past a note that was cut", async () => {
  await note("a");
  writeFileSync(
    join(directory, "calls.log"),
    `${readFileSync(join(directory, "calls.log"), "utf8")}["b",1,"chat"`,
  );
  expect(readCallNotes(directory, "outbox.db").map(({ requestId }) => requestId)).toEqual(["a"]);
});

test("keeps rows that the file does not take, and writes each once", async () => {
  const small = openOutbox({ directory: join(directory, "small"), maxBytes: 160 * 1024 });
  const big = makeRow("big", { metadata: { text: "x".repeat(400 * 1024) } });
  const failures: Error[] = [];
  small.onFailure = (error) => failures.push(error);
  await expect(small.append([makeRow("a"), big])).rejects.toThrow("did not take 2 spend rows");
  expect([small.keptRows, small.committedSequence, failures.length]).toEqual([2, 0, 1]);
  expect(() => small.writeKept()).toThrow("full");
  expect(small.keptRows).toBe(2);
  small.close();
  outbox.keep([makeRow("b")]);
  outbox.writeKept();
  outbox.writeKept();
  expect(outbox.keptRows).toBe(0);
  expect(drain(outbox)).toEqual(["b"]);
});
