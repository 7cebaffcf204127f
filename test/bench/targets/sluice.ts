/** This gateway, with authentication, cost and a durable spend row for each request: the shipped chat pipeline, and parts of it. */

import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODEL } from "../scenarios.ts";
import { freePort, type Target } from "../target.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = join(REPOSITORY, "core/engine/bin/sluice.js");
const PIPELINES = join(REPOSITORY, "pipelines");

export const sluice: Target = {
  name: "sluice",
  about: "this gateway, the shipped pipelines",
  isNode: true,
  prepare: (context) => launch(context, PIPELINES),
};

/** What the steps for many targets cost is the difference between `sluice` and this one. */
export const sluiceFew: Target = {
  name: "sluice-few",
  about: "this gateway, chat with the steps auth, cost and provider alone",
  isNode: true,
  isOnRequest: true,
  prepare: (context) => launch(context, pipelinesWith(context.directory, ["auth", "cost", "provider"])),
};

/** A key with limits of every kind: what they cost is the difference between `sluice` and this one. */
export const sluiceLimits: Target = {
  name: "sluice-limits",
  about: "this gateway, the shipped pipelines, a key with rpm, tpm, slots and a budget",
  isNode: true,
  isOnRequest: true,
  prepare: (context) => launchLimited(context, PIPELINES),
};

/** The same key, and a cache that keeps every reply. No two prompts are alike: each request is a miss, and stored. */
export const sluiceLimitsCache: Target = {
  name: "sluice-limits-cache",
  about: "sluice-limits, and the cache keeps the reply of every request",
  isNode: true,
  isOnRequest: true,
  prepare: (context) => launchLimited(context, cachingPipelines(context.directory)),
};

/** Three guardrails over requests and replies, streams in windows: what they cost is the difference between `sluice` and this one. */
export const sluiceGuardrails: Target = {
  name: "sluice-guardrails",
  about: "this gateway, the shipped pipelines, three guardrails on by default",
  isNode: true,
  isOnRequest: true,
  prepare: (context) => launch(context, PIPELINES, GUARDRAILS, GUARDRAIL_PLUGINS),
};

const GUARDRAIL_PLUGINS = ["guardrail-pii", "guardrail-secrets", "guardrail-words"];
const GUARDRAILS = `guardrails:
  pii: { use: pii, default_on: true }
  secrets: { use: secrets, default_on: true }
  words: { use: words, default_on: true, lists: [{ name: banned, words: [thermite, "Wile E. Coyote", project-x] }] }
`;

const LIMITED_KEY = `keys:
  - alias: limited
    key: "\${env:LIMITED_KEY}"
    rpm: 1000000000
    tpm: 1000000000
    max_parallel: 1000000
    max_budget: 8000000
    budget_duration: 1mo
`;

async function launch(
  { directory, port, upstreamUrl, nodeFlags }: Parameters<Target["prepare"]>[0],
  pipelines: string,
  more = "",
  plugins: readonly string[] = [],
) {
  if (!existsSync(COMMAND)) return { skip: "core/engine/bin/sluice.js does not exist" };
  const masterKey = `sk-bench-${randomBytes(24).toString("hex")}`;
  const config = join(directory, "gateway.yaml");
  writeFileSync(config, gatewayYaml(directory, upstreamUrl, pipelines, plugins) + more);
  return {
    command: process.execPath,
    args: [...nodeFlags, COMMAND, "serve", "--config", config],
    env: {
      SLUICE_MASTER_KEY: masterKey,
      SLUICE_PORT: String(port),
      SLUICE_ADMIN_PORT: String(await freePort()),
      OPENAI_API_KEY: "sk-upstream",
    },
    readyPath: "/health/ready",
    readyStatus: 200,
    headers: { authorization: `Bearer ${masterKey}` },
  };
}

async function launchLimited(context: Parameters<Target["prepare"]>[0], pipelines: string) {
  const launched = await launch(context, pipelines, LIMITED_KEY);
  if ("skip" in launched) return launched;
  const key = `sk-bench-limited-${randomBytes(24).toString("hex")}`;
  const { env } = launched;
  return { ...launched, env: { ...env, LIMITED_KEY: key }, headers: { authorization: `Bearer ${key}` } };
}

/** A copy of the shipped pipelines whose chat caches requests that do not ask for it. */
function cachingPipelines(directory: string): string {
  const folder = join(directory, "pipelines");
  cpSync(PIPELINES, folder, { recursive: true });
  const file = join(folder, "chat.yaml");
  const shipped = readFileSync(file, "utf8");
  const caching = shipped.replace("mode: on_request", "mode: always");
  if (caching === shipped) throw new Error("The shipped chat pipeline has no step cache with `mode: on_request`.");
  writeFileSync(file, caching);
  return folder;
}

/** A copy of the shipped pipelines whose chat has these steps. */
function pipelinesWith(directory: string, steps: readonly string[]): string {
  const folder = join(directory, "pipelines");
  cpSync(PIPELINES, folder, { recursive: true });
  const list = steps.map((step) => `  - ${step}\n`).join("");
  const head = "version: 1\npipeline: chat\nroutes: [POST /v1/chat/completions]\noperation: chat\ndeadline: 600s\n";
  writeFileSync(join(folder, "chat.yaml"), `${head}steps:\n${list}`);
  return folder;
}

function gatewayYaml(directory: string, upstreamUrl: string, pipelines: string, plugins: readonly string[]): string {
  return `version: 1
server:
  host: 127.0.0.1
  data_directory: ${join(directory, "data")}
  drain_timeout: 2s
store: { use: sqlite, path: ${join(directory, "data", "sluice.db")} }
plugins:
  - "@sluice/standard@^1.0.0"
  - "@sluice/provider-openai@^1.0.0"
  - "@sluice/provider-echo@^1.0.0"
  - "@sluice/store-sqlite@^1.0.0"
  - "@sluice/shared-memory@^1.0.0"
${plugins.map((plugin) => `  - "@sluice/${plugin}@^1.0.0"\n`).join("")}providers:
  openai: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: "${upstreamUrl}/v1" }
models:
  - id: ${MODEL}
    targets: [{ provider: openai, model: ${MODEL} }]
prices: ${join(REPOSITORY, "config/prices.yaml")}
pipelines: ${pipelines}
`;
}
