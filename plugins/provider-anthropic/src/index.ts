/** @sluice/provider-anthropic: Anthropic's own API, handed through. Its models cannot be called as chat models yet. */

import { defineProvider } from "@sluice/kit";
import { readErrorReply } from "@sluice/kit/openai";
import { nativeUrl } from "@sluice/kit/passthrough";
import { GatewayError, type Secret } from "@sluice/spec";

interface AnthropicConfig {
  readonly api_key: Secret;
  readonly base_url: string;
  readonly version: string;
}

export default defineProvider<AnthropicConfig>({
  name: "anthropic",
  stability: "experimental",
  summary: "The Anthropic API, for passthrough: /anthropic/v1/messages and every other native path.",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: { type: "string", "x-secret": true, description: "The API key, as a reference: `${env:ANTHROPIC_API_KEY}`." },
      base_url: {
        type: "string",
        pattern: "^https?://[^/?#]+(/[^?#]*[^/?#])?$",
        default: "https://api.anthropic.com",
        description: "Where the API lives, without a slash at the end. Example: `https://api.anthropic.com`.",
      },
      version: {
        type: "string",
        default: "2023-06-01",
        description: "Sent as `anthropic-version` when the client sends none. Example: `2023-06-01`.",
      },
    },
  },
  create: (config) => ({
    capabilities: { operations: ["passthrough"], streaming: true, tools: true },
    encode: refuse,
    decode: refuse,
    stream: refuse,
    error: readErrorReply,
    passthrough: ({ method, endpoint, query, headers, body }) => ({
      kind: "http",
      method,
      url: nativeUrl(config.base_url, endpoint, query),
      headers: { "anthropic-version": config.version, ...headers, "x-api-key": config.api_key },
      body,
    }),
  }),
});

function refuse(): never {
  throw new GatewayError(
    "unsupported_parameter",
    "The provider anthropic serves native requests only; call /anthropic/v1/messages.",
    {
      param: "model",
    },
  );
}
