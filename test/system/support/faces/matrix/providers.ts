/** A gateway file with a model of every kind of provider that chats, at one address. */

import type { WorkspaceOptions } from "../../workspace.ts";

const KEY = 'api_key: "${env:NATIVE_KEY}"';

/** Options of each provider; `@` is the address. */
const OPTIONS = {
  openai: `use: openai, ${KEY}, base_url: @/v1, responses: true`,
  azure: `use: azure, ${KEY}, endpoint: @, responses: true`,
  anthropic: `use: anthropic, ${KEY}, base_url: @`,
  gemini: `use: gemini, ${KEY}, base_url: @`,
  bedrock: `use: bedrock, region: us-east-1, ${KEY}, base_url: @`,
  compatible: `use: compatible, preset: vllm, ${KEY}, base_url: @/v1`,
  mistral: `use: mistral, ${KEY}, base_url: @/mistral/v1`,
  cohere: `use: cohere, ${KEY}, base_url: @`,
} as const;

export type MatrixProvider = keyof typeof OPTIONS;

export const MATRIX_PROVIDERS = Object.keys(OPTIONS) as readonly MatrixProvider[];

/** What the cells of the matrix are about. */
export const FEATURES = [
  "text",
  "parallel tools",
  "thinking round trip",
  "image",
  "structured output",
  "stop reasons",
  "usage",
] as const;
export type Feature = (typeof FEATURES)[number];

const CLAUDE = "claude-sonnet-4-5";
const BEDROCK_CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0";
/** Models that can do what is asked: the general one, and others by feature. */
const MODELS: Readonly<
  Record<MatrixProvider, { readonly all: string } & Partial<Record<Feature, string>>>
> = {
  openai: { all: "gpt-4o", "thinking round trip": "gpt-5-mini" },
  azure: { all: "gpt-4o", "thinking round trip": "gpt-5-mini" },
  anthropic: { all: CLAUDE },
  gemini: { all: "gemini-2.5-flash" },
  bedrock: { all: BEDROCK_CLAUDE },
  compatible: { all: "qwen-3" },
  mistral: { all: "mistral-medium-latest", "thinking round trip": "magistral-medium-latest" },
  cohere: {
    all: "command-a-03-2025",
    "thinking round trip": "command-a-reasoning-08-2025",
    image: "command-a-vision-07-2025",
  },
};

/** The id by which a client asks for the model of a cell. */
export function modelOf(provider: MatrixProvider, feature: Feature): string {
  const { all, [feature]: own = all } = MODELS[provider];
  return `${provider}/${own}`;
}

/** Options of a workspace with these providers. */
export function matrixWorkspace(url: string): WorkspaceOptions {
  return {
    baseUrl: `${url}/v1`,
    provider: "responses: true",
    attempts: 1,
    balance: "{ breaker: { eject_single: false } }",
    providers: MATRIX_PROVIDERS.filter((name) => name !== "openai").map(
      (name) => `${name}: { ${OPTIONS[name].replaceAll("@", url)} }`,
    ),
    models: MATRIX_PROVIDERS.map(
      (name) => `{ id: "${name}/*", targets: [{ provider: ${name}, model: "*" }] }`,
    ),
  };
}
