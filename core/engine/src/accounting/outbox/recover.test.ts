import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openOutbox, type Outbox } from "./outbox.ts";
import { noteTexts, rowOfNote } from "./note-text.ts";
import { makeRow } from "../testing/make-row.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-recover-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const SEGMENT = "outbox.1.log";

/** Takes all rows out, as `requestId status`. */
const drain = (outbox: Outbox): string[] => {
  const found: string[] = [];
  for (let batch = outbox.peek(); batch !== undefined; batch = outbox.peek()) {
    for (const { requestId, status } of batch.rows) found.push(`${requestId} ${status}`);
    outbox.discard(batch.throughSequence);
  }
  return found;
};

/** What a killed process leaves: a note and two rows, of which one closes the note. */
async function killed(): Promise<{ bytes: Buffer; ends: readonly number[] }> {
  const at = join(directory, "killed");
  const outbox = openOutbox({ directory: at });
  const size = (): number => readFileSync(join(at, SEGMENT)).length;
  const ends = [size()];
  await outbox.note(makeRow("ü"), () => undefined);
  ends.push(size());
  await outbox.append([makeRow("b")]);
  ends.push(size());
  await outbox.append([makeRow("ü")]);
  ends.push(size());
  const bytes = readFileSync(join(at, SEGMENT));
  outbox.close();
  rmSync(at, { recursive: true });
  return { bytes, ends };
}

test("finds, of a log that was cut at any byte, every whole frame and nothing else", async () => {
  const { bytes, ends } = await killed();
  const expected = [[], ["ü partial"], ["b success", "ü partial"], ["b success", "ü success"]];
  for (let length = ends[0]!; length <= bytes.length; length += 1) {
    writeFileSync(join(directory, SEGMENT), bytes.subarray(0, length));
    const outbox = openOutbox({ directory });
    const whole = ends.findLastIndex((end) => end <= length);
    expect([length, drain(outbox)]).toEqual([length, expected[whole]]);
    outbox.close();
    expect(readdirSync(directory)).toEqual(["outbox.db"]);
  }
});

test("reads on behind a byte that was changed, wherever it is, and keeps the damaged file", async () => {
  const { bytes, ends } = await killed();
  for (let index = ends[0]!; index < ends[2]! - 1; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = changed[index]! ^ 1;
    writeFileSync(join(directory, SEGMENT), changed);
    const outbox = openOutbox({ directory });
    const damaged: string[] = [];
    outbox.onDamage = (path) => damaged.push(path);
    const found = drain(outbox);
    expect(found).toContain("ü success");
    // A note that its row makes void is not missed.
    expect([index, found.includes("b success")]).toEqual([index, index < ends[1]! - 1]);
    expect(damaged).toEqual([join(directory, SEGMENT)]);
    outbox.close();
    expect(existsSync(join(directory, `${SEGMENT}.damaged`))).toBe(true);
    rmSync(join(directory, `${SEGMENT}.damaged`));
  }
});

test("reports a damaged file also when no other row is in it", async () => {
  const { bytes, ends } = await killed();
  const changed = Buffer.concat([bytes.subarray(0, ends[2]), bytes.subarray(ends[0], ends[1])]);
  changed[ends[1]! + 20] = changed[ends[1]! + 20]! ^ 1;
  writeFileSync(join(directory, SEGMENT), changed);
  const outbox = openOutbox({ directory });
  const damaged: string[] = [];
  outbox.onDamage = (path) => damaged.push(path);
  expect(damaged).toEqual([join(directory, SEGMENT)]);
  expect(drain(outbox)).toEqual(["ü partial"]);
  outbox.close();
  expect(readdirSync(directory).toSorted()).toEqual(["outbox.1.log.damaged", "outbox.db"]);
});

test("refuses a file that is no segment, by name, and leaves it there; one without content is deleted", () => {
  const path = join(directory, SEGMENT);
  writeFileSync(path, "this is no log\n".repeat(500));
  expect(() => openOutbox({ directory })).toThrow(/outbox\.db cannot be opened.*1\.log.*damaged/);
  expect(existsSync(path)).toBe(true);
  for (const content of [Buffer.alloc(0), Buffer.alloc(8_192)]) {
    writeFileSync(path, content);
    openOutbox({ directory }).close();
    expect(existsSync(path)).toBe(false);
  }
});

test("carries the notes of open calls into each segment, and ignores one that was not finished", async () => {
  const tags = ["x".repeat(100_000)];
  const outbox = openOutbox({ directory });
  await outbox.note(makeRow("open"), () => undefined);
  for (let round = 0; round < 100; round += 1) {
    const row = makeRow(`r${round}`, { tags });
    await outbox.note(row, () => undefined);
    await outbox.append([row]);
    outbox.discard(outbox.committedSequence);
  }
  const copy = mkdtempSync(join(tmpdir(), "sluice-recover-"));
  cpSync(directory, copy, { recursive: true });
  outbox.close();
  const logs = readdirSync(copy).filter((name) => name.endsWith(".log"));
  expect(logs).toHaveLength(1);
  expect(logs).not.toContain(SEGMENT);
  const draft = join(copy, "outbox.99.log.new");
  cpSync(join(copy, logs[0]!), draft);
  truncateSync(draft, 1_000);
  const next = openOutbox({ directory: copy });
  expect(drain(next).filter((row) => row.endsWith("partial"))).toEqual(["open partial"]);
  expect(existsSync(draft)).toBe(false);
  next.close();
  rmSync(copy, { recursive: true });
});

test("makes the rows of interrupted calls once, however often the next processes are killed", async () => {
  const { bytes, ends } = await killed();
  writeFileSync(join(directory, SEGMENT), bytes.subarray(0, ends[2]));
  for (let start = 0; start < 3; start += 1) {
    const outbox = openOutbox({ directory });
    const copy = mkdtempSync(join(tmpdir(), "sluice-recover-"));
    cpSync(directory, copy, { recursive: true });
    outbox.close();
    rmSync(directory, { recursive: true });
    directory = copy;
  }
  const outbox = openOutbox({ directory });
  expect(drain(outbox)).toEqual(["b success", "ü partial"]);
  outbox.close();
});

test("moves the rows and notes of an earlier version, once", () => {
  const database = new DatabaseSync(join(directory, "outbox.db"));
  database.exec(
    "pragma journal_mode = wal; create table batch (seq integer primary key, body text not null)",
  );
  const insert = database.prepare("insert into batch (seq, body) values (?, ?)");
  const ids = Array.from({ length: 300 }, (_, index) => `r${index}`);
  insert.run(0, "[]   ");
  ids.forEach((id, index) => insert.run(index + 7, JSON.stringify([makeRow(id)])));
  database.close();
  const lines = [noteTexts([makeRow("open")]), noteTexts([makeRow("r0")]), '["cut",1,"chat"'];
  writeFileSync(join(directory, "calls.log"), lines.join("\n"));
  openOutbox({ directory }).close();
  expect(existsSync(join(directory, "calls.log"))).toBe(false);
  const outbox = openOutbox({ directory });
  // The store keeps the first row of a call.
  expect(drain(outbox)).toEqual([
    ...ids.map((id) => `${id} success`),
    "open partial",
    "r0 partial",
  ]);
  outbox.close();
  const again = openOutbox({ directory });
  expect(again.pendingBatches).toBe(0);
  again.close();
});

test("a note keeps the organization, and one of an earlier version has none", () => {
  const text = noteTexts([makeRow("r1", { organizationId: "o" })]);
  expect(rowOfNote(JSON.parse(text))).toMatchObject({ requestId: "r1", organizationId: "o" });
  const earlier = (JSON.parse(text) as unknown[]).slice(0, -1);
  expect(rowOfNote(earlier)).toMatchObject({ requestId: "r1", organizationId: null });
});
