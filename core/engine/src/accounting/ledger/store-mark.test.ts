import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LogLine, fakeLog } from "@sluice/testing";
import type { Store } from "@sluice/contract";
import { afterEach, beforeEach, expect, it } from "vitest";
import { compareStore, readStoreMark } from "./store-mark.ts";

let dataDirectory: string;
let lines: LogLine[];
beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), "sluice-mark-"));
  lines = [];
});
afterEach(() => rmSync(dataDirectory, { recursive: true }));

/** A store that keeps facts alone. */
function storeOf(facts = new Map<string, string>()): Store {
  return {
    async keep(name: string, value: string) {
      if (!facts.has(name)) facts.set(name, value);
      return facts.get(name) as string;
    },
  } as Partial<Store> as Store;
}

const compare = (store: Store, pepper = "p", mayUseForeignPepper = false): Promise<void> =>
  compareStore(store, {
    dataDirectory,
    mark: readStoreMark(dataDirectory),
    pepper: Buffer.from(pepper),
    mayUseForeignPepper,
    log: fakeLog(lines),
  });

it("marks a data folder at its first start, and knows its store again", async () => {
  const store = storeOf();
  await compare(store);
  expect(readStoreMark(dataDirectory)).toMatch(/^[0-9a-f-]{36}$/);
  await compare(store);
  expect(lines).toEqual([]);
});

it("refuses a store that another data folder began", async () => {
  await compare(storeOf());
  await expect(compare(storeOf(new Map([["id", "another"]])))).rejects.toThrow(
    /^The store is not the one that this data folder was used with\. .*delete .*store\.id\.$/,
  );
});

it("takes over a store that is there already: two gateways share one", async () => {
  await compare(storeOf(new Map([["id", "shared"]])));
  expect(readStoreMark(dataDirectory)).toBe("shared");
});

it("refuses keys that were made under another pepper, unless they are given up", async () => {
  const store = storeOf();
  await compare(store);
  await expect(compare(store, "q")).rejects.toThrow(
    /^The keys of the store were made under another pepper than .*pepper: .*SLUICE_FOREIGN_PEPPER=accept\.$/,
  );
  await compare(store, "q", true);
  expect(lines).toMatchObject([
    { level: "warn", message: "the keys of this store were made under another pepper" },
  ]);
});

it("marks nothing for a store that does not last", async () => {
  await compare({} as Store);
  expect(readStoreMark(dataDirectory)).toBeUndefined();
});
