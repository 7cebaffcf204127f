/**
 * `npm run proof:agents`: Claude Code and Codex, as they come from the registry, work through the
 * gateway. Each does a task with two commands on each kind of provider, and again with a 429, a cut
 * stream, a key without the model and a spent budget. The upstream is scripted.
 */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GatewayProcess, startGateway } from "../system/support/gateway-process.ts";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../system/support/native-upstream.ts";
import { dialectOf } from "./dialects.ts";
import { installAgents } from "./install.ts";
import { ADDRESS, ADDRESS_PROMPT, answerOf, RESULT } from "./script.ts";
import { createWorkspace, type WorkspaceOptions } from "../system/support/workspace.ts";

const RUN_MS = 90_000;
const SECRET = "a-credential-of-the-proof-0123456789";
const CREDENTIAL = 'api_key: "${env:SOME_KEY}"';
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: `use: openai, ${CREDENTIAL}, base_url: @/v1, responses: true`,
  azure: `use: azure, ${CREDENTIAL}, endpoint: @, responses: true`,
  anthropic: `use: anthropic, ${CREDENTIAL}, base_url: @`,
  gemini: `use: gemini, ${CREDENTIAL}, base_url: @`,
  bedrock: `use: bedrock, ${CREDENTIAL}, region: us-east-1, base_url: @`,
  compatible: `use: compatible, preset: vllm, ${CREDENTIAL}, base_url: @/v1`,
};
const MODELS: Readonly<Record<string, string>> = {
  openai: "gpt-4o",
  azure: "gpt-4o",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-2.5-flash",
  bedrock: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  compatible: "model-1",
};
const PROMPT = "Make the file result.txt with two lines, by two commands.";

/** How a run of an agent ended. */
interface AgentRun {
  readonly code: number;
  readonly output: string;
  /** The contents of result.txt; empty when there is none. */
  readonly result: string;
}

interface AgentCall {
  readonly gateway: GatewayProcess;
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
}

type Agent = (call: AgentCall, commands: string, folder: string) => Promise<[number, string]>;

const AGENTS: Readonly<Record<string, Agent>> = {
  claude: ({ gateway, key, model, prompt }, commands, folder) =>
    run(
      join(commands, "claude"),
      ["-p", prompt, "--output-format", "text", "--model", model, "--allowedTools", "Bash"],
      folder,
      {
        ANTHROPIC_BASE_URL: gateway.publicUrl,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_MAX_RETRIES: "3",
      },
    ),
  codex: ({ gateway, key, model, prompt }, commands, folder) =>
    run(
      join(commands, "codex"),
      [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        ...settings({
          model_provider: '"sluice"',
          "model_providers.sluice": `{ name = "sluice", base_url = "${gateway.publicUrl}/v1", env_key = "SLUICE_KEY", wire_api = "responses" }`,
        }),
        "-m",
        model,
        prompt,
      ],
      folder,
      { SLUICE_KEY: key, CODEX_HOME: folder },
    ),
};

/**
 * Further agents, which do the task on two kinds of providers. Those of "messages" speak it instead
 * of chat completions.
 */
const OTHERS: Readonly<Record<string, Agent>> = {
  gemini: ({ gateway, key, model }, commands, folder) => {
    const security = { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } };
    mkdirSync(join(folder, ".gemini"));
    writeFileSync(join(folder, ".gemini/settings.json"), JSON.stringify({ security }));
    return run(join(commands, "gemini"), ["-p", PROMPT, "-m", model, "--yolo"], folder, {
      GEMINI_API_KEY: key,
      GOOGLE_GEMINI_BASE_URL: gateway.publicUrl,
    });
  },
  qwen: ({ gateway, key, model }, commands, folder) =>
    run(join(commands, "qwen"), ["-p", PROMPT, "--yolo", "--auth-type", "openai"], folder, {
      OPENAI_API_KEY: key,
      OPENAI_BASE_URL: `${gateway.publicUrl}/v1`,
      OPENAI_MODEL: model,
    }),
  "qwen, messages": ({ gateway, key, model }, commands, folder) =>
    run(join(commands, "qwen"), ["-p", PROMPT, "--yolo", "--auth-type", "anthropic"], folder, {
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_BASE_URL: gateway.publicUrl,
      ANTHROPIC_MODEL: model,
    }),
  opencode: (call, ...place) => opencode("@ai-sdk/openai-compatible", call, ...place),
  "opencode, messages": (call, ...place) => opencode("@ai-sdk/anthropic", call, ...place),
};

/** opencode with a package of the AI SDK. */
function opencode(
  npm: string,
  { gateway, key, model }: AgentCall,
  commands: string,
  folder: string,
): Promise<[number, string]> {
  const options = { baseURL: `${gateway.publicUrl}/v1`, apiKey: "{env:SLUICE_KEY}" };
  const sluice = { npm, options, models: { [model]: {} } };
  writeFileSync(
    join(folder, "opencode.json"),
    JSON.stringify({ provider: { sluice }, permission: "allow", autoupdate: false }),
  );
  const args = ["run", "--model", `sluice/${model}`, PROMPT];
  return run(join(commands, "opencode"), args, folder, { SLUICE_KEY: key });
}

function settings(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

function run(
  command: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<[number, string]> {
  const env = { PATH: process.env.PATH, HOME: folder, LANG: "C.UTF-8", ...environment };
  return new Promise((resolve) => {
    const child = execFile(
      command,
      args,
      { cwd: folder, env, timeout: RUN_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve([code, stdout + stderr]);
      },
    );
    child.stdin?.end();
  });
}

/** A fault of one answer; by the number of the answer, side requests not counted. */
type Fault = (asked: number) => "429" | "cut" | undefined | Promise<undefined>;

function serveScript(upstream: NativeUpstream, fault: Fault = () => undefined): void {
  let asked = 0;
  const write = async (response: ServerResponse, request: NativeRequest): Promise<void> => {
    const dialect = dialectOf(request.url);
    const turn = dialect.read(JSON.parse(request.body.toString() || "null"), request.url);
    const { type, body } = dialect.write(answerOf(turn), turn);
    const kind = turn.tools.length === 0 ? undefined : await fault(asked++);
    if (kind === "429") {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "1" });
      response.end('{"error":{"message":"Slow down.","type":"rate_limit_error"}}');
      return;
    }
    response.writeHead(200, { "content-type": type });
    if (kind === "cut") response.write(body.slice(0, body.length / 2), () => response.destroy());
    else response.end(body);
  };
  upstream.answer((response, request) => void write(response, request));
}

/** A request of the admin listener. */
async function administer(gateway: GatewayProcess, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}

async function keyOf(gateway: GatewayProcess, options: object): Promise<string> {
  return ((await administer(gateway, "/key/generate", options)) as { readonly key: string }).key;
}

/** The providers and models of the proof, in YAML. */
function providersAt(upstreamUrl: string): WorkspaceOptions {
  return {
    providers: Object.entries(PROVIDERS).map(
      ([name, text]) => `p-${name}: { ${text.replaceAll("@", upstreamUrl)} }`,
    ),
    models: Object.keys(PROVIDERS).map(
      (name) => `{ id: ${name}, targets: [{ provider: p-${name}, model: "${MODELS[name]}" }] }`,
    ),
  };
}

/** A gateway whose guardrails hide addresses and block a word. */
function startGuarded(upstreamUrl: string): Promise<GatewayProcess> {
  const options = providersAt(upstreamUrl);
  const workspace = createWorkspace(options);
  workspace.write(`${workspace.config(options)}guardrails:
  pii: { use: pii, action: restore, entities: [email], default_on: true }
  words: { use: words, lists: [{ name: banned, words: [thermite] }], default_on: true }
`);
  return startGateway(workspace, { SOME_KEY: SECRET });
}

async function main(): Promise<void> {
  const only = process.argv.slice(2);
  const commands = await installAgents();
  const upstream = await createNativeUpstream();
  const kinds = Object.keys(PROVIDERS);
  const gateway = await startGateway(providersAt(upstream.url), { SOME_KEY: SECRET });
  const guarded = await startGuarded(upstream.url);
  let failed = 0;
  const check = async (
    title: string,
    agent: string,
    call: Partial<AgentCall> & { readonly model: string },
    expected: (ended: AgentRun) => boolean,
  ): Promise<void> => {
    if (only.length > 0 && !only.some((word) => `${agent} ${title}`.includes(word))) return;
    const folder = mkdtempSync(join(tmpdir(), "sluice-agent-"));
    try {
      const asked = { gateway, key: gateway.masterKey, prompt: PROMPT, ...call };
      const [code, output] = await { ...AGENTS, ...OTHERS }[agent]!(asked, commands, folder);
      const ended = { code, output, result: textOf(join(folder, "result.txt")) };
      const isRight = expected(ended);
      if (!isRight) failed += 1;
      console.log(`${isRight ? "ok  " : "FAIL"}  ${agent.padEnd(18)} ${title}`);
      if (!isRight) console.log(JSON.stringify({ ...ended, output: output.slice(-2_000) }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  try {
    const isDone = ({ code, result }: AgentRun): boolean => code === 0 && result === RESULT;
    for (const agent of Object.keys(OTHERS)) {
      serveScript(upstream);
      for (const model of ["openai", "anthropic"])
        await check(`${model}: two commands`, agent, { model }, isDone);
    }
    for (const agent of Object.keys(AGENTS)) {
      serveScript(upstream);
      for (const model of kinds) await check(`${model}: two commands`, agent, { model }, isDone);
      serveScript(upstream, (asked) => (asked === 1 ? "429" : undefined));
      await check("openai: a 429 on the way", agent, { model: "openai" }, isDone);
      serveScript(upstream, (asked) => (asked === 1 ? "cut" : undefined));
      await check("openai: a cut stream on the way", agent, { model: "openai" }, isDone);
      serveScript(upstream);
      const key = await keyOf(gateway, { models: ["azure"] });
      await check(
        "a key without the model",
        agent,
        { model: "openai", key },
        ({ output, result }) => result === "" && /openai/i.test(output),
      );
      serveScript(upstream);
      const isRestored = ({ code, result }: AgentRun): boolean =>
        code === 0 && result === `${ADDRESS}\n`;
      const masked = { gateway: guarded, prompt: ADDRESS_PROMPT };
      for (const model of ["openai", "anthropic"])
        await check(`${model}: a mask that is restored`, agent, { ...masked, model }, isRestored);
      const hasSeen = upstream.requests.some(({ body }) => body.includes(ADDRESS));
      if (hasSeen) {
        failed += 1;
        console.log("FAIL  the upstream has seen the address");
      }
      const prompt = "Say something about thermite.";
      await check(
        "a guardrail that blocks",
        agent,
        { gateway: guarded, model: "openai", prompt },
        ({ code, output }) => code !== 0 && /guardrail/i.test(output),
      );
      const poor = await keyOf(gateway, { max_budget: 10 });
      serveScript(upstream, async (asked) => {
        if (asked === 1)
          await administer(gateway, "/key/update", { key: poor, max_budget: 0.000_001 });
        return undefined;
      });
      await check(
        "a budget that ends in the middle",
        agent,
        { model: "openai", key: poor },
        ({ code, output }) => code !== 0 && /budget|quota/i.test(output),
      );
    }
  } finally {
    await gateway.dispose();
    await guarded.dispose();
    await upstream.close();
  }
  if (failed > 0) {
    console.log(`${failed} failed`);
    process.exitCode = 1;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

await main();
