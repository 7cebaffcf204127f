/**
 * @sluice/provider-anthropic: Anthropic's messages API as a provider of chat, and as it is for
 * native requests.
 */

import { defineProvider, Option, Stages, writtenDocument } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type { NativeEndpoint, ProviderRequest, Secret, UpstreamCall } from "@sluice/contract";
import { supports, traits } from "./models.ts";
import { DIALECT, nativeCall } from "./native.ts";
import { decodeMessage, readError, translateStream } from "./reply.ts";
import { messagesBody, PARAMETERS, toolNames } from "./request.ts";

interface AnthropicConfig {
  readonly api_key: Secret;
  readonly base_url: string;
  readonly version: string;
  readonly beta?: string;
  readonly max_tokens?: number;
}

/** The endpoints that run a model (docs.anthropic.com/en/api). */
const ENDPOINTS: readonly NativeEndpoint[] = [
  { path: "v1/messages", model: "body", usage: "text" },
  { path: "v1/messages/count_tokens", model: "body", usage: "free" },
  { path: "v1/complete", model: "body", usage: "text" },
];

export default defineProvider<AnthropicConfig>({
  name: "anthropic",
  stability: "beta",
  summary:
    "Claude by Anthropic's own API: chat, tools, images, documents, thinking; and every native path.",
  modelList: "v1/models",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: Option.apiKey("ANTHROPIC_API_KEY"),
      base_url: Option.baseUrl("https://api.anthropic.com"),
      version: {
        type: "string",
        default: "2023-06-01",
        description:
          "Sent as `anthropic-version` when the client sends none. Example: `2023-06-01`.",
      },
      beta: {
        type: "string",
        description:
          "Sent as `anthropic-beta` with every chat request: names, separated by commas. Example: `context-1m-2025-08-07`.",
      },
      max_tokens: {
        type: "integer",
        minimum: 1,
        description:
          "Maximum tokens of a reply when neither the client nor the model's `info` sets it. Default: the model's maximum. Example: `8192`.",
      },
    },
  },
  create(config, host) {
    const headers: Record<string, string | Secret> = {
      "content-type": "application/json",
      "anthropic-version": config.version,
    };
    if (config.beta !== undefined) headers["anthropic-beta"] = config.beta;
    headers["x-api-key"] = config.api_key;
    const url = `${config.base_url}/v1/messages`;
    const encodeInStages = function* (request: ProviderRequest): Stages.Of<UpstreamCall> {
      if (request.native !== undefined) return nativeCall(request.native, request, url, headers);
      const known = host.models.find(request.replyModel)?.info?.maxOutputTokens;
      const { body, dropped } = yield* messagesBody(request, known ?? config.max_tokens);
      return { kind: "http", method: "POST", url, headers, body: writtenDocument(body), dropped };
    };
    return {
      capabilities: {
        operations: ["chat", "passthrough"],
        streaming: true,
        tools: true,
        parameters: PARAMETERS,
        traits,
        supports,
      },
      dialects: [DIALECT],
      encode: (request) => Stages.atOnce(encodeInStages(request)),
      encodeInStages,
      decode: (body, request) => decodeMessage(body, request, toolNames(request)),
      stream: (request) => translateStream(request, () => toolNames(request)),
      error: readError,
      passthrough({ headers: native, ...request }) {
        const versioned = { "anthropic-version": config.version, ...native };
        return Native.call({ ...request, headers: versioned }, config.base_url, {
          "x-api-key": config.api_key,
        });
      },
      native: {
        root: Native.root(config.base_url),
        endpoints: ENDPOINTS,
        replyHeaders: ["request-id"],
      },
    };
  },
});
