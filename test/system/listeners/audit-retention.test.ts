/** Old lines of the audit are deleted, the chain says so, and the export has what is left. */

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditEntry } from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";
import { eventually } from "../support/eventually.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const DAY_MS = 86_400_000;
/** More than one step of the deletion. */
const OLD_LINES = 5_200;
const log = { debug() {}, info() {}, warn() {}, error() {} };

let workspace: Workspace;
let gateway: GatewayProcess;

const entry = (atMs: number, object: string): AuditEntry => ({
  atMs,
  actor: "master",
  userId: null,
  session: null,
  address: null,
  action: "team.update",
  object,
  organizationId: null,
  teamId: null,
  outcome: "done",
  before: null,
  after: null,
  requestId: null,
});

beforeAll(async () => {
  workspace = createWorkspace({ server: "admin: { keep_audit: 400d }" });
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  // The lines of a gateway that has run for years.
  const store = sqlite.create({}, { log, clock, dataDirectory: workspace.dataDirectory });
  await store.start(AbortSignal.timeout(20_000));
  for (let at = 0; at < OLD_LINES; at += 1)
    await store.audit?.append(entry(Date.now() - 500 * DAY_MS + at, `team:old-${at}`));
  for (let at = 0; at < 5; at += 1)
    await store.audit?.append(entry(Date.now() - DAY_MS + at, `team:new-${at}`));
  await store.stop();
  gateway = await startGateway(workspace);
}, 60_000);

afterAll(async () => {
  await gateway?.dispose();
  workspace?.remove();
});

async function read(path: string, key = MASTER_KEY): Promise<Response> {
  return fetch(`${gateway.adminUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
}

async function run(...args: readonly string[]) {
  const command = runCommand(
    ["audit", ...args, "--config", workspace.configPath],
    workspace.folder,
    { SLUICE_ADMIN_PORT: new URL(gateway.adminUrl).port, SLUICE_MASTER_KEY: MASTER_KEY },
  );
  const { code } = await command.ended;
  return { code, text: command.stdout + command.stderr };
}

async function firstLine(): Promise<Readonly<Record<string, unknown>>> {
  const { lines } = (await (await read("/audit?order=oldest&limit=1")).json()) as {
    readonly lines: readonly Readonly<Record<string, unknown>>[];
  };
  return lines[0] ?? {};
}

describe("the audit", () => {
  it("keeps the lines of its time, and the chain says where it begins", async () => {
    await eventually("the deletion", async () => (await firstLine())["seq"] === OLD_LINES + 1);
    const { lines } = (await (await read("/audit?action=audit.prune")).json()) as {
      readonly lines: readonly Readonly<Record<string, unknown>>[];
    };
    expect(lines).toMatchObject([
      { actor: "gateway", outcome: "done", after: { through: OLD_LINES } },
      { actor: "gateway", after: { through: 5_000 } },
    ]);
    const { code, text } = await run("verify");
    expect([code, text]).toEqual([0, expect.stringContaining(`begins at line ${OLD_LINES + 1}`)]);
    const old = await run("verify", "--head", `17:${"0".repeat(64)}`);
    expect([old.code, old.text]).toEqual([1, expect.stringContaining("because of its age")]);
  });

  it("is exported as lines of JSON, and the export is a line", async () => {
    const { code, text } = await run("export", "--action", "team.update");
    expect(code).toBe(0);
    const exported = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(exported).toMatchObject(
      Array.from({ length: 5 }, (_, at) => ({ object: `team:new-${at}` })),
    );
    const response = await read("/audit/export");
    expect(response.headers.get("content-type")).toContain("application/x-ndjson");
    const { lines } = (await (await read("/audit?action=audit.export")).json()) as {
      readonly lines: readonly object[];
    };
    expect(lines).toMatchObject([
      { outcome: "done" },
      { outcome: "begun" },
      { outcome: "done", after: { action: "team.update" } },
      { outcome: "begun" },
    ]);
  });

  it("a first line that another hand deleted is missing", async () => {
    const database = new DatabaseSync(join(workspace.dataDirectory, "sluice.db"));
    database.prepare("delete from audit where seq = ?").run(OLD_LINES + 1);
    database.close();
    const { code, text } = await run("verify");
    expect([code, text]).toEqual([1, expect.stringContaining("they are missing")]);
  });
});
