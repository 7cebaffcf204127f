/** The configuration in the store: pushed once, run by every instance. */

import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../support/client.ts";
import {
  commandAt,
  createFleet,
  type FleetMember,
  fleetOf,
  type TestFleet,
} from "../support/databases/fleet.ts";
import { eventually } from "../support/eventually.ts";
import { startOwnProcess } from "../support/gateway-process.ts";
import { isServerThere } from "../support/postgres.ts";
import type { Workspace } from "../support/workspace.ts";

const STORE = 'store: { use: postgres, url: "${env:DATABASE_URL}" }';
/** The gateway file of a machine: nothing but what is its own. */
const machine = (server = ""): string =>
  `version: 1\nserver: { data_directory: data${server} }\n${STORE}\nconfig: { source: postgres }\n`;

let upstream: Upstream;
let fleet: TestFleet;
let folder: string;

/** What is pushed: a model, and further lines. */
const gatewayOf = (target: string, more = ""): string => `version: 1
providers:
  openai: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }
  echo: { use: echo }
models:
  - { id: m, targets: [{ provider: openai, model: ${target} }] }
  - { id: other, targets: [{ provider: echo, model: echo }] }
${more}`;

const write = (text: string): void => writeFileSync(join(folder, "gateway.yaml"), text);
const push = (member: FleetMember, ...args: readonly string[]) =>
  commandAt(member, "push", folder, ...args);
const env = { OPENAI_API_KEY: "sk-upstream" };

/** The gateway of a member starts again in the same folder. */
async function restart(member: FleetMember): Promise<void> {
  member.gateway = await startOwnProcess(member.workspace, member.environment);
}

async function statusOf({ gateway }: FleetMember) {
  const response = await admin(gateway, "/config/status");
  return (await response.json()) as {
    readonly live: { readonly generation: number; readonly origin: string };
    readonly canary: { readonly generation: number } | null;
    readonly drift: { readonly files_differ: boolean };
    readonly workers?: readonly { readonly generation: number }[];
  };
}

const runs = (member: FleetMember, generation: number): Promise<unknown> =>
  eventually(`generation ${generation}`, async () => {
    const { live, workers = [] } = await statusOf(member);
    return live.generation === generation && workers.every((one) => one.generation === generation);
  });

describe.skipIf(!isServerThere)("config: { source: postgres }", () => {
  let first: FleetMember;
  let second: FleetMember;
  let third: FleetMember;

  beforeAll(async () => {
    upstream = await createUpstream();
    upstream.script("bad", { kind: "error", status: 500, message: "no" });
    folder = mkdtempSync(join(tmpdir(), "sluice-push-"));
    mkdirSync(join(folder, "pipelines"));
    fleet = await createFleet({ baseUrl: upstream.baseUrl });
    const prepare = (workspace: Workspace): void =>
      workspace.write(machine(", admin: { editor: write }"));
    first = await fleet.add({ ...env, EXTRA: "one" }, prepare);
    [second, third] = await Promise.all([
      fleet.add({ ...env, EXTRA: "two" }, (workspace) => workspace.write(machine(", workers: 2"))),
      fleet.add(env, prepare),
    ]);
  });
  afterAll(async () => {
    await fleet?.dispose();
    await upstream?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  it("is not ready before the first push, which every instance then runs under one number", async () => {
    expect((await fetch(`${first.gateway.publicUrl}/health/ready`)).status).toBe(503);
    write(gatewayOf("one"));
    const dry = await push(first, "--dry-run");
    expect(dry.stdout).toContain("model m: is added");
    expect(dry.stdout).toContain("applicable");
    expect((await statusOf(first)).live.generation).toBe(1);
    const pushed = await push(first, "--wait");
    expect(pushed.stderr + pushed.stdout).toMatch(/3 of 3 instances run files/);
    expect(pushed.code).toBe(0);
    for (const member of fleet.members) await runs(member, 2);
    expect((await fetch(`${second.gateway.publicUrl}/health/ready`)).status).toBe(200);
    const response = await chat(third.gateway, { model: "m", messages: MESSAGES });
    expect([response.status, response.headers.get("x-sluice-generation")]).toEqual([200, "2"]);
    await response.text();
    expect((await push(second)).stdout).toContain("unchanged");
  });

  it("refuses what is wrong for every machine, at its line, and changes nothing", async () => {
    write(`${gatewayOf("two")}server: { port: 1 }\n`);
    const misplaced = await push(first);
    expect(misplaced.code).toBe(1);
    expect(misplaced.stdout).toMatch(/store:gateway.yaml:8:1 .*`server` stands in the pushed/);
    write(gatewayOf("two", 'prices: "${env:SLUICE_MASTER_KEY}"\n'));
    expect((await push(second)).stdout).toContain("is a secret of the gateway itself");
    write(gatewayOf("two").replace("env:OPENAI_API_KEY", "env:DATABASE_URL"));
    expect((await push(second)).stdout).toContain("is a secret of the gateway itself");
    write(gatewayOf("two").replace("env:OPENAI_API_KEY", "file:data/pepper"));
    expect((await push(second)).stdout).toContain("is in none of the folders of secrets");
    write("version: 1\nmodels: [{ id: only, targets: [{ provider: x, model: x }] }]\n");
    expect((await push(third)).code).toBe(1);
    const failing = `version: 1\npipeline: chat\nroutes: [POST /v1/chat/completions]\noperation: chat\nsteps: [auth, cost, limits, provider]\ntests:\n  - { name: fails, request: { model: m, messages: [{ role: user, content: a }] }, upstream: [{ reply: ok }], expect: { status: 418 } }\n`;
    write(gatewayOf("two"));
    writeFileSync(join(folder, "pipelines/chat.yaml"), failing);
    const tested = await push(first);
    expect(tested.stdout).toContain("store:pipelines/chat.yaml:");
    expect(tested.code).toBe(1);
    rmSync(join(folder, "pipelines/chat.yaml"));
    for (const member of fleet.members) await runs(member, 2);
    expect((await fleetOf(first)).rollout?.id).toBe(2);
  });

  it("is refused where a machine lacks a variable, and applies there after a restart with it", async () => {
    write(
      gatewayOf("two", '  - { id: "${env:EXTRA}", targets: [{ provider: echo, model: echo }] }\n'),
    );
    const pushed = await push(first, "--wait", "20s");
    expect(pushed.code).toBe(1);
    expect(pushed.stdout).toContain("needs ${env:EXTRA}, which is not set");
    expect(pushed.stdout).toMatch(/2 of 3 instances run files/);
    await runs(first, 3);
    await runs(third, 2);
    const { stdout } = await commandAt(second, "status", "--fleet");
    expect(stdout).toContain("refused files");
    await third.gateway.stop();
    Object.assign(third.environment, { EXTRA: "three" });
    await restart(third);
    await runs(third, 3);
    await eventually("agreement", async () => (await fleetOf(first)).agree);
  });

  it("has one winner of two pushes at once, and refuses one from an older generation", async () => {
    write(gatewayOf("three"));
    const other = mkdtempSync(join(tmpdir(), "sluice-push-"));
    writeFileSync(join(other, "gateway.yaml"), gatewayOf("four"));
    const both = await Promise.all([
      push(first, "--base", "3"),
      commandAt(second, "push", other, "--base", "3"),
    ]);
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, 1]);
    expect(both.map(({ stderr }) => stderr).join("")).toMatch(/came|began|generation 4/);
    for (const member of fleet.members) await runs(member, 4);
    const late = await push(third, "--base", "3");
    expect(late.stderr).toContain("generation 4 by");
    const pulled = join(other, "pulled");
    expect((await commandAt(first, "pull", "--out", pulled)).code).toBe(0);
    const text = readFileSync(join(pulled, "gateway.yaml"), "utf8");
    expect([gatewayOf("three"), gatewayOf("four")]).toContain(text);
    writeFileSync(join(pulled, "gateway.yaml"), gatewayOf("five"));
    expect((await commandAt(third, "push", pulled, "--wait")).code).toBe(0);
    // The folder is that of the new generation.
    writeFileSync(join(pulled, "gateway.yaml"), gatewayOf("six"));
    expect((await commandAt(third, "push", pulled, "--wait")).code).toBe(0);
    for (const member of fleet.members) await runs(member, 6);
    rmSync(other, { recursive: true });
  });

  it("returns to an earlier generation everywhere, as a new one", async () => {
    const { code } = await commandAt(second, "rollback", "2");
    expect(code).toBe(0);
    for (const member of fleet.members) await runs(member, 7);
    expect((await statusOf(first)).drift.files_differ).toBe(false);
    const back = await commandAt(third, "rollback");
    expect(back.stdout).toContain("generation 8");
    for (const member of fleet.members) await runs(member, 8);
    const history = await admin(first.gateway, "/fleet/history");
    const { rollouts } = (await history.json()) as {
      readonly rollouts: readonly {
        readonly id: number;
        readonly kind: string;
        readonly contents_of: number | null;
        readonly instances: readonly { readonly outcome: string }[];
      }[];
    };
    expect(rollouts[0]).toMatchObject({ id: 8, kind: "rollback", contents_of: 6 });
    expect(rollouts[1]).toMatchObject({ id: 7, kind: "rollback", contents_of: 2 });
    expect(rollouts[1]?.instances.map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 3 }, () => "applied"),
    );
  });

  it("begins as a canary, which a killed instance joins again after its start", async () => {
    write(gatewayOf("seven"));
    const begun = await push(first, "--canary", "50%", "--for", "10m", "--wait");
    expect(begun.stdout).toMatch(/3 of 3 instances try files/);
    await third.gateway.kill();
    await restart(third);
    expect((await statusOf(third)).live.generation).toBe(8);
    await eventually("the canary at the third", async () => {
      const { live, canary } = await statusOf(third);
      return live.generation === 8 && canary?.generation === 9;
    });
    expect((await commandAt(third, "canary", "promote")).code).toBe(0);
    for (const member of fleet.members) await runs(member, 9);
  });

  it("is served from a copy while the store is away, and followed when it is back", async () => {
    write(gatewayOf("eight"));
    await third.gateway.stop();
    await fleet.database.setAway(true);
    const lost = await push(first);
    expect(lost.code).toBe(1);
    expect(lost.stderr).toMatch(/cannot be written|does not answer/);
    await restart(third);
    const response = await chat(third.gateway, { model: "m", messages: MESSAGES });
    expect([response.status, response.headers.get("x-sluice-generation")]).toEqual([200, "9"]);
    await response.text();
    await fleet.database.setAway(false);
    const pushed = await eventually("the store to answer", async () => {
      const done = await push(first);
      return done.code === 0 && done;
    });
    expect(pushed.stdout).toContain("applied: generation 10");
    for (const member of fleet.members) await runs(member, 10);
  });

  it("takes edits over the admin listener, where the machine lets it, and applies them everywhere", async () => {
    const filesOf = async ({ gateway }: FleetMember) =>
      (await (await admin(gateway, "/config/files?of=files")).json()) as {
        readonly files: Readonly<Record<string, string>>;
        readonly digest: string;
        readonly source: string;
      };
    const edit = async ({ gateway }: FleetMember, body: object) => {
      const answer = await fetch(`${gateway.adminUrl}/config/files`, {
        method: "PUT",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const { files, digest, source } = await filesOf(first);
    expect([source, Object.keys(files)]).toEqual(["store", ["store:gateway.yaml"]]);
    const edited = {
      files: { "store:gateway.yaml": gatewayOf("edited") },
      base: digest,
      author: "ada",
    };
    const proposed = await edit(second, edited);
    expect([proposed.status, JSON.stringify(proposed.body)]).toEqual([
      403,
      expect.stringContaining("`server.admin.editor` is `propose`"),
    ]);
    const wrong = await edit(first, {
      ...edited,
      files: { "store:gateway.yaml": gatewayOf("edited").replace("env:OPENAI", "env:SLUICE") },
    });
    expect(wrong).toMatchObject({ status: 200, body: { outcome: "refused", files: "put_back" } });
    const done = await edit(first, edited);
    expect(done).toMatchObject({
      status: 200,
      body: { outcome: "applied", generation: 11, files: "written", author: "ada" },
    });
    for (const member of fleet.members) await runs(member, 11);
    expect(await edit(first, edited)).toMatchObject({
      status: 200,
      body: { outcome: "unchanged", files: "unchanged" },
    });
    const late = await edit(third, {
      ...edited,
      files: { "store:gateway.yaml": gatewayOf("late") },
    });
    expect(late).toMatchObject({
      status: 409,
      body: { files: { "store:gateway.yaml": gatewayOf("edited") } },
    });
    const unknown = await edit(first, {
      files: { "store:../elsewhere.yaml": "version: 1\n" },
      base: done.body["files_digest"],
    });
    expect(unknown).toMatchObject({ status: 400 });
  });

  it("counts an instance of another version that does not take part as lacking", async () => {
    const report = JSON.stringify({ name: "old", version: "0.9.0", contents: "c", digest: "d" });
    await fleet.database.query(
      `insert into instance values ('old', 0, (extract(epoch from clock_timestamp()) * 1000)::bigint, '${report}')`,
    );
    write(gatewayOf("nine"));
    const pushed = await push(second, "--wait", "3s");
    expect(pushed.code).toBe(1);
    expect(pushed.stdout).toContain("version 0.9.0 has not taken part");
    expect(pushed.stdout).toMatch(/3 of 4 instances run files/);
  });
});
