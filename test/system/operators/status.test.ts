/**
 * `sluice status` whatever is wrong with the files, and what it says; a second start; the parent of
 * an older Node.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, configStatus, createKey } from "../support/client.ts";
import { childrenOf, lives } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  type ProcessEnvironment,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";
import { createWorkspace, DEFAULT_MODELS, type Workspace } from "../support/workspace.ts";

const COMMAND = new URL("../../../core/cli/bin/sluice.js", import.meta.url).pathname;
const PLUGIN = `
import { defineGuardrail } from "@sluice/kit";
export default defineGuardrail({
  name: "late", stability: "experimental", summary: "Comes late.", config: { type: "object", properties: {} },
  create: () => ({ check: async () => ({ action: "pass" }) }),
});
`;

let upstream: Upstream;
let gateway: GatewayProcess;
let workspace: Workspace;
let files: string;

beforeAll(async () => {
  upstream = await createUpstream();
  const targets = "[{ provider: openai, model: broken }, { provider: openai, model: whole }]";
  const models = [...DEFAULT_MODELS, `{ id: pair, targets: ${targets} }`];
  workspace = createWorkspace({ baseUrl: upstream.baseUrl, models, attempts: 1 });
  files = readFileSync(workspace.configPath, "utf8");
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** A command as a person types it: without the address of the gateway. */
async function run(name: string, environment: ProcessEnvironment = {}, ...more: readonly string[]) {
  const ports = { SLUICE_ADMIN_PORT: undefined, SLUICE_PORT: undefined };
  const command = runCommand([name, ...more], workspace.folder, {
    ...ports,
    SLUICE_CONFIG: workspace.configPath,
    ...environment,
  });
  return { ...(await command.ended), stdout: command.stdout, stderr: command.stderr };
}

describe("sluice status", () => {
  it.each([
    ["a fault in the YAML", (text: string) => text.replace("providers:\n", "providers:\n   - [\n")],
    [
      "a fault in the section server",
      (text: string) => text.replace("server: {", "server: { admin: 7, colour: blue,"),
    ],
    // It names no data folder: that of the working directory is the default, and this one's.
    ["no contents", () => ""],
  ])("(C1) shows what runs with %s in the files", async (_name, edit) => {
    const { generation } = (await configStatus(gateway)).live;
    workspace.write(edit(files));
    const { code, stdout, stderr } = await run("status");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`running generation ${generation}`);
    expect(stdout).toMatch(/^version \d+\.\d+\.\d+$/m);
  });

  it("(A2) says that a plugin which was added to the list waits for a restart", async () => {
    writeFileSync(join(workspace.folder, "late.ts"), PLUGIN);
    const listed = files.replace("plugins:\n", 'plugins:\n  - "../late.ts"\n');
    workspace.write(listed.replace("models:\n", "guardrails:\n  late: { use: late }\nmodels:\n"));
    const stdout = await eventually("the refusal", async () => {
      const { stdout: text } = await run("status");
      return text.includes("last attempt: refused") && text.includes("section plugins") && text;
    });
    expect(stdout).toMatch(
      /gateway\.yaml:\d+:\d+ {2}The section plugins cannot change while the gateway runs\. {2}Stop/,
    );
    expect(stdout).not.toContain("which no loaded package has");
    workspace.write(files);
  });

  it("(C5) names a deployment that is ejected", async () => {
    upstream.script("broken", { kind: "error", status: 500 });
    const keys = [await createKey(gateway, {}), await createKey(gateway, {})];
    let sent = 0;
    const text = await eventually(
      "the ejection",
      async () => {
        for (const { key } of [...keys, ...keys, ...keys, ...keys]) {
          const body = { model: "pair", messages: [{ role: "user", content: `Hello ${sent++}` }] };
          await (await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } })).text();
        }
        const { stdout } = await run("status");
        return /^deployment openai\/broken is (?:ejected|recovering)/m.test(stdout) && stdout;
      },
      20_000,
    );
    expect(text).not.toContain("deployment openai/whole");
  });
});

describe("sluice", () => {
  it("(C9) says its version", async () => {
    const { version } = JSON.parse(
      readFileSync(new URL("../../../core/engine/package.json", import.meta.url), "utf8"),
    ) as {
      version: string;
    };
    expect(await run("--version")).toMatchObject({ code: 0, stdout: `sluice ${version}\n` });
    expect(await configStatus(gateway)).toMatchObject({ version });
  });

  it("(C8) names the gateway that has the port, and the one that has the data folder", async () => {
    const port = new URL(gateway.publicUrl).port;
    const taken = await run("serve", { SLUICE_PORT: port, SLUICE_ADMIN_PORT: "0" });
    expect(taken.code).toBe(3);
    expect(taken.stderr).toBe(
      `Cannot listen on 127.0.0.1:${port}: the port is in use by the gateway on the data folder ${workspace.dataDirectory}, pid ${gateway.pid}: stop that one first.\n`,
    );
    const second = await run("serve", { SLUICE_PORT: "0", SLUICE_ADMIN_PORT: "0" });
    expect([second.code, second.stderr]).toEqual([
      3,
      expect.stringContaining(`another gateway, pid ${gateway.pid}:`),
    ]);
  });
});

/** A Node on the path that is too old to run the sources: the command starts the packaged one. */
function olderNode(): string | undefined {
  const found = spawnSync("sh", ["-c", "which -a node"], { encoding: "utf8" })
    .stdout.split("\n")
    .filter(Boolean);
  return found.find((path) => {
    const [major = 99] = spawnSync(path, ["--version"], { encoding: "utf8" })
      .stdout.slice(1)
      .split(".")
      .map(Number);
    return major < 22;
  });
}

describe("a gateway whose parent is an older Node", () => {
  const node = olderNode();

  it.skipIf(node === undefined)("(C8) ends with its parent, also when that is killed", async () => {
    const place = createWorkspace({ baseUrl: upstream.baseUrl });
    const child = spawn(node ?? "", [COMMAND, "serve", "--config", place.configPath], {
      cwd: place.folder,
      env: {
        ...process.env,
        SLUICE_PORT: "0",
        SLUICE_ADMIN_PORT: "0",
        SLUICE_MASTER_KEY: MASTER_KEY,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    try {
      await eventually("the gateway", () => stdout.includes("Sluice listens on"), 20_000);
      const [pid = 0] = childrenOf(child.pid ?? 0);
      expect(lives(pid)).toBe(true);
      child.kill("SIGKILL");
      await once(child, "exit");
      await eventually("its end", () => !lives(pid));
    } finally {
      child.kill("SIGKILL");
      place.remove();
    }
  });
});
