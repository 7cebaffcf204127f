/** How the gateway of a checkout is started: its files in a folder of its own, and the command. */

import { hash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MODEL, NATIVE_MODEL, TRANSLATED_MODEL } from "../../scenarios.ts";
import { untestedPipelines } from "./pipelines.ts";
import { freePort, type BenchContext, type Launch } from "../../target.ts";
import type { Checkout } from "./present.ts";

/** As long and as random as the keys of upstreams, which are sought in every reply. */
const UPSTREAM_KEY = `sk-upstream-${hash("sha256", "bench", "base64url")}`;

/** What a gateway has beside the shipped configuration. */
export interface Additions {
  /** The folder of the pipelines. Default: the shipped ones. */
  readonly pipelines?: string;
  /** More sections of gateway.yaml. */
  readonly sections?: string;
  /** More lines of its providers. */
  readonly providers?: string;
  /** More lines of its list of models. */
  readonly models?: string;
  /** More lines of its section `server`. */
  readonly server?: string;
  /** The section `store`. Default: SQLite in the data folder. */
  readonly store?: string;
  /** More packages, without their scope. */
  readonly plugins?: readonly string[];
}

/** How a gateway is started, and how it is administered. */
export interface GatewayLaunch extends Launch {
  readonly configFile: string;
  readonly adminUrl: string;
  readonly masterKey: string;
}

/** Writes the gateway's files. */
export async function launch(
  { root }: Checkout,
  { directory, port, upstreamUrl, nodeFlags, isSlow = false }: BenchContext,
  additions: Additions = {},
): Promise<GatewayLaunch | { readonly skip: string }> {
  // Older commits, for --against, have the command in the engine.
  const command = ["core/cli/bin/sluice.js", "core/engine/bin/sluice.js"]
    .map((path) => join(root, path))
    .find(existsSync);
  if (command === undefined) return { skip: "the command sluice does not exist there" };
  const masterKey = `sk-bench-${randomBytes(24).toString("hex")}`;
  const configFile = join(directory, "gateway.yaml");
  const { pipelines = join(root, "pipelines") } = additions;
  const served = isSlow ? untestedPipelines(pipelines, directory) : pipelines;
  writeFileSync(
    configFile,
    gatewayYaml(root, directory, upstreamUrl, { ...additions, pipelines: served }),
  );
  const adminPort = await freePort();
  return {
    configFile,
    masterKey,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    command: process.execPath,
    args: [...nodeFlags, command, "serve", "--config", configFile],
    env: {
      SLUICE_MASTER_KEY: masterKey,
      SLUICE_PORT: String(port),
      SLUICE_ADMIN_PORT: String(adminPort),
      OPENAI_API_KEY: UPSTREAM_KEY,
      ANTHROPIC_API_KEY: UPSTREAM_KEY,
    },
    readyPath: "/health/ready",
    readyStatus: 200,
    headers: { authorization: `Bearer ${masterKey}` },
  };
}

/** The faces that the shipped pipelines name. Older commits, for --against, have none. */
function facesOf(root: string): readonly string[] {
  return readdirSync(join(root, "plugins")).filter((name) => name.startsWith("face-"));
}

/** A provider with the native lane of responses, and its model. Older commits have none. */
function nativeOf(
  root: string,
  upstreamUrl: string,
): Readonly<Record<"provider" | "model", string>> {
  if (!existsSync(join(root, "core/kit/src/openai/responses"))) return { provider: "", model: "" };
  return {
    provider: `  native: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: "${upstreamUrl}/v1", responses: true }\n`,
    model: `  - id: ${NATIVE_MODEL}\n    targets: [{ provider: native, model: ${NATIVE_MODEL} }]\n`,
  };
}

function gatewayYaml(
  root: string,
  directory: string,
  upstreamUrl: string,
  { pipelines, plugins = [], store, ...more }: Additions,
): string {
  const sqlite = `{ use: sqlite, path: ${join(directory, "data", "sluice.db")} }`;
  const native = nativeOf(root, upstreamUrl);
  return `version: 1
server:
  host: 127.0.0.1
  data_directory: ${join(directory, "data")}
  drain_timeout: 2s
${more.server ?? ""}store: ${store ?? sqlite}
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
${native.provider}${more.providers ?? ""}models:
  - id: ${MODEL}
    targets: [{ provider: openai, model: ${MODEL} }]
  - id: ${TRANSLATED_MODEL}
    targets: [{ provider: anthropic, model: ${TRANSLATED_MODEL} }]
${native.model}${more.models ?? ""}prices: ${join(root, "config/prices.yaml")}
pipelines: ${pipelines}
${more.sections ?? ""}`;
}
