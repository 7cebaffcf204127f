import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkStoreFile, storeFile } from "./store-file.ts";

let folder: string;
let before: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-place-"));
  before = process.cwd();
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

test("follows the data folder where no path is named", () => {
  expect(storeFile(undefined, "/x/data")).toBe("/x/data/sluice.db");
  expect(storeFile("here/a.db", "/x/data")).toBe(join(process.cwd(), "here/a.db"));
  expect(storeFile(":memory:", "/x/data")).toBe(":memory:");
});

test("is not made anew where one was, nor taken from an empty file", () => {
  const path = join(folder, "sluice.db");
  expect(() => checkStoreFile(path, { isDefault: true, mustExist: true })).toThrow(
    "is missing or empty",
  );
  writeFileSync(path, "");
  expect(() => checkStoreFile(path, { isDefault: true, mustExist: true })).toThrow(
    "is missing or empty",
  );
  expect(() => checkStoreFile(path, { isDefault: true, mustExist: false })).not.toThrow();
  writeFileSync(path, "something");
  expect(() => checkStoreFile(path, { isDefault: true, mustExist: true })).not.toThrow();
});

test("that stands at the former default is not passed over", () => {
  mkdirSync("data");
  writeFileSync("data/sluice.db", "something");
  const path = join(folder, "elsewhere/sluice.db");
  expect(() => checkStoreFile(path, { isDefault: true, mustExist: false })).toThrow(
    "The default path is below server.data_directory",
  );
  expect(() => checkStoreFile(path, { isDefault: false, mustExist: false })).not.toThrow();
  expect(() =>
    checkStoreFile(join(folder, "data/sluice.db"), { isDefault: true, mustExist: false }),
  ).not.toThrow();
});
