/**
 * This gateway, with authentication, cost and a durable spend row for each request: the shipped
 * chat pipeline, and parts of it.
 */

import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODEL, TRANSLATED_MODEL } from "../scenarios.ts";
import { freePort, type Target } from "../target.ts";

/** The gateway of one checkout. */
export interface Checkout {
  /** The folder of the repository. */
  readonly root: string;
  /** What stands behind a target's name, as in `sluice@1a2b3c4`; empty for the present checkout. */
  readonly suffix: string;
}

/** The checkout that this file belongs to. */
export const PRESENT: Checkout = {
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  suffix: "",
};

/** The targets of one checkout. The first runs by default, the others when `--only` names them. */
export function sluiceTargets(checkout: Checkout): readonly Target[] {
  const pipelines = join(checkout.root, "pipelines");
  const target = (name: string, about: string, prepare: Target["prepare"]): Target => ({
    name: `${name}${checkout.suffix}`,
    about: `${checkout.suffix === "" ? "this gateway" : `the gateway of ${checkout.suffix.slice(1)}`}, ${about}`,
    isNode: true,
    isOnRequest: name !== "sluice",
    prepare,
  });
  return [
    target("sluice", "the shipped pipelines", (context) => launch(checkout, context, pipelines)),
    target("sluice-few", "chat with the steps auth, cost and provider alone", (context) =>
      launch(
        checkout,
        context,
        pipelinesWith(pipelines, context.directory, ["auth", "cost", "provider"]),
      ),
    ),
    target(
      "sluice-guardrails",
      "the shipped pipelines, three guardrails on by default",
      (context) => launch(checkout, context, pipelines, GUARDRAILS, GUARDRAIL_PLUGINS),
    ),
    target(
      "sluice-limits",
      "the shipped pipelines, a key with rpm, tpm, slots and a budget",
      (context) => launchLimited(checkout, context, pipelines),
    ),
    // No two prompts are alike: each request is a miss, and stored.
    target(
      "sluice-limits-cache",
      "sluice-limits, and the cache keeps the reply of every request",
      (context) => launchLimited(checkout, context, cachingPipelines(pipelines, context.directory)),
    ),
  ];
}

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
  { root }: Checkout,
  { directory, port, upstreamUrl, nodeFlags }: Parameters<Target["prepare"]>[0],
  pipelines: string,
  more = "",
  plugins: readonly string[] = [],
) {
  // Older commits, for --against, have the command in the engine.
  const command = ["core/cli/bin/sluice.js", "core/engine/bin/sluice.js"]
    .map((path) => join(root, path))
    .find(existsSync);
  if (command === undefined) return { skip: "the command sluice does not exist there" };
  const masterKey = `sk-bench-${randomBytes(24).toString("hex")}`;
  const config = join(directory, "gateway.yaml");
  writeFileSync(config, gatewayYaml(root, directory, upstreamUrl, pipelines, plugins) + more);
  return {
    command: process.execPath,
    args: [...nodeFlags, command, "serve", "--config", config],
    env: {
      SLUICE_MASTER_KEY: masterKey,
      SLUICE_PORT: String(port),
      SLUICE_ADMIN_PORT: String(await freePort()),
      OPENAI_API_KEY: "sk-upstream",
      ANTHROPIC_API_KEY: "sk-upstream",
    },
    readyPath: "/health/ready",
    readyStatus: 200,
    headers: { authorization: `Bearer ${masterKey}` },
  };
}

async function launchLimited(
  checkout: Checkout,
  context: Parameters<Target["prepare"]>[0],
  pipelines: string,
) {
  const launched = await launch(checkout, context, pipelines, LIMITED_KEY);
  if ("skip" in launched) return launched;
  const key = `sk-bench-limited-${randomBytes(24).toString("hex")}`;
  const { env } = launched;
  return {
    ...launched,
    env: { ...env, LIMITED_KEY: key },
    headers: { authorization: `Bearer ${key}` },
  };
}

/** A copy of the shipped pipelines whose chat caches requests that do not ask for it. */
function cachingPipelines(shippedFolder: string, directory: string): string {
  const folder = join(directory, "pipelines");
  cpSync(shippedFolder, folder, { recursive: true });
  const file = join(folder, "chat.yaml");
  const shipped = readFileSync(file, "utf8");
  const caching = shipped.replace("mode: on_request", "mode: always");
  if (caching === shipped)
    throw new Error("The shipped chat pipeline has no step cache with `mode: on_request`.");
  writeFileSync(file, caching);
  return folder;
}

/** A copy of the shipped pipelines whose chat has these steps. */
function pipelinesWith(shippedFolder: string, directory: string, steps: readonly string[]): string {
  const folder = join(directory, "pipelines");
  cpSync(shippedFolder, folder, { recursive: true });
  const list = steps.map((step) => `  - ${step}\n`).join("");
  const head =
    "version: 1\npipeline: chat\nroutes: [POST /v1/chat/completions]\noperation: chat\ndeadline: 600s\n";
  writeFileSync(join(folder, "chat.yaml"), `${head}steps:\n${list}`);
  return folder;
}

/** The faces that the shipped pipelines name. Older commits, for --against, have none. */
function facesOf(root: string): readonly string[] {
  return readdirSync(join(root, "plugins")).filter((name) => name.startsWith("face-"));
}

function gatewayYaml(
  root: string,
  directory: string,
  upstreamUrl: string,
  pipelines: string,
  plugins: readonly string[],
): string {
  return `version: 1
server:
  host: 127.0.0.1
  data_directory: ${join(directory, "data")}
  drain_timeout: 2s
store: { use: sqlite, path: ${join(directory, "data", "sluice.db")} }
plugins:
  - "@sluice/standard@^1.0.0"
  - "@sluice/provider-openai@^1.0.0"
  - "@sluice/provider-anthropic@^1.0.0"
  - "@sluice/provider-echo@^1.0.0"
  - "@sluice/store-sqlite@^1.0.0"
  - "@sluice/shared-memory@^1.0.0"
${[...facesOf(root), ...plugins].map((plugin) => `  - "@sluice/${plugin}@^1.0.0"\n`).join("")}providers:
  openai: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: "${upstreamUrl}/v1" }
  anthropic: { use: anthropic, api_key: "\${env:ANTHROPIC_API_KEY}", base_url: "${upstreamUrl}" }
models:
  - id: ${MODEL}
    targets: [{ provider: openai, model: ${MODEL} }]
  - id: ${TRANSLATED_MODEL}
    targets: [{ provider: anthropic, model: ${TRANSLATED_MODEL} }]
prices: ${join(root, "config/prices.yaml")}
pipelines: ${pipelines}
`;
}
