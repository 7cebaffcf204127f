import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codeDigest, codeFolders } from "./version.ts";

describe("the digest of the code", () => {
  let folders: readonly string[];
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "sluice-code-"));
    folders = ["engine", "kit"].map((name) => join(root, name));
    for (const folder of folders) mkdirSync(join(folder, "deep"), { recursive: true });
    write("engine/index.ts", "1");
    write("kit/deep/part.js", "2");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);

  it.each([
    ["a changed file of the engine", "engine/index.ts", "3"],
    ["a changed file of another package", "kit/deep/part.js", "3"],
    ["a new file", "kit/deep/other.ts", ""],
  ])("differs by %s", (_what, path, text) => {
    const before = codeDigest(folders);
    expect(codeDigest(folders)).toBe(before);
    write(path, text);
    expect(codeDigest(folders)).not.toBe(before);
  });

  it.each(["engine/index.test.ts", "engine/load.fixture.ts", "kit/deep/part.d.ts", "kit/notes.md"])(
    "does not read %s",
    (path) => {
      const before = codeDigest(folders);
      write(path, "3");
      expect(codeDigest(folders)).toBe(before);
    },
  );

  it("covers the engine, its contracts, the kit and the runtime", () => {
    const own = codeFolders();
    expect(own).toHaveLength(5);
    // A file of each package.
    for (const file of [
      "bootstrap.ts",
      "codes.ts",
      "define.ts",
      "from-schema.ts",
      "stack-places.ts",
    ]) {
      expect(own.filter((folder) => readdirSync(folder).includes(file))).toHaveLength(1);
    }
  });
});
