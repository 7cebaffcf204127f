/** This gateway: the shipped chat pipeline, with authentication, cost and a durable spend row for each request. */

import { existsSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODEL } from "../scenarios.ts";
import { freePort, type Target } from "../target.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = join(REPOSITORY, "core/engine/bin/sluice.js");

export const sluice: Target = {
  name: "sluice",
  about: "this gateway: auth, cost, durable row",
  isNode: true,
  async prepare({ directory, port, upstreamUrl, nodeFlags }) {
    if (!existsSync(COMMAND)) return { skip: "core/engine/bin/sluice.js does not exist" };
    const masterKey = `sk-bench-${randomBytes(24).toString("hex")}`;
    const config = join(directory, "gateway.yaml");
    writeFileSync(config, gatewayYaml(directory, upstreamUrl));
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
  },
};

function gatewayYaml(directory: string, upstreamUrl: string): string {
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
providers:
  openai: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: "${upstreamUrl}/v1" }
models:
  - id: ${MODEL}
    targets: [{ provider: openai, model: ${MODEL} }]
prices: ${join(REPOSITORY, "config/prices.yaml")}
pipelines: ${join(REPOSITORY, "pipelines")}
`;
}
