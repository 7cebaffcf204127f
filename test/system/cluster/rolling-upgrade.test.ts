/**
 * An upgrade in the place of the running version, with two workers, from a copy of the sources whose
 * store then has one more schema change; and the way back, which is refused.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClusterWorkspace } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { environmentOf, type GatewayProcess, MASTER_KEY } from "../support/gateway-process.ts";
import { startLoad } from "../support/load.ts";
import type { Workspace } from "../support/workspace.ts";

const ROOT = realpathSync(new URL("../../..", import.meta.url).pathname);
const LOOPS = 8;

let upstream: Upstream;
let installed: string;
let workspace: Workspace;
let gateway: ChildProcess;

/** A copy of the packages of this repository, with links to the packages of others. */
function copyInstallation(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-version-"));
  const isOwn = (path: string): boolean => !/\/(?:node_modules|dist)(?:\/|$)/.test(path);
  for (const name of ["core", "plugins"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: isOwn });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  const modules = join(ROOT, "node_modules");
  mkdirSync(join(folder, "node_modules", "@sluice"), { recursive: true });
  for (const name of readdirSync(modules))
    if (name !== "@sluice" && !name.startsWith("."))
      symlinkSync(join(modules, name), join(folder, "node_modules", name));
  for (const name of readdirSync(join(modules, "@sluice"))) {
    const own = relative(ROOT, realpathSync(join(modules, "@sluice", name)));
    symlinkSync(join(folder, own), join(folder, "node_modules", "@sluice", name));
  }
  return folder;
}

const migrations = (): string => join(installed, "plugins/store-sqlite/src/migrations.ts");

/** Installs the next version: its store has one more schema change. */
function installNext(): void {
  const text = readFileSync(migrations(), "utf8").trimEnd();
  if (!text.endsWith("};")) throw new Error("The migrations do not end with their table.");
  const next = `  "0999_next_version": {
    async up(database) {
      await sql\`alter table ledger add column of_the_next_version text\`.execute(database);
    },
  },
};
`;
  writeFileSync(migrations(), text.slice(0, -2) + next);
}

function run(...args: readonly string[]): ChildProcess {
  const command = join(installed, "core/cli/bin/sluice.js");
  return spawn(process.execPath, [command, ...args, "--config", workspace.configPath], {
    cwd: workspace.folder,
    env: environmentOf({ SLUICE_ADMIN_PORT: undefined }),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function outputOf(child: ChildProcess) {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

beforeAll(async () => {
  upstream = await createUpstream();
  installed = copyInstallation();
  workspace = createClusterWorkspace(upstream.baseUrl, "admin: { port: 0 }");
});
afterAll(async () => {
  gateway?.kill("SIGKILL");
  workspace?.remove();
  rmSync(installed, { recursive: true, force: true });
  await upstream?.close();
});

it("replaces both workers without a lost request, and a downgrade is refused", async () => {
  gateway = run("serve", "--log-level", "warn");
  let printed = "";
  gateway.stdout?.setEncoding("utf8").on("data", (piece: string) => (printed += piece));
  gateway.stderr?.setEncoding("utf8").on("data", (piece: string) => (printed += piece));
  const [, publicUrl = ""] = await eventually(
    "the gateway to listen",
    () => /Sluice listens on (\S+), for administration/.exec(printed) ?? undefined,
    60_000,
  );
  const load = startLoad(
    { publicUrl, masterKey: MASTER_KEY } as GatewayProcess,
    LOOPS,
    "gpt-4o-mini",
  );
  const oneMore = async (): Promise<void> => {
    const from = load.count;
    await eventually("requests", () => load.count > from + 50);
  };
  await oneMore();

  installNext();
  const check = await outputOf(run("upgrade", "--check"));
  expect(check).toMatchObject({ code: 0 });
  expect(check.text).toMatch(/the start changes its schema: 0999_next_version/);
  expect(await outputOf(run("restart"))).toMatchObject({
    code: 0,
    text: expect.stringContaining("2 of 2 workers replaced") as string,
  });
  await oneMore();
  const columns = columnsOfLedger();
  expect(columns).toContain("of_the_next_version");

  cpSync(join(ROOT, "plugins/store-sqlite/src/migrations.ts"), migrations());
  const older = await outputOf(run("upgrade", "--check"));
  expect(older).toMatchObject({ code: 1 });
  expect(older.text).toMatch(/written by a newer version, with 0999_next_version/);
  const refused = await outputOf(run("restart"));
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.text).toMatch(/was written by a newer version.*0 of 2 workers replaced/s);
  await oneMore();
  expect(columnsOfLedger()).toEqual(columns);

  const seen = await load.stop();
  expect(seen.length).toBeGreaterThan(150);
  expect(seen.filter(({ status, hasEnded }) => status !== 200 || !hasEnded)).toEqual([]);
  gateway.kill("SIGTERM");
  expect(await once(gateway, "exit")).toEqual([0, null]);
});

function columnsOfLedger(): readonly unknown[] {
  const database = new DatabaseSync(join(workspace.dataDirectory, "sluice.db"), { readOnly: true });
  const rows = database.prepare("select name from pragma_table_info('ledger')").all();
  database.close();
  return rows.map(({ name }) => name);
}
