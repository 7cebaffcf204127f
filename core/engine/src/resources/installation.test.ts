import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openInstallation, StartError } from "./installation.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-installation-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (masterKey?: string, mayMakeMasterKey = true) =>
  openInstallation({
    dataDirectory: folder,
    environment: { SLUICE_MASTER_KEY: masterKey },
    mayMakeMasterKey,
  });

describe("an installation", () => {
  it("makes its secrets once, for its owner's eyes", () => {
    const first = open();
    const second = open();
    expect(first).toMatchObject({
      isNewMasterKey: true,
      masterKeyFile: join(folder, "master.key"),
    });
    expect(second).toMatchObject({
      isNewMasterKey: false,
      masterKey: first.masterKey,
      pepper: first.pepper,
    });
    expect(first.masterKey).toMatch(/^sk-\S{43}$/);
    for (const name of ["master.key", "pepper"])
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("keeps no master key that the environment gives", () => {
    expect(open("k".repeat(24))).toMatchObject({
      masterKey: "k".repeat(24),
      isNewMasterKey: false,
      masterKeyFile: undefined,
    });
    expect(() => readFileSync(join(folder, "master.key"))).toThrow("ENOENT");
  });

  it.each(["", "\n", "sk-short\n"])(
    "does not start with a master.key of %j: it would be a key that is known to all",
    (text) => {
      writeFileSync(join(folder, "master.key"), text);
      expect(() => open()).toThrow(/holds no master key/);
    },
  );

  it.each(["", "abcd\n"])("does not start with a pepper of %j", (text) => {
    writeFileSync(join(folder, "pepper"), text);
    expect(() => open()).toThrow(/is damaged/);
  });

  it("says in one line what is wrong with the folder", () => {
    writeFileSync(join(folder, "file"), "");
    const openFile = () =>
      openInstallation({
        dataDirectory: join(folder, "file"),
        environment: {},
        mayMakeMasterKey: true,
      });
    expect(openFile).toThrow(StartError);
    expect(openFile).toThrow(/^The data folder \S+ cannot be used: .*server\.data_directory\.$/);
  });

  it("needs a master key where others can connect, and one that is long enough", () => {
    expect(() => open(undefined, false)).toThrow(/SLUICE_MASTER_KEY/);
    expect(() => open("short")).toThrow(/needs 24/);
    for (const blank of [
      " ".repeat(24),
      `${"k".repeat(30)}\n`,
      `${"k".repeat(12)} ${"k".repeat(12)}`,
    ])
      expect(() => open(blank)).toThrow(/holds blanks/);
  });

  it("takes the master key from a file that a variable names, and keeps no copy", () => {
    const file = join(folder, "secret");
    const openFile = (environment: Record<string, string>) => () =>
      openInstallation({ dataDirectory: folder, environment, mayMakeMasterKey: false });
    writeFileSync(file, `${"k".repeat(30)}\n`);
    expect(openFile({ SLUICE_MASTER_KEY_FILE: file, SLUICE_MASTER_KEY: "" })()).toMatchObject({
      masterKey: "k".repeat(30),
      isNewMasterKey: false,
      masterKeyFile: file,
    });
    expect(() => readFileSync(join(folder, "master.key"))).toThrow("ENOENT");
    expect(openFile({ SLUICE_MASTER_KEY_FILE: file, SLUICE_MASTER_KEY: "k".repeat(24) })).toThrow(
      /are both set/,
    );
    expect(openFile({ SLUICE_MASTER_KEY_FILE: join(folder, "none") })).toThrow(/cannot be read/);
    for (const text of ["", "\n", "short", `${"k".repeat(20)} ${"k".repeat(20)}`]) {
      writeFileSync(file, text);
      expect(openFile({ SLUICE_MASTER_KEY_FILE: file })).toThrow(/SLUICE_MASTER_KEY_FILE, /);
    }
  });
});
