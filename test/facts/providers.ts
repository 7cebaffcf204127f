/** Living providers of every dialect, for tables that hold of their pure functions. */

import { makeProvider, requestOf } from "@sluice/testing";
import anthropic from "@sluice/provider-anthropic";
import azure from "@sluice/provider-azure";
import bedrock from "@sluice/provider-bedrock";
import cohere from "@sluice/provider-cohere";
import compatible from "@sluice/provider-compatible";
import google from "@sluice/provider-google";
import mistral from "@sluice/provider-mistral";
import openai from "@sluice/provider-openai";
import stability from "@sluice/provider-stability";
import type { JsonObject, Provider, ProviderDefinition, ProviderRequest } from "@sluice/contract";

/** A provider and a model of it. */
export interface Subject {
  readonly provider: Provider;
  readonly model: string;
}

const [gemini, vertex] = google as readonly [ProviderDefinition<never>, ProviderDefinition<never>];

function subject(definition: unknown, model: string, config: JsonObject = {}): Subject {
  return { provider: makeProvider(definition as ProviderDefinition<never>, config), model };
}

const preset = (name: string): Subject =>
  subject(compatible, "model-1", { preset: name, base_url: "https://api.example.com/v1" });

export const PROVIDERS: Readonly<Record<string, Subject>> = {
  openai: subject(openai, "gpt-4o"),
  azure: subject(azure, "gpt-4o", { endpoint: "https://my.openai.azure.com" }),
  anthropic: subject(anthropic, "claude-sonnet-4-5"),
  gemini: subject(gemini, "gemini-3-flash-preview"),
  vertex: subject(vertex, "gemini-2.5-flash", { project: "my-project", credentials: null }),
  "vertex-claude": subject(vertex, "claude-sonnet-4-5@20250929", {
    project: "my-project",
    credentials: null,
  }),
  bedrock: subject(bedrock, "anthropic.claude-sonnet-4-5-20250929-v1:0", { region: "us-east-1" }),
  mistral: subject(mistral, "mistral-large-2512"),
  cohere: subject(cohere, "command-a-03-2025"),
  stability: subject(stability, "stable-image-core"),
  ...Object.fromEntries(
    [
      "groq",
      "deepseek",
      "xai",
      "together",
      "fireworks",
      "openrouter",
      "perplexity",
      "ollama",
      "vllm",
      "lmstudio",
      "custom",
    ].map((name) => [name, preset(name)]),
  ),
};

/** A chat request for a provider, with one tool. */
export function chatRequest(name: string, stream: boolean): ProviderRequest {
  const tool = {
    type: "function",
    function: { name: "probe", parameters: { type: "object", properties: {} } },
  };
  return requestOf(
    { model: "contract/model", messages: [{ role: "user", content: "Hello." }], tools: [tool] },
    { provider: name, model: PROVIDERS[name]?.model ?? "", operation: "chat", stream },
  );
}
