/** The files that an operator begins with: `sluice init`, `sluice eject`, and no file at all. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { runCommand } from "../support/gateway-process.ts";

const LITELLM = join(import.meta.dirname, "../../fixtures/litellm/config.yaml");
const FREE_PORTS = { SLUICE_PORT: "0", SLUICE_ADMIN_PORT: "0" };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-start-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const command = runCommand(args, folder, { OPENAI_API_KEY: "", ...environment });
  const { code } = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

function gatewayFile(): string {
  return readFileSync(join(folder, "gateway.yaml"), "utf8");
}

/** Starts a gateway, asks it for a reply of echo, and stops it. */
async function asksEcho(args: readonly string[]): Promise<string> {
  const command = runCommand(args, folder, {
    ...FREE_PORTS,
    SLUICE_MASTER_KEY: "sk-a-master-key-of-these-tests",
  });
  try {
    await eventually("the gateway listens", () => command.stdout.includes("public_url"));
    const { public_url: url } = JSON.parse(command.stdout) as { readonly public_url: string };
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: "Bearer sk-a-master-key-of-these-tests",
        "content-type": "application/json",
      },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }] }),
    });
    const body = (await reply.json()) as {
      readonly choices: readonly { readonly message: { readonly content: string } }[];
    };
    return body.choices[0]?.message.content ?? "";
  } finally {
    command.signal("SIGTERM");
    await command.ended;
  }
}

describe("a folder without a file", () => {
  it("starts with `sluice` alone, and `sluice serve` asks for a file", async () => {
    expect(await asksEcho([])).toBe("Hello");
    expect(readdirSync(folder)).toEqual(["data"]);
    const refused = await run(["serve"], FREE_PORTS);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("write one with `sluice init`");
  });
});

describe("sluice init", () => {
  it("writes a file that serves, with the providers whose variables are set", async () => {
    const made = await run(["init", "--policy", "pii"], { MISTRAL_API_KEY: "m" });
    expect(made.stdout).toContain("gateway.yaml: mistral, echo.");
    expect(gatewayFile()).toContain("\n  mistral: ");
    expect(gatewayFile()).toContain("\n  # openai: ");
    expect(gatewayFile()).toContain("\nguardrails:\n  pii: ");
    const checked = await run(["check", "--strict"], { MISTRAL_API_KEY: "m" });
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(checked.stdout).toMatch(/^ok: \d+ pipelines, \d+ routes, 2 models, 2 providers\n$/);
    expect(await asksEcho([])).toBe("Hello");
  });

  it("is right as it is with every provider and policy in force", async () => {
    const names = ["openai", "anthropic", "azure", "groq", "vertex", "bedrock"];
    const flags = names.flatMap((name) => ["--provider", name]);
    await run(["init", "--policy", "secrets", "--shared", "redis", ...flags]);
    const checked = await run(["check"], { REDIS_URL: "redis://127.0.0.1:1" });
    expect(checked.stdout.split("\n").filter((line) => line.startsWith("gateway.yaml"))).toEqual(
      [],
    );
    expect(checked.code).toBe(0);
    // Every line that is a comment of YAML is right without its mark, too.
    const uncommented = gatewayFile().replaceAll(/^( *)# ( *(?:- \{|[a-z]+:(?: |$)))/gm, "$1$2");
    writeFileSync(join(folder, "gateway.yaml"), uncommented);
    const all = await run(["check"], {
      REDIS_URL: "redis://127.0.0.1:1",
      CI_KEY: "sk-a-key-of-ci-01234567890",
    });
    expect(all.stdout).toMatch(/ok: .* 17 providers\n$/);
  });

  it("overwrites nothing, and refuses what it does not know", async () => {
    await run(["init"]);
    const before = gatewayFile();
    expect(await run(["init"])).toMatchObject({ code: 2 });
    expect(await run(["init", "--out", "b.yaml", "--provider", "nope"])).toMatchObject({ code: 2 });
    expect(await run(["init", "--from", "litellm"])).toMatchObject({ code: 2 });
    expect(await run(["init", "--from", "litellm", LITELLM, "--out", "there"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("takes no --out"),
    });
    expect(gatewayFile()).toBe(before);
    expect(readdirSync(folder)).toEqual(["gateway.yaml"]);
  });

  it("converts a configuration of LiteLLM to files that are found", async () => {
    await run(["init", "--from", "litellm", LITELLM]);
    expect(readdirSync(join(folder, "config"))).toContain("gateway.yaml");
    expect((await run(["check"])).stdout).toContain("ok: ");
  });
});

describe("a folder of pipelines that is gone", () => {
  it("refuses the start, unless the file says what serves in its place", async () => {
    await run(["init"]);
    await run(["eject", "chat", "models"]);
    const own = gatewayFile().replace("pipelines: [shipped, pipelines]\n", "");
    writeFileSync(join(folder, "gateway.yaml"), own);
    expect(await asksEcho([])).toBe("Hello");
    rmSync(join(folder, "pipelines"), { recursive: true });
    const refused = await run(["serve"], FREE_PORTS);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(
      "the pipelines folder `pipelines` is not there, and generation 1 had it  put it back, or",
    );
    writeFileSync(join(folder, "gateway.yaml"), `pipelines: [shipped]\n${own}`);
    expect(await asksEcho([])).toBe("Hello");
  });
});

describe("sluice eject", () => {
  it("copies one pipeline, and the others serve as before", async () => {
    await run(["init"]);
    const before = (await run(["check"])).stdout;
    expect(await run(["eject", "chat"])).toMatchObject({ code: 0, stderr: "" });
    expect(gatewayFile()).toContain("version: 1\npipelines: [shipped, pipelines]\n");
    expect(readdirSync(join(folder, "pipelines"))).toEqual(["chat.yaml"]);
    expect((await run(["check"])).stdout).toBe(before);
    await run(["eject", "models", "spend"]);
    expect(readdirSync(join(folder, "pipelines"))).toEqual([
      "chat.yaml",
      "models.yaml",
      "spend.yaml",
    ]);
    expect(gatewayFile().match(/pipelines: \[/g)).toHaveLength(1);
    expect(await run(["eject", "chat"])).toMatchObject({ code: 2 });
    const unknown = await run(["eject", "nope"]);
    expect(unknown.stderr).toContain("choose of chat, ");
  });
});
