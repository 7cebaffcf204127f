import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { watchDataFolder } from "./data-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-data-"));
  writeFileSync(join(folder, "outbox.db"), "");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each<[string, () => void, string]>([
  ["is removed", () => rmSync(folder, { recursive: true }), "is missing"],
  [
    "is replaced",
    () => {
      writeFileSync(join(folder, "other"), "");
      renameSync(join(folder, "other"), join(folder, "outbox.db"));
    },
    "is another file than at the start",
  ],
])("says that the folder %s", (_how, pull, what) => {
  const watch = watchDataFolder(folder, ["outbox.db"]);
  expect(watch.fault()).toBeUndefined();
  pull();
  expect(watch.fault()).toContain(what);
});

it("is content again when the folder is back", () => {
  const watch = watchDataFolder(folder, ["outbox.db"]);
  renameSync(folder, `${folder}-away`);
  expect(watch.fault()).toContain("is missing");
  renameSync(`${folder}-away`, folder);
  expect(watch.fault()).toBeUndefined();
});
