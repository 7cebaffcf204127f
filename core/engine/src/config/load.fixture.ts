/** Definitions and folders for the tests of the configuration. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import type { AnyDefinition, JsonSchema } from "@sluice/contract";

import { openConfig, resolveSnapshot, type Definitions, type ResolvedConfig } from "./load.ts";
import type { Environment } from "./files/references.ts";

const empty: JsonSchema = { type: "object", properties: {} };

/** A definition that is never created. */
export function definition(
  kind: "step" | "provider" | "store" | "state",
  name: string,
  config: JsonSchema = empty,
  check?: (
    config: Readonly<Record<string, unknown>>,
  ) => ReturnType<NonNullable<AnyDefinition["check"]>>,
): AnyDefinition {
  const create = (): never => {
    throw new Error("no instance in these tests");
  };
  const made = {
    kind,
    name,
    apiVersion: 1,
    stability: "beta",
    summary: `The ${name} ${kind}.`,
    config,
    create,
  };
  return (check === undefined ? made : { ...made, check }) as unknown as AnyDefinition;
}

const openai: JsonSchema = {
  type: "object",
  required: ["api_key"],
  properties: {
    api_key: { type: "string", minLength: 1, "x-secret": true, description: "The key." },
    base_url: {
      type: "string",
      format: "uri",
      default: "https://api.openai.com/v1",
      description: "Where the API is.",
    },
    organization: { type: "string", description: "The organization." },
  },
};

const retry: JsonSchema = {
  type: "object",
  required: ["attempts"],
  properties: {
    attempts: { type: "integer", minimum: 1, maximum: 5, description: "Attempts in all." },
    wait: { type: "string", format: "duration", default: "250ms", description: "Between two." },
    on: {
      type: "array",
      items: { type: "string", enum: ["timeout", "overload"] },
      default: [],
      description: "Reasons.",
    },
    jitter: { type: "boolean", default: true, description: "Spread the waits." },
  },
};

/** The definitions of these tests. */
export const definitions: Definitions = new Map(
  [
    definition("provider", "openai", openai),
    definition("provider", "echo"),
    definition("store", "sqlite", {
      type: "object",
      properties: { path: { type: "string", description: "The file." } },
    }),
    definition("state", "memory"),
    ...["auth", "cost", "provider", "models", "spend"].map((name) => definition("step", name)),
    definition("step", "cache", {
      type: "object",
      properties: {
        ttl: { type: "string", format: "duration", default: "10m", description: "How long." },
      },
    }),
    definition("step", "retry", retry, ({ attempts }) =>
      attempts === 4
        ? [{ path: ["attempts"], message: "four brings bad luck", fix: "write three or five" }]
        : [],
    ),
  ].map((made) => [`${made.kind}/${made.name}`, made]),
);

/** Files of a configuration by their relative paths. */
export type Files = Readonly<Record<string, string>>;

/** A sound configuration; tests break it. */
export const sound: Files = {
  "config/gateway.yaml": [
    "version: 1",
    "server: { port: 4000 }",
    'plugins: ["@sluice/standard@^1.0.0"]',
    "providers:",
    '  openai: { use: openai, api_key: "${env:OPENAI_API_KEY}" }',
    "  echo: { use: echo }",
    "models:",
    "  - id: echo",
    "    targets: [{ provider: echo, model: echo }]",
    "",
  ].join("\n"),
  "pipelines/chat.yaml": [
    "version: 1",
    "pipeline: chat",
    "routes: [POST /v1/chat/completions]",
    "operation: chat",
    "steps: [auth, provider]",
    "",
  ].join("\n"),
};

/** A temporary folder with files in it. */
export class TestFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "sluice-config-")));

  constructor(files: Files = {}) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string | Uint8Array): string {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  load(environment: Environment = {}, known: Definitions = definitions): ResolvedConfig {
    return resolveSnapshot(
      openConfig({ path: "config/gateway.yaml", cwd: this.path, environment }),
      known,
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
