import { chmodSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Secret } from "@sluice/contract";
import { providerOf, snapshotOf } from "../pipeline/snapshot.fixture.ts";
import { checkDataFolder, checkMasterKey } from "./installation.ts";
import { clock, node, openFiles } from "./machine.ts";
import { reasonOf } from "./reason.ts";
import { checkProviders } from "./services.ts";

it("quotes no secret of a service's options", () => {
  const options = {
    api_key: new Secret("KEY", "sk-one-0123456789\nsk-two-0123456789"),
    servers: [{ url: new Secret("URL", "postgres://user:p%40ss-word@db.test/x") }],
  };
  for (const said of [
    '"Bearer sk-one-0123456789\nsk-two-0123456789" is an invalid header value',
    "cannot send sk-two-0123456789",
    "no login at postgres://user:p%40ss-word@db.test/x",
    "no login with p%40ss-word, or p@ss-word",
    "a URL that includes credentials: https://user:other-secret@api.test/v1/models",
  ])
    expect(reasonOf(new Error(said), options)).not.toMatch(/sk-|ss-word|other-secret/);
  expect(reasonOf(new Error("connect"), options)).toBe("connect");
  expect(reasonOf(Object.assign(new Error("x"), { code: "ECONNREFUSED" }), {})).toBe(
    "ECONNREFUSED",
  );
});

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "sluice-doctor-test-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const { server } = snapshotOf();

describe("the doctor", () => {
  it("knows which Node, how many files and what time is enough", () => {
    expect(
      ["20.19.0", "22.22.1", "22.22.2", "23.11.0", "24.14.0", "24.14.1", "26.0.0"].map(
        (version) => node(version).grade,
      ),
    ).toEqual(["fail", "fail", "ok", "fail", "fail", "ok", "ok"]);
    const limits = (soft: string) =>
      `Limit                     Soft Limit\nMax open files            ${soft}                 1048576              files\n`;
    expect(["1024", "1048576", "unlimited"].map((soft) => openFiles(limits(soft)).grade)).toEqual([
      "warn",
      "ok",
      "ok",
    ]);
    expect(openFiles("").grade).toBe("skip");
    const file = join(folder, "newer");
    writeFileSync(file, "");
    const nowMs = Date.UTC(2026, 5, 1);
    utimesSync(file, nowMs / 1_000 + 3_600, nowMs / 1_000 + 3_600);
    expect(clock([file, join(folder, "absent")], nowMs)).toMatchObject({
      grade: "warn",
      found: expect.stringContaining("a file is of") as string,
    });
    expect(clock([], nowMs).grade).toBe("ok");
    expect(clock([], 0).grade).toBe("fail");
  });

  it("looks at the data folder and makes nothing there", () => {
    const absent = join(folder, "data");
    expect(checkDataFolder(absent)[0]).toMatchObject({
      grade: "ok",
      found: `${absent} will be made`,
    });
    expect(statSync(absent, { throwIfNoEntry: false })).toBeUndefined();
    expect(checkDataFolder(folder).map(({ name }) => name)).toEqual(["data folder", "disk"]);
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "master.key"), "x", { mode: 0o644 });
    expect(checkDataFolder(folder).find(({ name }) => name === "secrets")).toMatchObject({
      grade: "fail",
      fix: `chmod 600 ${join(folder, "master.key")}`,
    });
  });

  it("wants a master key, or an address where one may be made", () => {
    const local = { ...server, dataDirectory: folder };
    expect(checkMasterKey(local, {})).toMatchObject({
      grade: "ok",
      found: "the first start makes one",
    });
    expect(checkMasterKey({ ...local, host: "0.0.0.0" }, {}).grade).toBe("fail");
    expect(checkMasterKey(local, { SLUICE_MASTER_KEY: "short" }).grade).toBe("fail");
    const given = { SLUICE_MASTER_KEY: "x".repeat(24) };
    expect(checkMasterKey({ ...local, host: "0.0.0.0" }, given).grade).toBe("ok");
    writeFileSync(join(folder, "master.key"), "short");
    expect(checkMasterKey(local, {})).toMatchObject({
      grade: "fail",
      fix: "Delete it, and the next start makes one.",
    });
  });

  it("says which providers lack a credential, and that none is left", async () => {
    const definitions = { providers: new Map() } as never;
    const one = providerOf("openai", { use: "openai", missing: ["${env:OPENAI_API_KEY}"] });
    const echo = providerOf("echo", { use: "echo" });
    expect(
      await checkProviders(snapshotOf({ providers: [one, echo] }), definitions, false),
    ).toEqual([
      {
        name: "provider openai",
        grade: "skip",
        found: "unavailable: ${env:OPENAI_API_KEY} does not resolve",
      },
      { name: "provider echo", grade: "ok", found: "its credential is set" },
      expect.objectContaining({ name: "providers", grade: "warn" }),
    ]);
  });
});
