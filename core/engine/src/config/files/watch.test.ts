import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { TestFolder } from "../load.fixture.ts";
import { watchConfig, type ConfigWatch, type WatchOptions } from "./watch.ts";

let folder: TestFolder;
let watch: ConfigWatch | undefined;
let changes = 0;
let heard: (() => void) | undefined;

beforeEach(() => {
  folder = new TestFolder({ "config/gateway.yaml": "one", "pipelines/chat.yaml": "one" });
  changes = 0;
});

afterEach(async () => {
  await watch?.close();
  folder[Symbol.dispose]();
});

async function start(paths: readonly string[], options: Partial<WatchOptions> = {}): Promise<void> {
  const onChange = (): void => {
    changes += 1;
    heard?.();
  };
  // The poll is far away: what these tests hear comes from the operating system, unless they say
  // otherwise.
  watch = watchConfig({
    paths: paths.map((path) => join(folder.path, path)),
    onChange,
    debounceMs: () => 40,
    pollMs: 3_600_000,
    ...options,
  });
  await watch.ready;
}

/**
 * Does something and waits for the call it must cause. Returns how many calls there were so far.
 */
async function change(act: () => void): Promise<number> {
  const called = new Promise<void>((resolve) => {
    heard = resolve;
  });
  act();
  await called;
  return changes;
}

const paths = ["config/gateway.yaml", "config/prices.yaml", "pipelines", "pipelines/chat.yaml"];

describe("watching", () => {
  it("hears a write in place", async () => {
    await start(paths);
    expect(await change(() => folder.write("config/gateway.yaml", "two, longer"))).toBeGreaterThan(
      0,
    );
  });

  it("hears atomic saves, again and again", async () => {
    await start(paths);
    for (const text of ["two", "three", "four"]) {
      expect(
        await change(() =>
          renameSync(
            folder.write("config/.gateway.yaml.tmp", text),
            join(folder.path, "config/gateway.yaml"),
          ),
        ),
      ).toBeGreaterThan(0);
    }
  });

  it("hears an editor that renames the old file to a backup and writes a new one", async () => {
    await start(paths);
    const file = join(folder.path, "config/gateway.yaml");
    for (const text of ["two", "three"]) {
      const calls = await change(() => {
        renameSync(file, `${file}~`);
        folder.write("config/gateway.yaml", text);
        rmSync(`${file}~`);
      });
      expect(calls).toBeGreaterThan(0);
    }
  });

  it("hears a file that goes, and the same file when it comes back", async () => {
    await start(paths);
    expect(await change(() => rmSync(join(folder.path, "config/gateway.yaml")))).toBeGreaterThan(0);
    expect(await change(() => folder.write("config/gateway.yaml", "again"))).toBeGreaterThan(0);
    expect(await change(() => folder.write("config/gateway.yaml", "and again"))).toBeGreaterThan(0);
  });

  it("hears a file that was never there, and a new pipeline", async () => {
    await start(paths);
    expect(await change(() => folder.write("config/prices.yaml", "new"))).toBeGreaterThan(0);
    expect(await change(() => folder.write("pipelines/models.yaml", "new"))).toBeGreaterThan(0);
  });

  it("hears the swap of links in a mounted ConfigMap", async () => {
    const home = join(folder.path, "mounted");
    const version = (name: string, text: string): void => {
      mkdirSync(join(home, name), { recursive: true });
      writeFileSync(join(home, name, "gateway.yaml"), text);
    };
    version("..1", "one");
    symlinkSync("..1", join(home, "..data"));
    symlinkSync("..data/gateway.yaml", join(home, "gateway.yaml"));
    await start(["mounted/gateway.yaml"]);
    for (const next of ["..2", "..3"]) {
      const calls = await change(() => {
        version(next, "one");
        symlinkSync(next, join(home, "..data_tmp"));
        renameSync(join(home, "..data_tmp"), join(home, "..data"));
      });
      expect(calls).toBeGreaterThan(0);
    }
  });

  it("hears by polling alone when no event comes", async () => {
    folder.write("late/config/gateway.yaml", "one");
    rmSync(join(folder.path, "late"), { recursive: true });
    await start(["late/config/gateway.yaml"], { pollMs: 20 });
    expect(await change(() => folder.write("late/config/gateway.yaml", "two"))).toBeGreaterThan(0);
  });

  it("makes one call of a burst, and none for a file that is none of its own", async () => {
    await start(paths);
    folder.write("config/notes.txt", "not ours");
    await change(() => {
      for (let index = 0; index < 20; index += 1)
        folder.write("pipelines/chat.yaml", "x".repeat(index + 5));
    });
    expect(changes).toBe(1);
  });

  it("follows an update to other paths", async () => {
    // A folder added to a running watch is not yet watched when update returns; the poll covers
    // that moment.
    await start(["config/gateway.yaml"], { pollMs: 20 });
    folder.write("secrets/key", "one");
    watch?.update([join(folder.path, "config/gateway.yaml"), join(folder.path, "secrets/key")]);
    expect(await change(() => folder.write("secrets/key", "another"))).toBeGreaterThan(0);
  });

  it("is silent once it is closed, and closes twice", async () => {
    await start(paths);
    folder.write("config/gateway.yaml", "two, longer");
    await watch?.close();
    await watch?.close();
    expect(changes).toBe(0);
  });
});
