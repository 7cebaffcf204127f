/**
 * @sluice/provider-openai: the OpenAI API as a provider. Its dialect is the reference dialect, so
 * almost nothing is translated.
 */

import { defineProvider, Option } from "@sluice/kit";
import {
  createChatTranslator,
  createOperations,
  type EmbeddingCalls,
  ImageCalls,
  OPENAI_HISTORY,
  readErrorReply,
  reasoningTraits,
  Responses,
} from "@sluice/kit/openai";
import { Native } from "@sluice/kit/passthrough";
import type { Secret } from "@sluice/contract";

interface OpenaiConfig {
  readonly api_key: Secret;
  readonly base_url: string;
  readonly organization?: string;
  readonly project?: string;
  readonly responses?: boolean;
  readonly embedding_formats: readonly EmbeddingCalls.Format[];
}

export default defineProvider<OpenaiConfig>({
  name: "openai",
  stability: "beta",
  summary: "The OpenAI API, and any upstream that speaks it without quirks.",
  modelList: "v1/models",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: Option.apiKey("OPENAI_API_KEY"),
      base_url: Option.baseUrl("https://api.openai.com/v1"),
      organization: {
        type: "string",
        description: "Sent as `openai-organization`. Example: `org-abc`.",
      },
      project: { type: "string", description: "Sent as `openai-project`. Example: `proj_abc`." },
      responses: Option.responses("at `https://api.openai.com`"),
      embedding_formats: Option.embeddingFormats(["float", "base64"], "[float]"),
    },
  },
  create(config) {
    const account: Record<string, string | Secret> = {
      authorization: config.api_key.map((key) => `Bearer ${key}`),
    };
    if (config.organization !== undefined) account["openai-organization"] = config.organization;
    if (config.project !== undefined) account["openai-project"] = config.project;
    const headers = { "content-type": "application/json", ...account };
    const { of, names } = createOperations(
      { formats: config.embedding_formats },
      undefined,
      OPENAI_HISTORY,
    );
    const hasResponses = config.responses ?? new URL(config.base_url).hostname === "api.openai.com";
    return {
      capabilities: {
        operations: names,
        streaming: true,
        tools: true,
        traits: reasoningTraits,
        isReference: true,
        imagesPerCall: ImageCalls.perCall,
      },
      ...(hasResponses ? Responses.lane : {}),
      encode(request) {
        if (request.native !== undefined)
          return Responses.call(request.native, request, {
            url: `${config.base_url}/responses`,
            headers,
          });
        const { path, encode } = of(request);
        const url = config.base_url + path;
        return { kind: "http", method: "POST", url, headers, body: encode(request) };
      },
      decode: (body, request) =>
        request.native === undefined
          ? of(request).decode(body, request)
          : Responses.decode(body, request),
      stream: (request) =>
        request.native === undefined
          ? createChatTranslator(request.replyModel, request)
          : Responses.translate(request),
      error: readErrorReply,
      passthrough: (request) => Native.call(request, config.base_url, account),
      native: { root: Native.root(config.base_url), endpoints: Native.openaiEndpoints() },
    };
  },
});
