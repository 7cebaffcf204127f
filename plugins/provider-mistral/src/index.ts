/**
 * @sluice/provider-mistral: Mistral's API as a provider of chat and embeddings, and as it is for
 * native requests.
 */

import { defineProvider, Option, Stages, writtenDocument } from "@sluice/kit";
import { EmbeddingCalls, reasoningTraits } from "@sluice/kit/openai";
import { Native } from "@sluice/kit/passthrough";
import type { NativeEndpoint, ProviderRequest, Secret, UpstreamCall } from "@sluice/contract";
import { supports } from "./models.ts";
import { decodeReply, readError, translateStream } from "./reply.ts";
import { chatBody, embeddingsBody, PARAMETERS, toolNames } from "./request.ts";

/** Its API's schema has temperatures from 0 to 1.5 (docs.mistral.ai/api, `temperature`). */
const TRAITS = { ranges: { temperature: [0, 1.5] }, prefills: true } as const;

interface MistralConfig {
  readonly api_key: Secret;
  readonly base_url: string;
}

/**
 * The endpoints that run a model (docs.mistral.ai/api). Agents name theirs elsewhere, so they are
 * not among them.
 */
const ENDPOINTS: readonly NativeEndpoint[] = [
  { path: "v1/chat/completions", model: "body", usage: "text" },
  { path: "v1/fim/completions", model: "body", usage: "text" },
  { path: "v1/embeddings", model: "body", usage: "prompt" },
  { path: "v1/moderations", model: "body", usage: "reported" },
  { path: "v1/chat/moderations", model: "body", usage: "reported" },
  { path: "v1/classifications", model: "body", usage: "reported" },
  { path: "v1/chat/classifications", model: "body", usage: "reported" },
  { path: "v1/ocr", model: "body", usage: "reported" },
  { path: "v1/audio/transcriptions", model: "body", usage: "reported" },
];

export default defineProvider<MistralConfig>({
  name: "mistral",
  stability: "beta",
  summary:
    "Mistral's own API: chat, tools, images, documents, audio, thinking, embeddings; and every native path.",
  modelList: "v1/models",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: Option.apiKey("MISTRAL_API_KEY"),
      base_url: Option.baseUrl("https://api.mistral.ai/v1"),
    },
  },
  create(config) {
    const account = { authorization: config.api_key.map((key) => `Bearer ${key}`) };
    const headers = { "content-type": "application/json", ...account };
    const encodeInStages = function* (request: ProviderRequest): Stages.Of<UpstreamCall> {
      const isChat = request.operation === "chat";
      const url = `${config.base_url}/${isChat ? "chat/completions" : "embeddings"}`;
      const body = isChat ? writtenDocument(yield* chatBody(request)) : embeddingsBody(request);
      return { kind: "http", method: "POST", url, headers, body };
    };
    return {
      capabilities: {
        operations: ["chat", "embeddings", "passthrough"],
        streaming: true,
        tools: true,
        parameters: PARAMETERS,
        nativeFields: ["guardrails"],
        traits: (model) => ({ ...TRAITS, ...reasoningTraits(model) }),
        supports,
      },
      encode: (request) => Stages.atOnce(encodeInStages(request)),
      encodeInStages,
      decode: (body, request) =>
        request.operation === "chat"
          ? decodeReply(body, request, toolNames(request))
          : EmbeddingCalls.decode(body, request),
      stream: (request) => translateStream(request, () => toolNames(request)),
      error: readError,
      passthrough: (request) => Native.call(request, config.base_url, account),
      native: { root: Native.root(config.base_url), endpoints: ENDPOINTS },
    };
  },
});
