/** `sluice backup`, `sluice restore` and `sluice upgrade --check`. */

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startOwnProcess } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;
/** Ids of requests whose reply had ended before the backup began. */
const ended: string[] = [];
const CALLERS = 8;

/** A workspace with a data folder of its own, and nothing in it. */
const places: Workspace[] = [];
function newPlace(): Workspace {
  const place = createWorkspace({ baseUrl: upstream.baseUrl });
  places.push(place);
  return place;
}

async function sluice(place: Workspace, ...args: readonly string[]) {
  const command = runCommand([...args, "--config", place.configPath], place.folder);
  const { code } = await command.ended;
  return { code, out: command.stdout, error: command.stderr };
}

const backupFolder = (): string => join(gateway.workspace.folder, "backup");

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startOwnProcess({ baseUrl: upstream.baseUrl });
  await admin(gateway, "/team/new", { team_id: "desk" });
  ({ key } = await createKey(gateway, { team_id: "desk" }));
});
afterAll(async () => {
  await gateway?.dispose();
  for (const place of places) place.remove();
  await upstream?.close();
});

async function ask(place: GatewayProcess): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(place, { model: "gpt-4o-mini", messages: MESSAGES }, { headers });
  await response.arrayBuffer();
  return response;
}

describe("a backup", () => {
  it("is made while the gateway serves, and fails no request", async () => {
    const done = new AbortController();
    let isBacking = false;
    const failures: number[] = [];
    const call = async (): Promise<void> => {
      while (!done.signal.aborted) {
        const wasBacking = isBacking;
        const response = await ask(gateway);
        if (response.status !== 200) failures.push(response.status);
        if (!wasBacking && !isBacking) ended.push(response.headers.get("x-request-id") ?? "");
      }
    };
    const callers = Array.from({ length: CALLERS }, call);
    await eventually("some requests", () => ended.length > 200);
    isBacking = true;
    const { code, out } = await sluice(gateway.workspace, "backup", backupFolder(), "--json");
    done.abort();
    await Promise.all(callers);
    expect([code, failures]).toEqual([0, []]);
    const { files, store } = JSON.parse(out) as { files: { path: string }[]; store: string };
    const paths = files.map(({ path }) => path);
    expect(store).toBe("sqlite");
    expect(paths).toEqual(
      expect.arrayContaining(["pepper", "store.id", "store.db", "outbox.1.log"]),
    );
    expect(paths.some((path) => path.startsWith("generations/"))).toBe(true);
    for (const path of [...paths, "backup.json"])
      expect([path, statSync(join(backupFolder(), path)).mode & 0o077]).toEqual([path, 0]);
    expect((await sluice(gateway.workspace, "backup", backupFolder())).code).toBe(2);
  });

  it("that cannot be written says so, and is not taken for a whole one", async () => {
    const file = join(gateway.workspace.folder, "a-file");
    writeFileSync(file, "");
    const refused = await sluice(gateway.workspace, "backup", join(file, "below"));
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toMatch(
      /^The backup in .* is not whole: delete it\. The reason: ENOTDIR/,
    );
  });

  it("is restored elsewhere with keys, teams, generations and every row of a reply that had ended", async () => {
    const place = newPlace();
    expect(await sluice(place, "restore", backupFolder())).toMatchObject({ code: 0, error: "" });
    const restored = await startOwnProcess(place);
    try {
      expect((await ask(restored)).status).toBe(200);
      const team = await admin(restored, "/team/info?team_id=desk");
      expect(await team.json()).toMatchObject({ total_keys: 1 });
      for (const id of ended.slice(-40)) expect(await rowsOf(restored, id)).toHaveLength(1);
      expect(new Set(ended).size).toBe(ended.length);
    } finally {
      await restored.stop();
    }
  });

  it("is not restored where a gateway runs, or where an installation is, unless it is forced", async () => {
    const running = await sluice(gateway.workspace, "restore", backupFolder(), "--force");
    expect(running).toMatchObject({ code: 1, out: "" });
    expect(running.error).toMatch(
      /Nothing was changed\. The data folder .* is in use by another gateway/,
    );
    expect((await ask(gateway)).status).toBe(200);

    const place = newPlace();
    mkdirSync(place.dataDirectory);
    writeFileSync(join(place.dataDirectory, "pepper"), "mine");
    const refused = await sluice(place, "restore", backupFolder());
    expect(refused.error).toMatch(
      /An installation is there already: .*pepper\. Nothing was changed/,
    );
    expect(readFileSync(join(place.dataDirectory, "pepper"), "utf8")).toBe("mine");
    expect((await sluice(place, "restore", backupFolder(), "--force")).code).toBe(0);
    const [aside = ""] = readdirSync(place.dataDirectory).filter((name) =>
      name.startsWith("replaced-"),
    );
    expect(readFileSync(join(place.dataDirectory, aside, "pepper"), "utf8")).toBe("mine");
    expect(existsSync(join(place.dataDirectory, "sluice.db"))).toBe(true);
  });

  it("that was cut or changed is refused before anything is written", async () => {
    const place = newPlace();
    const outbox = join(backupFolder(), "outbox.1.log");
    const before = readFileSync(outbox);
    appendFileSync(outbox, "x");
    const changed = await sluice(place, "restore", backupFolder());
    expect(changed).toMatchObject({ code: 1 });
    expect(changed.error).toMatch(/outbox\.1\.log has another check value/);
    writeFileSync(outbox, before);
    const manifest = join(backupFolder(), "backup.json");
    const text = readFileSync(manifest, "utf8");
    writeFileSync(manifest, text.replace('"store.id"', '"../../store.id"'));
    expect((await sluice(place, "restore", backupFolder())).error).toMatch(
      /names \.\.\/\.\.\/store\.id/,
    );
    rmSync(manifest);
    expect((await sluice(place, "restore", backupFolder())).error).toMatch(/is no whole backup/);
    writeFileSync(manifest, text);
    expect(existsSync(place.dataDirectory)).toBe(false);
  });

  it("of which a part was restored is not started", async () => {
    const place = newPlace();
    mkdirSync(place.dataDirectory);
    for (const name of ["store.id", "pepper"])
      writeFileSync(join(place.dataDirectory, name), readFileSync(join(backupFolder(), name)));
    const start = await sluice(place, "serve");
    expect(start).toMatchObject({ code: 3 });
    expect(start.error).toMatch(/the store file .* is missing or empty/);
    expect((await sluice(place, "restore", backupFolder(), "--force")).code).toBe(0);
  });
});

describe("sluice upgrade --check", () => {
  it("says what a start would do: nothing, change the schema, or refuse it", async () => {
    const place = newPlace();
    expect(await sluice(place, "upgrade", "--check")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ok {4}store: sqlite: the first start makes it/m) as string,
    });
    await sluice(place, "restore", backupFolder());
    expect(await sluice(place, "upgrade", "--check")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ok {4}store: sqlite: its schema is that of this/m) as string,
    });
    const path = join(place.dataDirectory, "sluice.db");
    const edit = (sql: string): void => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    };
    edit("insert into kysely_migration values ('0999_of_tomorrow', '2030-01-01')");
    const contents = (): unknown => {
      const database = new DatabaseSync(path, { readOnly: true });
      const sql =
        "select name, sql from sqlite_master union all select name, timestamp from kysely_migration";
      const rows = database.prepare(sql).all();
      database.close();
      return rows;
    };
    const before = contents();
    const refused = await sluice(place, "upgrade", "--check");
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(
      /^fail {2}store: .*written by a newer version, with 0999_of_tomorrow/m,
    );
    const start = await sluice(place, "serve");
    expect(start.code).toBe(3);
    expect(start.error).toMatch(/was written by a newer version: .*0999_of_tomorrow/);
    expect(contents()).toEqual(before);
    edit("delete from kysely_migration where name >= '0020'");
    const older = await sluice(place, "upgrade", "--check");
    expect(older.code).toBe(0);
    expect(older.out).toMatch(/^warn {2}store: .*the start changes its schema: 0020_tenants/m);
  });

  it("reports findings of the configuration, and needs --check", async () => {
    const place = newPlace();
    place.write(`${place.config({})}colour: red\n`);
    const found = await sluice(place, "upgrade", "--check");
    expect(found.code).toBe(1);
    expect(found.out).toMatch(/^fail {2}configuration: .*`colour` is not a known key/m);
    expect((await sluice(place, "upgrade")).code).toBe(2);
  });
});
