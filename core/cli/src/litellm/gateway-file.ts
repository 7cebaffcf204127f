/** The gateway file of an imported configuration, with a comment where each part comes from. */

import type { ImportedGuardrail } from "./guardrails.ts";
import type { ImportedModel } from "./models.ts";
import type { ImportedProvider } from "./providers.ts";
import type { ImportedSettings } from "./settings.ts";
import { flow, scalar } from "../yaml-text.ts";

/** What goes into the file. */
export interface GatewayParts {
  /** The name of the file that was imported. */
  readonly from: string;
  readonly settings: ImportedSettings;
  readonly providers: readonly ImportedProvider[];
  readonly guardrails: readonly ImportedGuardrail[];
  readonly models: readonly ImportedModel[];
}

/** The text of the imported `gateway.yaml`. */
export function gatewayFile({
  from,
  settings,
  providers,
  guardrails,
  models,
}: GatewayParts): string {
  const packages = new Set([
    "standard",
    ...providers.map((provider) => `provider-${provider.package}`),
    ...guardrails.map((guardrail) => `guardrail-${guardrail.package}`),
    "provider-echo",
    "face-messages",
    "face-responses",
    "face-gemini",
    "store-sqlite",
    "shared-memory",
    "shared-redis",
  ]);
  const server = {
    host: "127.0.0.1",
    port: 4000,
    admin: { host: "127.0.0.1", port: 4001 },
    ...settings.server,
  };
  return [
    `# Imported from ${from}. What has no equivalent stands in import.md beside this folder.`,
    "# Credentials are references: ${env:NAME}. A provider whose credential is not set is unavailable, the others serve.",
    "version: 1",
    "",
    `server: ${flow(server)}   # 0.0.0.0 for every network`,
    "store: { use: sqlite }",
    "shared: { use: memory }",
    '# shared: { use: redis, url: "${env:REDIS_URL}" }   # limits and cache of several gateways',
    "",
    "plugins:",
    ...[...packages].map((name) => `  - "@sluice/${name}@^1.0.0"`),
    "",
    "providers:",
    ...providers.map(({ name, options }) => `  ${name}: ${flow(options)}`),
    "  echo: { use: echo }            # answers with what it was asked; for trying things out",
    ...(guardrails.length === 0 ? [] : ["", "guardrails:"]),
    ...guardrails.map(({ name, options }) => `  ${name}: ${flow(options)}`),
    "",
    "models:",
    ...models.flatMap((model) => modelLines(model, from)),
    "  - id: echo",
    "    only_named: true",
    "    targets: [{ provider: echo, model: echo }]",
    "",
    "end_of_config: true",
    "",
  ].join("\n");
}

function modelLines(
  { id, mode, targets, balance, fallbacks, access_groups: groups, info, line }: ImportedModel,
  from: string,
): string[] {
  return [
    `  - id: ${scalar(id)}   # ${from}:${line}`,
    ...(mode === "chat" ? [] : [`    mode: ${mode}`]),
    ...(targets.length === 1
      ? [`    targets: [${flow(targets[0])}]`]
      : ["    targets:", ...targets.map((target) => `      - ${flow(target)}`)]),
    ...(balance === undefined ? [] : [`    balance: ${balance}`]),
    ...(fallbacks === undefined ? [] : [`    fallbacks: ${flow(fallbacks)}`]),
    ...(groups.length === 0 ? [] : [`    access_groups: ${flow(groups)}`]),
    ...(info === undefined ? [] : [`    info: ${flow(info)}`]),
  ];
}
