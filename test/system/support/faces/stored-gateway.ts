/** Gateways that store responses: with options of their step, a driver, a pepper of their own. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { REDIS } from "../../../../plugins/shared-redis/src/redis.fixture.ts";
import { type GatewayProcess, startGateway } from "../gateway-process.ts";
import { createWorkspace } from "../workspace.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "./four-providers.ts";

/** What differs from the shipped configuration. */
export interface StoredPlace {
  /** Options of the step `responses`, as YAML. */
  readonly step?: string;
  /** Further sections of the gateway file. */
  readonly sections?: string;
  /** The pepper of the data folder, hexadecimal. */
  readonly pepper?: string;
  /** Options of the provider `openai`, as YAML. */
  readonly provider?: string;
  /** Lines of the section `server`, as YAML. */
  readonly server?: string;
}

/** The section of a gateway file whose shared state is in Redis, under a prefix. */
export function redisSection(prefix: string): string {
  return `shared: { use: redis, url: "\${env:REDIS_URL}", prefix: "${prefix}", command_timeout: 5s }\n`;
}

/** The environment of such a gateway. */
export const ENVIRONMENT = {
  ...PROVIDER_ENVIRONMENT,
  REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9`,
  ONE_KEY: "sk-one-of-the-stored-responses-0123456789",
};

/** A key that every such gateway declares under `keys:`. */
export const DECLARED_KEYS = 'keys:\n  - { alias: one, key: "${env:ONE_KEY}" }\n';
export const DECLARED_KEY = ENVIRONMENT.ONE_KEY;

/**
 * Starts a gateway with a model of each provider, and the model `two` with two deployments that
 * think. Close it with `end`.
 */
export async function storedGateway(url: string, place: StoredPlace = {}): Promise<GatewayProcess> {
  const { step, sections = "", pepper, provider, server } = place;
  const four = fourProviders(url);
  const second = `second: { use: anthropic, api_key: "\${env:NATIVE_KEY}", base_url: ${url}/second }`;
  const target = (provider: string): string =>
    `{ provider: ${provider}, model: claude-sonnet-4-5 }`;
  const options = {
    ...four,
    ...(provider === undefined ? {} : { provider }),
    ...(server === undefined ? {} : { server }),
    providers: [...(four.providers ?? []), second],
    models: [...four.models, `{ id: two, targets: [${target("anthropic")}, ${target("second")}] }`],
  };
  const workspace = createWorkspace(options);
  workspace.write(workspace.config(options) + sections);
  if (step !== undefined) {
    const path = join(workspace.pipelinesFolder, "chat.yaml");
    const text = readFileSync(path, "utf8");
    const line = /^ {2}- responses$/m;
    if (!line.test(text)) throw new Error("chat.yaml has no step `responses` without options.");
    writeFileSync(path, text.replace(line, `  - { use: responses, with: ${step} }`));
  }
  if (pepper !== undefined) {
    mkdirSync(workspace.dataDirectory, { recursive: true });
    writeFileSync(join(workspace.dataDirectory, "pepper"), `${pepper}\n`);
  }
  return startGateway(workspace, ENVIRONMENT);
}

/** Stops a gateway and removes its folder. */
export async function end(gateway: GatewayProcess | undefined): Promise<void> {
  await gateway?.dispose();
  gateway?.workspace.remove();
}

/** The SDK of a key. It never tries twice. */
export function sdkOf(gateway: GatewayProcess, apiKey = gateway.masterKey): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${gateway.publicUrl}/v1`, maxRetries: 0 });
}
