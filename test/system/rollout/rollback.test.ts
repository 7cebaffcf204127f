/**
 * The history of generations: what ran, back to it, and a start from it when the files are broken.
 */

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  admin,
  type Attempt,
  chat,
  configPost,
  configStatus,
  MESSAGES,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

interface History {
  readonly generations: readonly {
    readonly generation: number;
    readonly is_live: boolean;
    readonly origin: string;
    readonly contents_of: number | null;
    readonly changes: readonly string[];
  }[];
  readonly attempts: readonly Attempt[];
}

let workspace: Workspace;
let gateway: GatewayProcess;
const others: GatewayProcess[] = [];

beforeAll(async () => {
  workspace = createWorkspace();
  workspace.write(modelsOf("zero", "echo"));
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await Promise.all(others.map((other) => other.kill()));
  await gateway?.dispose();
});

const modelsOf = (...ids: string[]): string =>
  workspace.config({
    models: ids.map((id) => `{ id: ${id}, targets: [{ provider: echo, model: echo }] }`),
  });

/**
 * The edit is noticed and asked for: whichever comes first applies it, and the other finds it
 * running.
 */
async function edit(...ids: string[]): Promise<Attempt> {
  workspace.write(modelsOf(...ids));
  return configPost(gateway, "reload");
}

const served = async (model: string, at = gateway): Promise<number> =>
  (await chat(at, { model, messages: MESSAGES })).status;
const history = async (): Promise<History> =>
  (await (await admin(gateway, "/config/history")).json()) as History;

async function command(...args: string[]) {
  const run = runCommand(
    [...args, "--config", workspace.configPath, "--admin-url", gateway.adminUrl],
    workspace.folder,
  );
  const { code } = await run.ended;
  return { code, out: run.stdout, err: run.stderr };
}

describe("rolling back", () => {
  it("applies the contents of an older generation as a new one and leaves the files alone", async () => {
    expect(await edit("one", "echo")).toMatchObject({ generation: 2 });
    expect(await edit("two", "echo")).toMatchObject({ generation: 3 });
    expect([await served("one"), await served("two")]).toEqual([404, 200]);
    expect(await configPost(gateway, "rollback")).toMatchObject({
      outcome: "applied",
      generation: 4,
    });
    expect([await served("one"), await served("two")]).toEqual([200, 404]);
    expect(readFileSync(workspace.configPath, "utf8")).toBe(modelsOf("two", "echo"));
    const { live, drift } = await configStatus(gateway);
    expect(live).toMatchObject({ generation: 4, origin: "rollback", contents_of: 2 });
    expect(drift).toEqual({
      files_differ: true,
      files: [{ path: workspace.configPath, change: "changed" }],
    });
    // The way back from a rollback is further back, not to what it was rolled back from.
    expect(await configPost(gateway, "rollback")).toMatchObject({
      outcome: "applied",
      generation: 5,
    });
    expect((await configStatus(gateway)).live).toMatchObject({ contents_of: 1 });
  });

  it("is shown by the command line, with the files that differ", async () => {
    const { code, out } = await command("status");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^running generation 5 = rollback of 1, digest [0-9a-f]{12}, since \S+, 0 in flight$/m,
    );
    expect(out).toContain(`the files differ from what runs: ${workspace.configPath} (changed)`);
    const listed = await command("history");
    expect(listed.out.split("\n").slice(1, 3)).toEqual([
      expect.stringMatching(/^\*5 .* rollback of 1 /),
      expect.stringMatching(/^ 4 .* rollback of 2 /),
    ]);
  });

  it("stands until the files are edited again; the next edit applies as any other", async () => {
    // A file that is touched is no edit.
    workspace.write(modelsOf("two", "echo"));
    const attempts = (await history()).attempts.length;
    await eventually(
      "the touch to be noticed",
      async () => (await history()).attempts.length > attempts,
    );
    expect((await configStatus(gateway)).live).toMatchObject({ generation: 5, contents_of: 1 });
    workspace.write(modelsOf("three", "echo"));
    const { live, drift } = await eventually("the edit to apply", async () => {
      const status = await configStatus(gateway);
      return status.live.generation === 6 && status;
    });
    expect([live.origin, live.contents_of, drift.files_differ]).toEqual(["files", null, false]);
    expect(await served("three")).toBe(200);
  });

  it("to a generation by its number, past the shrink guard; not to one that is not kept", async () => {
    expect((await command("rollback", "2")).out).toMatch(
      /^applied: generation 7 \(digest [0-9a-f]{12}\)$/m,
    );
    expect(await served("one")).toBe(200);
    const missing = await command("rollback", "99");
    expect([missing.code, missing.err]).toEqual([
      1,
      expect.stringContaining("Generation 99 is not in the history, which holds 1, 2, "),
    ]);
    expect((await command("rollback", "first")).code).toBe(2);
    const { generations } = await history();
    expect(generations.map(({ generation }) => generation)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(generations[0]).toMatchObject({ is_live: true, origin: "rollback", contents_of: 2 });
    expect(generations[4]?.changes).toEqual(["config/gateway.yaml (changed)"]);
    expect(generations[6]).toMatchObject({ origin: "start", changes: [] });
  });
});

describe("asking first", () => {
  it("says what candidate files would come to and applies nothing", async () => {
    expect((await command("reload")).out).toMatch(/^applied: generation 8 /m);
    const validate = (files?: object) =>
      configPost(gateway, "validate", files === undefined ? {} : { files });
    expect(await validate()).toMatchObject({ outcome: "unchanged", findings: [] });
    expect(await validate({ "config/gateway.yaml": modelsOf("four", "echo") })).toMatchObject({
      outcome: "applicable",
      findings: [],
    });
    expect(await validate({ "config/gateway.yaml": "version: 2\n" })).toMatchObject({
      outcome: "refused",
    });
    const cut = await validate({
      "pipelines/chat.yaml": null,
      "pipelines/models.yaml": null,
      "pipelines/spend.yaml": "version: 1",
    });
    expect(cut.findings[0]).toMatchObject({ file: "pipelines/spend.yaml", line: 1, column: 1 });
    const foreign = await admin(gateway, "/config/validate", { files: { "/etc/passwd": "x" } });
    expect([foreign.status, (await foreign.json()) as unknown]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ param: "files" }) }),
    ]);
    expect((await configStatus(gateway)).live.generation).toBe(8);
    expect((await history()).generations).toHaveLength(8);
  });

  it("ends a refused reload with 1 and its findings", async () => {
    workspace.write("version: 2\n", "in place");
    const { code, out } = await command("reload", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      outcome: "refused",
      findings: expect.arrayContaining([expect.objectContaining({ line: 1 })]),
    });
    const status = await command("status", "--json");
    expect(JSON.parse(status.out)).toMatchObject({
      live: { generation: 8 },
      drift: { files_differ: true },
    });
  });
});

describe("a restart", () => {
  it("goes on with the numbers, and keeps what ran for its owner alone", async () => {
    workspace.write(modelsOf("three", "echo"));
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    const same = await startGateway(workspace);
    others.push(same);
    expect((await configStatus(same)).live.generation).toBe(8);
    await same.stop();
    expect(
      statSync(join(workspace.dataDirectory, "generations", "00000008.json")).mode & 0o777,
    ).toBe(0o600);
  });

  it("with broken files needs --last-good, says what it did, and takes the next edit", async () => {
    workspace.write(`${modelsOf("three", "echo")}models: [`);
    const refused = runCommand(["serve", "--config", workspace.configPath], workspace.folder);
    expect((await refused.ended).code).toBe(3);
    expect(refused.stderr).toContain(
      "Generation 8 ran here last: sluice serve --last-good starts with it",
    );
    const started = await startGateway(workspace, {}, "warn", ["--last-good"]);
    others.push(started);
    expect(started.stderr + started.stdout).toContain("started with the last good configuration");
    expect(await served("three", started)).toBe(200);
    const { live, drift } = await configStatus(started);
    expect([live.generation, drift.files_differ]).toEqual([8, true]);
    writeFileSync(workspace.configPath, modelsOf("five", "echo"));
    await eventually(
      "the repaired file to apply",
      async () => (await configStatus(started)).live.generation === 9,
    );
    expect(await served("five", started)).toBe(200);
  });
});
