import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const FIXTURE = new URL("plugin-files.fixture.ts", import.meta.url).pathname;

let folder: string;
let seen: Record<string, readonly string[]>;

// In a process of its own: here modules do not come by Node's way.
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-plugin-files-")));
  const { stdout } = await promisify(execFile)(process.execPath, [FIXTURE, folder]);
  seen = JSON.parse(stdout) as typeof seen;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const paths = (...names: readonly string[]): string[] => names.map((name) => join(folder, name));

describe("files of plugins that wait for a restart", () => {
  it("are the module and what it imports by a path, however deep, and no others", () => {
    expect(seen).toMatchObject({ findings: [], deep: paths("word.ts", "deep.ts") });
  });

  it("include files that changed before the first look", () => {
    expect(seen["early"]).toEqual(paths("word.ts"));
  });

  it("wait no longer when they are changed back", () => {
    expect(seen["back"]).toEqual(paths("word.ts"));
  });

  it("are compared with what was loaded, also when that was late, and with nothing", () => {
    expect(seen["loadedLate"]).toEqual(paths("word.ts"));
    expect(seen["removed"]).toEqual(paths("word.ts", "late.ts"));
  });

  it("are logged once each, with what to do", () => {
    expect(seen["logged"]).toEqual(
      Array.from({ length: 3 }, () => "a plugin's file has changed: do this"),
    );
  });
});
