/** Commands for who runs a gateway: doctor, import and soak, as they are called. */

import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const FIXTURE = new URL("../../fixtures/litellm/config.yaml", import.meta.url).pathname;

let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  workspace = createWorkspace();
  gateway = await startGateway(workspace);
});

afterAll(async () => {
  await gateway?.dispose();
  workspace?.remove();
});

async function run(...args: readonly string[]) {
  const command = runCommand(args, workspace.folder, {
    SLUICE_PORT: new URL(gateway.publicUrl).port,
  });
  const { code } = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

describe("sluice doctor", () => {
  it("finds a gateway that runs, and leaves its store alone", async () => {
    const { code, stdout } = await run("doctor", "--config", workspace.configPath, "--json");
    const checks = JSON.parse(stdout) as { name: string; grade: string; found: string }[];
    const of = (name: string) => checks.find((check) => check.name === name);
    expect(checks.filter(({ grade }) => grade === "fail")).toEqual([]);
    expect(code).toBe(0);
    expect(of("port")?.found).toContain("a gateway answers");
    expect(of("store")).toMatchObject({
      grade: "skip",
      found: "the gateway that runs has it open",
    });
    expect(of("provider openai")?.grade).toBe("ok");
    expect(stdout).not.toContain("sk-upstream");
  });

  it("asks providers online for their models, each at the path of its own API", async () => {
    const asked: string[] = [];
    const upstream = createServer(({ url = "", headers }, response) => {
      asked.push(url);
      const isRefused = headers["x-api-key"] !== undefined;
      response.writeHead(isRefused ? 401 : 200).end("{}");
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const provider = (use: string, address = `base_url: ${baseUrl}`): string =>
      `${use}: { use: ${use}, api_key: "\${env:OPENAI_API_KEY}", ${address} }`;
    const online = createWorkspace({
      baseUrl: `${baseUrl}/v1`,
      providers: [
        ...["anthropic", "gemini", "stability"].map((use) => provider(use)),
        provider("azure", `endpoint: ${baseUrl}`),
      ],
    });
    try {
      const words = ["doctor", "--online", "--config", online.configPath, "--json"];
      const { code, stdout } = await run(...words);
      const checks = JSON.parse(stdout) as { name: string; grade: string; found: string }[];
      const of = (name: string) => checks.find((check) => check.name === `provider ${name}`);
      expect(asked.toSorted()).toEqual([
        "/v1/engines/list",
        "/v1/models",
        "/v1/models",
        "/v1beta/models",
      ]);
      expect(of("gemini")).toMatchObject({ grade: "ok", found: expect.stringMatching(/^answers/) });
      expect(of("anthropic")).toMatchObject({
        grade: "fail",
        found: "it refuses the credential (401)",
      });
      expect(of("azure")?.found).toBe("its credential is set");
      expect(code).toBe(1);
    } finally {
      online.remove();
      upstream.close();
    }
  });

  it("says what is wrong with a configuration, and how to mend it", async () => {
    const broken = createWorkspace();
    try {
      broken.write(
        broken.config({ models: ["{ id: a, targets: [{ provider: absent, model: a }] }"] }),
      );
      const { code, stdout } = await run("doctor", "--config", broken.configPath);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^fail {2}configuration: .*gateway\.yaml:\d+:\d+ .*absent/m);
      expect(existsSync(broken.dataDirectory)).toBe(false);
    } finally {
      broken.remove();
    }
  });
});

describe("sluice import litellm", () => {
  it("writes a configuration of forty models that sluice check passes, and does not write over it", async () => {
    const first = await run("import", "litellm", FIXTURE, "--out", "imported");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^\d+ models, \d+ providers imported to imported; \d+ notes, also in imported\/import\.md$/m,
    );
    const check = await run("check", "--config", "imported/config/gateway.yaml");
    expect(check.code).toBe(0);
    const shipped = readdirSync(join(import.meta.dirname, "../../../pipelines")).length;
    expect(check.stdout).toMatch(
      new RegExp(`^ok: ${shipped} pipelines, \\d+ routes, 42 models`, "m"),
    );
    expect(readFileSync(join(workspace.folder, "imported/import.md"), "utf8")).toContain(
      "## Has no equivalent",
    );
    const second = await run("import", "litellm", FIXTURE, "--out", "imported");
    expect(second.code).toBe(2);
    expect(second.stderr).toContain("--overwrite");
  });

  it("says what it does with a try's timeout and with callbacks", async () => {
    writeFileSync(
      join(workspace.folder, "small.yaml"),
      "model_list:\n  - { model_name: m, litellm_params: { model: openai/m, stream_timeout: 2.5 } }\nrouter_settings: { timeout: 30 }\nlitellm_settings: { success_callback: [langfuse] }\n",
    );
    const { code, stdout } = await run("import", "litellm", "small.yaml", "--out", "small");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^small\.yaml:3 {2}changed {2}router_settings\.timeout: it bounds one try/m,
    );
    expect(stdout).toMatch(
      /^small\.yaml:4 {2}missing {2}litellm_settings\.success_callback: there are no callbacks, traces or alerts; GET \/metrics/m,
    );
    const read = (file: string) => readFileSync(join(workspace.folder, "small", file), "utf8");
    expect(read("config/gateway.yaml")).toContain(
      "timeouts: { first_byte: 30s, first_content: 2500ms }",
    );
    expect(read("pipelines/chat.yaml")).toContain("deadline: 600s");
  });
});

describe("sluice soak", () => {
  it("edits the user's configuration under traffic, on ports and a store of its own", async () => {
    const before = readFileSync(workspace.configPath, "utf8");
    const args = [
      "soak",
      "--config",
      workspace.configPath,
      "--for",
      "2s",
      "--reload-every",
      "400ms",
      "--rate",
      "30",
      "--json",
    ];
    const { code, stdout, stderr } = await run(...args);
    expect(stderr).toBe("");
    const result = JSON.parse(stdout) as Record<string, number> & { goals: { isMet: boolean }[] };
    expect(result).toMatchObject({ reloads: 5, failed: 0, mixed: 0, refused: 0 });
    expect(result["requests"]).toBeGreaterThan(20);
    expect(result["streams"]).toBeGreaterThan(0);
    // How slow a swap is on a busy machine is no matter of this test.
    expect(code === 0 || result.goals.some(({ isMet }) => !isMet)).toBe(true);
    expect(readFileSync(workspace.configPath, "utf8")).toBe(before);
  });
});
