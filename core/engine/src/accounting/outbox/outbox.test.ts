import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SpendRow } from "@sluice/contract";
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

/** The rows that the next process finds when this one is killed now. */
const recovered = (): readonly SpendRow[] => {
  const copy = mkdtempSync(join(tmpdir(), "sluice-outbox-"));
  cpSync(directory, copy, { recursive: true });
  const next = openOutbox({ directory: copy });
  const rows: SpendRow[] = [];
  for (let batch = next.peek(); batch !== undefined; batch = next.peek()) {
    rows.push(...batch.rows);
    next.discard(batch.throughSequence);
  }
  next.close();
  rmSync(copy, { recursive: true });
  return rows;
};

const files = (): readonly string[] =>
  readdirSync(directory).filter((name) => name.endsWith(".log"));
const bytesOfFiles = (): number =>
  files().reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

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

test("commits all appends of one turn as one batch with one promise", async () => {
  const first = outbox.append([makeRow("a")]);
  expect(outbox.append([makeRow("b"), makeRow("c")])).toBe(first);
  expect(outbox.committedSequence).toBe(0);
  await first;
  expect(outbox.committedSequence).toBe(1);
  await outbox.append([makeRow("d")]);
  expect(outbox.pendingBatches).toBe(2);
  expect(recovered().map(({ requestId }) => requestId)).toEqual(["a", "b", "c", "d"]);
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
  expect(recovered().map(({ requestId }) => requestId)).toEqual(["a"]);
});

test("has the row of a call that was noted and not settled, after a restart; one that was settled has its own row alone", async () => {
  await Promise.all([note("settled"), note("open")]);
  await outbox.append([makeRow("settled")]);
  expect(recovered().map(({ requestId, status }) => [requestId, status])).toEqual([
    ["settled", "success"],
    ["open", "partial"],
  ]);
});

test("gives back space: segments whose rows have left are deleted, notes of open calls stay", async () => {
  const tags = ["x".repeat(1_000)];
  await outbox.note(makeRow("open", { tags }), () => undefined);
  for (let round = 0; round < 12_000; round += 1) {
    const row = makeRow(`r${round}`, { tags });
    outbox.append([row]);
    outbox.note(row, () => undefined);
    outbox.commit();
    if (round % 100 === 99) outbox.discard(outbox.committedSequence);
  }
  expect(bytesOfFiles()).toBeLessThan(8.5 * 2 ** 20);
  expect(recovered().filter(({ status }) => status === "partial")).toMatchObject([
    { requestId: "open", tags },
  ]);
});

test("keeps a segment until all of its rows have left, and reads it after a restart", async () => {
  const text = "x".repeat(10_000);
  const ids = Array.from({ length: 1_500 }, (_, index) => `r${index}`);
  for (const id of ids) {
    outbox.append([makeRow(id, { metadata: { text } })]);
    outbox.commit();
  }
  expect(files().length).toBeGreaterThan(3);
  expect(recovered().map(({ requestId }) => requestId)).toEqual(ids);
  outbox.discard(1_000);
  const left = recovered().map(({ requestId }) => requestId);
  expect(left).toEqual(ids.slice(-left.length));
  expect(left.length).toBeLessThan(1_000);
  outbox.discard(1_500);
  expect(outbox.pendingBatches).toBe(0);
  expect(files()).toHaveLength(1);
  outbox.close();
  expect(files()).toEqual([]);
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
  expect(recovered()).toEqual([
    { ...call, ...expected, ...nothing, metadata: { interrupted: true } },
  ]);
});

test("writes the notes and rows of one turn at once, before any of its calls is made, however long they are", async () => {
  const before = bytesOfFiles();
  const long = "ü".repeat(40_000);
  const notes = [
    note("a"),
    outbox.note(makeRow("b", { tags: [long] }), () => undefined),
    note("c"),
  ];
  expect(bytesOfFiles()).toBe(before);
  await notes[0];
  expect(recovered().map(({ requestId, tags }) => [requestId, tags[0]])).toEqual([
    ["a", "team-a"],
    ["b", long],
    ["c", "team-a"],
  ]);
});

test("withdraws every call of a turn whose notes are not written, and takes the rows of the same turn", async () => {
  outbox.close();
  outbox = openOutbox({ directory, maxBytes: 200_000 });
  await outbox.append([makeRow("large", { metadata: { text: "x".repeat(175_000) } })]);
  const withdrawn: string[] = [];
  const appended = outbox.append([makeRow("under way")]);
  const results = await Promise.allSettled(
    ["a", "b"].map((requestId) => outbox.note(makeRow(requestId), () => withdrawn.push(requestId))),
  );
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(String((results[0] as PromiseRejectedResult).reason)).toContain("full");
  expect(withdrawn).toEqual(["a", "b"]);
  await appended;
  expect(recovered().map(({ requestId }) => requestId)).toEqual(["large", "under way"]);
  // The store has all rows: notes are taken again.
  outbox.discard(2);
  outbox.writeKept();
  await note("c");
});

test("refuses notes once it is closed", async () => {
  outbox.close();
  await expect(note("a")).rejects.toThrow("closed");
});

test("keeps rows that the log does not take, and writes each once", async () => {
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
