/** A gateway file with a model of each kind of provider that faces translate to, at one address. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace, WorkspaceOptions } from "../workspace.ts";

/** Ids of models, and the kinds of their providers. */
export const PROVIDERS = ["openai", "anthropic", "gemini", "bedrock"] as const;

/** Models that think. */
const NAMES = {
  openai: "gpt-5-mini",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-2.5-flash",
  bedrock: "anthropic.claude-sonnet-4-5-20250929-v1:0",
};

/** The environment of a gateway with these providers. */
export const PROVIDER_ENVIRONMENT = { NATIVE_KEY: "a-native-credential-0123456789" };

/** Options of a workspace; `target` has further members of every target. */
export function fourProviders(url: string, target = ""): WorkspaceOptions & { models: string[] } {
  const keys = 'api_key: "${env:NATIVE_KEY}"';
  const more = target === "" ? "" : `, ${target}`;
  return {
    baseUrl: `${url}/v1`,
    attempts: 1,
    balance: "{ breaker: { eject_single: false } }",
    providers: [
      `anthropic: { use: anthropic, ${keys}, base_url: ${url} }`,
      `gemini: { use: gemini, ${keys}, base_url: ${url} }`,
      `bedrock: { use: bedrock, region: us-east-1, ${keys}, base_url: ${url} }`,
    ],
    models: PROVIDERS.map(
      (name) => `{ id: ${name}, targets: [{ provider: ${name}, model: "${NAMES[name]}"${more} }] }`,
    ),
  };
}

/** The id of the model whose upstream has the API of responses. */
export const LANE = "lane";

/** The same with this model, whose upstream is under the path `/lane`. */
export function withResponsesLane(
  url: string,
  options: WorkspaceOptions & { models: string[] },
  target = "",
): WorkspaceOptions & { models: string[] } {
  const more = target === "" ? "" : `, ${target}`;
  return {
    ...options,
    providers: [
      ...(options.providers ?? []),
      `${LANE}: { use: openai, api_key: "\${env:NATIVE_KEY}", base_url: ${url}/lane/v1, responses: true }`,
    ],
    models: [
      ...options.models,
      `{ id: ${LANE}, targets: [{ provider: ${LANE}, model: gpt-5-mini${more} }] }`,
    ],
  };
}

/** Opens the route of the legacy completions, which the shipped pipeline has as a comment. */
export function openCompletions({ pipelinesFolder }: Workspace): void {
  const path = join(pipelinesFolder, "chat.yaml");
  const route = "  - { route: POST /v1/completions, face: completions }";
  writeFileSync(path, readFileSync(path, "utf8").replace(`  # ${route.trim()}`, route));
}
