/**
 * The store's file: locked, deleted, moved away with its folder, missing at a start, or under
 * another pepper.
 */

import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let key = "";

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl });
  // The file follows the data folder.
  const text = workspace.config({ baseUrl: upstream.baseUrl });
  workspace.write(text.replace(/^store: .*$/m, "store: { use: sqlite }"));
  gateway = await startGateway(workspace);
  const made = await admin(gateway, "/key/generate", { key_alias: "first" });
  ({ key } = (await made.json()) as { key: string });
});
afterAll(async () => {
  await gateway?.kill();
  workspace?.remove();
  await upstream?.close();
});

const file = (name: string): string => join(workspace.dataDirectory, name);
const ask = async (): Promise<Response> => {
  const response = await chat(
    gateway,
    { model: "gpt-4o-mini", messages: MESSAGES },
    { headers: { authorization: `Bearer ${key}` } },
  );
  await response.text();
  return response;
};
const ready = async (): Promise<boolean> =>
  (await fetch(`${gateway.publicUrl}/health/ready`)).status === 200;
const statusText = async (): Promise<string> => {
  const command = runCommand(
    ["status", "--config", workspace.configPath, "--admin-url", gateway.adminUrl],
    workspace.folder,
  );
  await command.ended;
  return command.stdout;
};
describe("the store's file", () => {
  it("is in the data folder", () => {
    expect(existsSync(file("sluice.db"))).toBe(true);
  });

  it("may be locked: requests and health do not wait, a change waits alone, and the rows come", async () => {
    expect((await ask()).status).toBe(200);
    const other = new DatabaseSync(file("sluice.db"));
    other.exec("begin exclusive");
    let change: Promise<Response> | undefined;
    const ids: string[] = [];
    try {
      change = admin(gateway, "/key/generate", { key_alias: "second" });
      for (let count = 0; count < 20; count += 1) {
        const response = await ask();
        expect(response.status).toBe(200);
        ids.push(response.headers.get("x-request-id") ?? "");
        expect((await fetch(`${gateway.publicUrl}/health/live`)).status).toBe(200);
        await pause(10);
      }
    } finally {
      other.exec("rollback");
      other.close();
    }
    expect((await change).status).toBe(200);
    for (const id of ids) expect(await rowsOf(gateway, id)).toHaveLength(1);
  });

  it("may be moved away with its folder: refused before any call, and served again when it is back", async () => {
    const away = `${workspace.dataDirectory}-away`;
    renameSync(workspace.dataDirectory, away);
    await eventually("the loss to be noticed", async () => !(await ready()));
    const calls = upstream.requests.length;
    expect((await ask()).status).toBe(503);
    expect(upstream.requests.length).toBe(calls);
    expect(existsSync(workspace.dataDirectory)).toBe(false);
    renameSync(away, workspace.dataDirectory);
    await eventually("the return to be noticed", ready);
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toHaveLength(1);
  });

  it("may be deleted under a running gateway: it is said, and nothing is written to what is gone", async () => {
    renameSync(file("sluice.db"), file("kept.db"));
    await eventually("the loss to be noticed", async () => !(await ready()));
    const calls = upstream.requests.length;
    expect((await ask()).status).toBe(503);
    expect(upstream.requests.length).toBe(calls);
    const made = await admin(gateway, "/key/generate", { key_alias: "third" });
    expect(made.status).toBe(503);
    expect(await statusText()).toContain(`The store file ${file("sluice.db")} is missing`);
    expect(gateway.stderr).toContain("spend rows cannot be stored");
    renameSync(file("kept.db"), file("sluice.db"));
    await eventually("the return to be noticed", ready);
    expect((await ask()).status).toBe(200);
  });

  it("is never made anew by a start, and is refused under another pepper", async () => {
    await gateway.stop();
    renameSync(file("sluice.db"), file("kept.db"));
    const command = runCommand(["serve", "--config", workspace.configPath], workspace.folder);
    expect((await command.ended).code).not.toBe(0);
    expect(command.stderr).toContain(`the store file ${file("sluice.db")} is missing or empty`);
    expect(command.stderr).toContain(`delete ${file("store.id")}`);
    expect(existsSync(file("sluice.db"))).toBe(false);
    renameSync(file("kept.db"), file("sluice.db"));
    writeFileSync(file("pepper"), `${"ab".repeat(32)}\n`);
    const foreign = runCommand(["serve", "--config", workspace.configPath], workspace.folder);
    expect(await foreign.ended).toEqual({ code: 3, signal: null });
    expect(foreign.stderr).toContain("The keys of the store were made under another pepper than");
    const doctor = runCommand(["doctor", "--config", workspace.configPath], workspace.folder);
    expect(await doctor.ended).toEqual({ code: 1, signal: null });
    expect(doctor.stdout).toMatch(
      /^fail {2}pepper: The keys of the store were made under another/m,
    );
    gateway = await startGateway(workspace, { SLUICE_FOREIGN_PEPPER: "accept" });
    expect((await ask()).status).toBe(401);
    expect(gateway.stderr).toContain("the keys of this store were made under another pepper");
  });
});
