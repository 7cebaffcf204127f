import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDataFolder } from "./data-lock.ts";
import { StartError } from "./installation.ts";

const MODULE = new URL("data-lock.ts", import.meta.url).href;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Takes the lock in another process, which ends at once; what it could not. */
function elsewhere(): string {
  const script = `import(${JSON.stringify(MODULE)}).then(({ lockDataFolder }) => { try { lockDataFolder(${JSON.stringify(folder)}); console.log("taken"); } catch (error) { console.log(error.message); } process.kill(process.pid, "SIGKILL"); });`;
  try {
    return execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim();
  } catch (error) {
    return (error as { readonly stdout: string }).stdout.trim();
  }
}

describe("the lock of a data folder", () => {
  it("is one process's, until it gives it back", () => {
    const lock = lockDataFolder(folder);
    expect(elsewhere()).toBe(
      `The data folder ${folder} is in use by another gateway: stop that one, or name another folder in server.data_directory.`,
    );
    lock.release();
    expect(elsewhere()).toBe("taken");
  });

  it("goes with a process that is killed", () => {
    expect(elsewhere()).toBe("taken");
    expect(() => lockDataFolder(folder).release()).not.toThrow();
  });

  it("that cannot be made says which file", () => {
    writeFileSync(
      join(folder, "gateway.lock"),
      "this is not what it should be, and it is long enough to be read as a database header",
    );
    expect(() => lockDataFolder(folder)).toThrow(StartError);
    expect(() => lockDataFolder(folder)).toThrow(
      /gateway\.lock cannot be used: .* delete the file/,
    );
  });
});
