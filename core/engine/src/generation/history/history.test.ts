import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeLog } from "@sluice/testing";
import { snapshotOf } from "../../pipeline/snapshot.fixture.ts";
import { lastNumberBefore } from "./entries.ts";
import { type HistoryEntry, openHistory, sharedNumber } from "./history.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entryOf = (generation: number): HistoryEntry => ({
  generation,
  digest: `digest-${generation}`,
  atMs: generation,
  origin: "files",
  contentsOf: undefined,
  isForced: false,
  path: "/etc/gateway.yaml",
  changes: [],
});
const texts = (text: string): Map<string, string> => new Map([["/etc/gateway.yaml", text]]);

describe("the history", () => {
  it("is there again after a restart, for its owner alone", async () => {
    const first = openHistory(folder, fakeLog([]));
    first.add(entryOf(1), texts("one"));
    first.add(entryOf(2), texts("two"));
    expect(first.textsOf(2)).toEqual(texts("two"));
    await first.flush();
    const second = openHistory(folder, fakeLog([]));
    expect(second.entries.map(({ generation, digest }) => [generation, digest])).toEqual([
      [1, "digest-1"],
      [2, "digest-2"],
    ]);
    expect(second.textsOf(1)).toEqual(texts("one"));
    expect(second.textsOf(3)).toBeUndefined();
    expect(statSync(join(folder, "generations")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "generations", "00000002.json")).mode & 0o777).toBe(0o600);
  });

  it("keeps the last twenty", async () => {
    const history = openHistory(folder, fakeLog([]));
    for (let generation = 1; generation <= 25; generation += 1)
      history.add(entryOf(generation), texts("x"));
    await history.flush();
    expect(history.entries.map(({ generation }) => generation)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 6),
    );
    expect(readdirSync(join(folder, "generations"))).toHaveLength(20);
  });

  it("leaves out what is damaged, and goes on when nothing can be written", async () => {
    const before = openHistory(folder, fakeLog([]));
    before.add(entryOf(1), texts("one"));
    await before.flush();
    writeFileSync(join(folder, "generations", "00000002.json"), '{"generation": 2, "dig');
    const lines: Parameters<typeof fakeLog>[0] = [];
    expect(openHistory(folder, fakeLog(lines)).entries.map(({ generation }) => generation)).toEqual(
      [1],
    );
    expect(lines).toHaveLength(1);
    const nowhere = join(folder, "file");
    writeFileSync(nowhere, "");
    const history = openHistory(nowhere, fakeLog(lines));
    history.add(entryOf(7), texts("seven"));
    await history.flush();
    expect(history.entries).toHaveLength(1);
    expect(history.textsOf(7)).toBeUndefined();
    expect(lines).toHaveLength(2);
    expect(existsSync(join(nowhere, "generations"))).toBe(false);
  });

  it("goes on with its numbers; the same contents are the same generation", async () => {
    const history = openHistory(folder, fakeLog([]));
    expect(lastNumberBefore(snapshotOf(), history)).toBe(0);
    history.add({ ...entryOf(7), digest: "digest-1" }, texts("x"));
    expect(lastNumberBefore(snapshotOf({ digest: "digest-1" }), history)).toBe(6);
    expect(lastNumberBefore(snapshotOf({ digest: "digest-2" }), history)).toBe(7);
    // A canary with these contents was returned: it never served all keys.
    history.add({ ...entryOf(8), digest: "digest-2", returned: "by word" }, texts("y"));
    expect(lastNumberBefore(snapshotOf({ digest: "digest-2" }), history)).toBe(8);
    await history.flush();
  });
});

describe("numbers that several workers share", () => {
  it("are those of equal contents, also where a newer generation has been made since the last number", async () => {
    const other = openHistory(folder, fakeLog([]));
    other.add(entryOf(1), texts("one"));
    const own = openHistory(folder, fakeLog([]));
    other.add(entryOf(2), texts("two"));
    await other.flush();
    // A worker that read the files before the second one was made.
    expect(sharedNumber(own, "digest-1", 0)).toBe(1);
    expect(sharedNumber(own, "digest-2", 1)).toBe(2);
    expect(sharedNumber(own, "digest-3", 1)).toBe(3);
    // What ran before the last number is another generation when it runs again.
    expect(sharedNumber(own, "digest-1", 2)).toBe(3);
    // A canary that was returned is no generation that runs.
    own.add({ ...entryOf(3), returned: "by word" }, texts("three"));
    expect(sharedNumber(own, "digest-3", 2)).toBe(4);
    expect(
      sharedNumber(openHistory(mkdtempSync(join(folder, "empty-")), fakeLog([])), "digest-1", 0),
    ).toBe(1);
  });
});
