import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { sound, TestFolder } from "../load.fixture.ts";
import { openConfig } from "./open.ts";
import { openSettled } from "./stable-read.ts";
import { diskSource, heldSource, MAX_FILE_BYTES, overlaidSource, recordSource } from "./source.ts";

let folder: TestFolder;
const at = (name: string): string => join(folder.path, name);
const options = () => ({
  path: "config/gateway.yaml",
  cwd: folder.path,
  environment: { OPENAI_API_KEY: "key" },
});

beforeEach(() => {
  folder = new TestFolder(sound);
});
afterEach(() => folder[Symbol.dispose]());

describe("the disk", () => {
  it("gives a file whole, also through links", () => {
    symlinkSync(at("config/gateway.yaml"), at("link"));
    expect(diskSource.read(at("link")).bytes?.toString()).toBe(sound["config/gateway.yaml"]);
  });

  it("says why there is no file, and never waits for one", () => {
    mkdirSync(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    symlinkSync(at("circle"), at("circle"));
    writeFileSync(at("large"), "");
    truncateSync(at("large"), MAX_FILE_BYTES + 1);
    const reasons = ["absent", "folder", "pipe", "circle", "large"].map((name) => {
      const read = diskSource.read(at(name));
      return read.bytes === undefined && read.reason;
    });
    expect(reasons).toEqual([
      "there is no such file",
      "it is a folder",
      "it is a pipe or a device, not a file",
      "its links lead in a circle",
      `it has ${MAX_FILE_BYTES + 1} bytes, and ${MAX_FILE_BYTES} are the limit`,
    ]);
  });

  it.each([
    ["a folder", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
  ])("gives a finding for %s in the place of a file, of a secret as well", (_name, make) => {
    make(at("config/prices.yaml"));
    make(at("config/key"));
    folder.write(
      "config/gateway.yaml",
      (sound["config/gateway.yaml"] ?? "").replace("${env:OPENAI_API_KEY}", "${file:key}"),
    );
    const { findings, snapshot } = folder.load();
    expect(snapshot).toBeUndefined();
    expect(findings).toMatchObject([
      {
        at: { file: "config/prices.yaml" },
        message: expect.stringContaining("cannot be read: it is a "),
      },
    ]);
  });
});

describe("texts", () => {
  it("stand in for the disk, which then has only the files of secrets", () => {
    const texts = new Map(Object.entries(sound).map(([name, text]) => [at(name), text]));
    folder.write("config/gateway.yaml", "broken: [");
    folder.write("pipelines/other.yaml", "broken: [");
    folder.write("config/prices.yaml", "broken: [");
    const opened = openConfig({ ...options(), source: heldSource(texts) });
    expect(opened.findings).toEqual([]);
    expect(opened.documents).toEqual([at("config/gateway.yaml"), at("pipelines/chat.yaml")]);
  });

  it("laid over the disk replace, add and take away", () => {
    folder.write("pipelines/old.yaml", "version: 1");
    const source = overlaidSource(
      new Map([
        [at("pipelines/old.yaml"), null],
        [at("pipelines/new.yaml"), "new"],
        [at("pipelines/chat.yaml"), "other"],
      ]),
    );
    expect([...source.list(at("pipelines"))].sort()).toEqual(["chat.yaml", "new.yaml"]);
    expect(source.read(at("pipelines/chat.yaml")).bytes?.toString()).toBe("other");
    expect(source.read(at("pipelines/old.yaml")).bytes).toBeUndefined();
    expect([
      source.has(at("pipelines/old.yaml")),
      source.has(at("pipelines/new.yaml")),
      source.has(at("config/gateway.yaml")),
    ]).toEqual([false, true, true]);
  });
});

describe("a reading that is recorded", () => {
  it.each([
    ["a file that grows", () => appendFileSync(at("config/gateway.yaml"), "# more\n")],
    ["a pipeline that comes", () => folder.write("pipelines/more.yaml", "version: 1")],
    ["prices that come", () => folder.write("config/prices.yaml", "version: 1")],
  ])("differs from the next one after %s", (_name, change) => {
    const source = recordSource(diskSource);
    openConfig({ ...options(), source });
    expect(source.isStill()).toBe(true);
    change();
    expect(source.isStill()).toBe(false);
  });
});

describe("opening files that are still written", () => {
  it("waits until they stand still and gives what they are then", async () => {
    const opening = openSettled(options());
    folder.write(
      "config/gateway.yaml",
      (sound["config/gateway.yaml"] ?? "").replace("4000", "4567"),
    );
    const opened = await opening;
    expect(opened.findings).toEqual([]);
    expect(opened.gateway?.value).toMatchObject({ server: { port: 4567 } });
  });

  it("ends when its signal aborts", async () => {
    await expect(openSettled(options(), AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});
