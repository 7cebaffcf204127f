import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readRunning, writeRunning } from "./running-file.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-running-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const running = {
  pid: process.pid,
  publicUrl: "http://127.0.0.1:4000",
  adminUrl: "http://127.0.0.1:4001",
  version: "1.0.0",
};

describe("the file of a gateway that runs", () => {
  it("is there while the gateway runs, for its owner alone", () => {
    const remove = writeRunning(folder, running);
    expect(readRunning(folder)).toEqual(running);
    expect(statSync(join(folder, "gateway.json")).mode & 0o077).toBe(0);
    remove();
    expect(readRunning(folder)).toBeUndefined();
  });

  it("counts for nothing when its process has ended, or it is damaged", () => {
    const { pid } = spawnSync("true");
    writeRunning(folder, { ...running, pid });
    expect(readRunning(folder)).toBeUndefined();
    for (const text of [
      "",
      "{",
      "null",
      '{"pid":1}',
      `{"pid":${process.pid},"publicUrl":"x","adminUrl":"y"}`,
    ]) {
      writeFileSync(join(folder, "gateway.json"), text);
      expect(readRunning(folder)).toBeUndefined();
    }
    expect(readRunning(join(folder, "absent"))).toBeUndefined();
  });

  it("is not taken away by a gateway that it does not name", () => {
    const remove = writeRunning(folder, { ...running, pid: process.pid + 1 });
    writeRunning(folder, running);
    remove();
    expect(readRunning(folder)).toEqual(running);
  });

  it("is no reason not to serve where it cannot be written", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => writeRunning(join(folder, "file"), running)()).not.toThrow();
  });
});
