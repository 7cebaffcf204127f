/**
 * The first minutes of an installation: its master key, its refusals to start, and what `sluice
 * check` says.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chat, MESSAGES } from "../support/client.ts";
import { type CommandHost, startCommandHost } from "../support/command-host.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const WITHOUT_KEY = { SLUICE_MASTER_KEY: undefined };

let gateways: GatewayProcess[] = [];
let workspaces: Workspace[] = [];

afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway.kill()));
  for (const workspace of workspaces) workspace.remove();
  gateways = [];
  workspaces = [];
});

function place(...options: Parameters<typeof createWorkspace>): Workspace {
  const workspace = createWorkspace(...options);
  workspaces.push(workspace);
  return workspace;
}

async function start(...options: Parameters<typeof startGateway>): Promise<GatewayProcess> {
  const gateway = await startGateway(...options);
  gateways.push(gateway);
  return gateway;
}

describe("a first start without a master key", () => {
  it("makes one and keeps it for its owner alone; it is on no stream that is not a terminal, and both hold JSON alone", async () => {
    const workspace = place();
    const first = await start(workspace, WITHOUT_KEY);
    const file = join(workspace.dataDirectory, "master.key");
    const key = readFileSync(file, "utf8").trim();
    expect(key).toMatch(/^sk-[\w-]{40,}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.stdout + first.stderr).not.toContain(key);
    for (const line of `${first.stdout}${first.stderr}`.trim().split("\n")) JSON.parse(line);
    expect(JSON.parse(first.stdout)).toMatchObject({
      public_url: first.publicUrl,
      master_key_file: file,
    });
    const asked = await chat(
      first,
      { model: "echo", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    );
    expect(await asked.text()).toContain(MESSAGES[0]?.content);
    expect(await first.stop()).toEqual({ code: 0, signal: null });

    const second = await start(workspace, WITHOUT_KEY);
    expect(second.stdout + second.stderr).not.toContain(key);
    expect(readFileSync(file, "utf8").trim()).toBe(key);
    const again = await chat(
      second,
      { model: "echo", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    );
    expect(again.status).toBe(200);
  });

  it("needs no credential: what has none is not listed, and the rest is served", async () => {
    const gateway = await start(place(), { OPENAI_API_KEY: undefined });
    const listed = await fetch(`${gateway.publicUrl}/v1/models`, {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(["echo"]);
    expect(gateway.stdout).toContain("provider openai is unavailable");
    const refused = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(await refused.json()).toMatchObject({ error: { code: refused.status } });
    expect(refused.status).toBeGreaterThanOrEqual(400);
  });
});

describe("a start that must not be", () => {
  const fails = async (workspace: Workspace, environment: Record<string, string | undefined>) => {
    const command = runCommand(
      ["serve", "--config", workspace.configPath, "--log-level", "warn"],
      workspace.folder,
      environment,
    );
    const end = await command.ended;
    return { end, lines: command.stderr.trim().split("\n"), stdout: command.stdout };
  };

  it.each([
    ["the public listener", "host: 0.0.0.0"],
    ["the admin listener", "admin: { host: 0.0.0.0 }"],
  ])(
    "ends with 3 and one line: %s on every network without a master key",
    async (_name, server) => {
      const { end, lines, stdout } = await fails(place({ server }), WITHOUT_KEY);
      expect(end).toEqual({ code: 3, signal: null });
      expect(lines).toEqual([expect.stringContaining("SLUICE_MASTER_KEY")]);
      expect(stdout).toBe("");
    },
  );

  it("ends with 3 and one line: a master key that is too short", async () => {
    const { end, lines } = await fails(place(), { SLUICE_MASTER_KEY: "sk-short" });
    expect(end.code).toBe(3);
    expect(lines).toEqual([expect.stringContaining("24")]);
    expect(lines[0]).not.toContain("sk-short");
  });

  it.each([
    ["blanks alone", " ".repeat(24)],
    ["blanks at its end", `sk-short${" ".repeat(24)}`],
  ])("ends with 3 and one line: a master key with %s (contract 1.13)", async (_what, key) => {
    const { end, lines } = await fails(place(), { SLUICE_MASTER_KEY: key });
    expect(end.code).toBe(3);
    expect(lines).toEqual([expect.stringContaining("SLUICE_MASTER_KEY holds blanks")]);
  });

  it("ends with 3 and the words of the doctor: a data folder that is read-only", async (test) => {
    const workspace = place();
    mkdirSync(workspace.dataDirectory);
    const mount = ["-t", "tmpfs", "-o", "ro", "tmpfs", workspace.dataDirectory];
    test.skip(spawnSync("mount", mount).status !== 0, "this user may not mount a file system");
    try {
      const { end, lines } = await fails(workspace, {});
      expect(end.code).toBe(3);
      const reason = `${workspace.dataDirectory} cannot be written to (EROFS)`;
      expect(lines).toEqual([
        `The data folder ${workspace.dataDirectory} cannot be used: ${reason}. Correct it, or name another in server.data_directory.`,
      ]);
      const doctor = runCommand(["doctor", "--config", workspace.configPath], workspace.folder);
      expect((await doctor.ended).code).toBe(1);
      expect(doctor.stdout).toContain(`fail  data folder: ${reason}\n`);
    } finally {
      spawnSync("umount", ["-l", workspace.dataDirectory]);
    }
  });

  describe("on a port that is taken", () => {
    let other: GatewayProcess;

    beforeAll(async () => {
      other = await startGateway();
    });
    afterAll(() => other?.dispose());

    it.each(["SLUICE_PORT", "SLUICE_ADMIN_PORT"])(
      "ends with 3 and one line: %s, and nothing stays behind",
      async (name) => {
        const refused = place();
        const { end, lines } = await fails(refused, { [name]: new URL(other.publicUrl).port });
        expect(end.code).toBe(3);
        expect(lines).toEqual([expect.stringContaining("the port is in use")]);
        expect(existsSync(refused.dataDirectory)).toBe(false);
      },
    );
  });

  it("ends with 3 and its findings: a configuration that is wrong", async () => {
    const workspace = place();
    workspace.write(workspace.config({}).replace("store:", "stores:"));
    const { end, lines } = await fails(workspace, {});
    expect(end.code).toBe(3);
    expect(lines).toContainEqual(expect.stringMatching(/^config\/gateway\.yaml:3:1 .*stores/));
  });
});

describe("shared state in a Redis that is not there", () => {
  it("is no reason not to start: one line says so, and requests are served", async () => {
    const workspace = place();
    workspace.write(
      `${workspace.config({})}\nshared: { use: redis, url: "\${env:REDIS_URL}", instances: 2 }\n`,
    );
    // Port 9 discards: no server listens there.
    const gateway = await start(workspace, { REDIS_URL: "redis://user:hunter2secret@127.0.0.1:9" });
    const asked = await chat(gateway, { model: "echo", messages: MESSAGES });
    expect(asked.status).toBe(200);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    const printed = gateway.stdout + gateway.stderr;
    expect(printed.match(/shared state is away: this gateway decides alone/g)).toHaveLength(1);
    expect(printed).not.toContain("hunter2secret");
  });
});

describe("sluice check", () => {
  let host: CommandHost;

  beforeAll(() => {
    host = startCommandHost();
  });
  afterAll(() => host?.close());

  const check = async (workspace: Workspace, ...more: string[]) => {
    const { code, out: stdout } = await host.run(
      ["check", "--config", workspace.configPath, ...more],
      workspace.folder,
    );
    return { code, lines: stdout.trim().split("\n"), stdout };
  };

  it("ends with 0 and a summary when all is well, and never shows a credential", async () => {
    const workspace = place();
    const { code, lines } = await check(workspace);
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [expect.stringMatching(/^ok: \d+ pipelines, \d+ routes, 4 models, 2 providers$/)],
    });
    const { stdout } = await check(workspace, "--print");
    expect(JSON.parse(stdout)).toHaveProperty("models");
    expect(stdout).not.toContain("sk-upstream");
  });

  it("ends with 1 and every finding as file:line:column", async () => {
    const workspace = place();
    spoilGateway(workspace);
    spoilPipeline(workspace, "- models", "- modles");
    const { code, lines } = await check(workspace);
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(/^config\/gateway\.yaml:2:11 .*prot.*port/),
      expect.stringMatching(
        new RegExp(`^config/gateway\\.yaml:${lineOfEcho(workspace)}:\\d+ .*ecko.*echo`),
      ),
      expect.stringMatching(/^pipelines\/models\.yaml:\d+:5 .*modles.*models/),
    ]);
    const { code: same, stdout } = await check(workspace, "--json");
    expect(same).toBe(1);
    expect(JSON.parse(stdout)).toHaveLength(3);
  });

  it("ends with 1 and the reason when the steps of a pipeline stand in a wrong order", async () => {
    const workspace = place();
    spoilPipeline(workspace, "  - auth\n", "");
    const { code, lines } = await check(workspace);
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^pipelines\/models\.yaml:\d+:5 .*models.*auth/)],
    });
  });

  // bootstrap.ts checks the order of the steps only once nothing else is wrong: the second kind of
  // finding waits for the first.
  it("tells a wrong order beside other findings, all at once", async () => {
    const workspace = place();
    spoilGateway(workspace);
    spoilPipeline(workspace, "  - auth\n", "");
    expect((await check(workspace)).lines).toHaveLength(3);
  });
});

function lineOfEcho(workspace: Workspace): number {
  return (
    readFileSync(workspace.configPath, "utf8").split("provider: ecko")[0]?.split("\n").length ?? 0
  );
}

/** Two faults: a key that is not known, and a provider that is not there. */
function spoilGateway(workspace: Workspace): void {
  workspace.write(
    workspace
      .config({})
      .replace("provider: echo", "provider: ecko")
      .replace("server: {", "server: { prot: 1,"),
  );
}

function spoilPipeline(workspace: Workspace, part: string, by: string): void {
  const file = join(workspace.pipelinesFolder, "models.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(part, by));
}
