/**
 * @sluice/provider-cohere: Cohere's v2 API as a provider of chat and embeddings, and as it is for
 * native requests.
 */

import { defineProvider, Option, Stages, writtenDocument } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type { NativeEndpoint, ProviderRequest, Secret, UpstreamCall } from "@sluice/contract";
import { decodeEmbed, embedBody, INPUTS_PER_CALL } from "./embeddings.ts";
import { readError } from "./errors.ts";
import { supports } from "./models.ts";
import { decodeChat, translateStream } from "./reply.ts";
import { chatBody, PARAMETERS, toolNames } from "./request.ts";

interface CohereConfig {
  readonly api_key: Secret;
  readonly base_url: string;
  readonly client_name?: string;
}

/**
 * The endpoints that run a model (docs.cohere.com/reference), and Cohere's own copies of OpenAI's.
 */
const ENDPOINTS: readonly NativeEndpoint[] = [
  ...["v1/", "v2/"].flatMap((version): NativeEndpoint[] => [
    { path: `${version}chat`, model: "body", usage: "text" },
    { path: `${version}embed`, model: "body", usage: "prompt" },
    { path: `${version}rerank`, model: "body", usage: "reported" },
  ]),
  { path: "v1/generate", model: "body", usage: "text" },
  { path: "v1/classify", model: "body", usage: "reported" },
  { path: "v1/tokenize", model: "body", usage: "free" },
  { path: "v1/detokenize", model: "body", usage: "free" },
  ...Native.openaiEndpoints(["compatibility/v1/"]).filter(({ path }) =>
    /(?:chat\/completions|embeddings)$/.test(path),
  ),
];

export default defineProvider<CohereConfig>({
  name: "cohere",
  stability: "beta",
  summary:
    "Cohere's own API: chat, tools, documents with citations, images, thinking, embeddings; and every native path.",
  modelList: "v1/models",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: Option.apiKey("COHERE_API_KEY"),
      base_url: Option.baseUrl("https://api.cohere.com"),
      client_name: {
        type: "string",
        description: "Sent as `X-Client-Name`: who calls, for Cohere's dashboard. Example: `acme`.",
      },
    },
  },
  create(config) {
    const account: Record<string, string | Secret> = {};
    if (config.client_name !== undefined) account["x-client-name"] = config.client_name;
    account.authorization = config.api_key.map((key) => `Bearer ${key}`);
    const headers = { "content-type": "application/json", accept: "application/json", ...account };
    const encodeInStages = function* (request: ProviderRequest): Stages.Of<UpstreamCall> {
      const isChat = request.operation === "chat";
      const body = isChat ? yield* chatBody(request) : embedBody(request);
      const accept = request.stream ? { accept: "text/event-stream" } : {};
      return {
        kind: "http",
        method: "POST",
        url: `${config.base_url}/v2/${isChat ? "chat" : "embed"}`,
        headers: { ...headers, ...accept },
        body: writtenDocument(body),
      };
    };
    return {
      capabilities: {
        operations: ["chat", "embeddings", "passthrough"],
        streaming: true,
        tools: true,
        parameters: PARAMETERS,
        nativeFields: ["priority"],
        supports,
        inputsPerCall: () => INPUTS_PER_CALL,
      },
      encode: (request) => Stages.atOnce(encodeInStages(request)),
      encodeInStages,
      decode: (body, request) =>
        request.operation === "chat"
          ? decodeChat(body, request, toolNames(request))
          : decodeEmbed(body, request),
      stream: (request) => translateStream(request, () => toolNames(request)),
      error: readError,
      passthrough: (request) => Native.call(request, config.base_url, account),
      native: { root: Native.root(config.base_url), endpoints: ENDPOINTS },
    };
  },
});
