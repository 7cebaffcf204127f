/** The Gemini API: a key, and the models of Google. */

import { defineProvider, Option, Stages, writtenDocument } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type {
  JsonDocument,
  ModelTraits,
  ProviderRequest,
  Secret,
  UpstreamCall,
} from "@sluice/contract";
import { BATCH } from "./embeddings.ts";
import { readError } from "./errors.ts";
import { imagesPerCall, supports, thinks } from "./models.ts";
import {
  GEMINI_ENDPOINTS,
  UPLOAD_ADDRESS_HEADERS,
  UPLOAD_REPLY_HEADERS,
  UPLOAD_REQUEST_HEADERS,
} from "./native-endpoints.ts";
import { withoutSystemParameters } from "./native-query.ts";
import { DIALECT, nativeBody } from "./native.ts";
import {
  chatMethod,
  decodeReply,
  methodCall,
  OPERATIONS,
  PARAMETERS,
  pathName,
} from "./operations.ts";
import { translateStream } from "./reply.ts";
import { toolNames } from "./request.ts";

/** The options of the Gemini API in YAML. */
export interface GeminiConfig {
  readonly api_key: Secret;
  readonly base_url: string;
  readonly version: string;
}

const THINKING_TRAITS: ModelTraits = { reasons: true };

export const gemini = defineProvider<GeminiConfig>({
  name: "gemini",
  stability: "beta",
  summary:
    "Gemini and Imagen by the Gemini API: chat, tools, every medium, thinking, embeddings, images; and every native path.",
  modelList: "v1beta/models",
  config: {
    type: "object",
    required: ["api_key"],
    properties: {
      api_key: Option.apiKey("GEMINI_API_KEY"),
      base_url: Option.baseUrl("https://generativelanguage.googleapis.com"),
      version: {
        type: "string",
        pattern: "^v[0-9a-z]+$",
        default: "v1beta",
        description: "The API's version. Example: `v1beta`.",
      },
    },
  },
  create(config) {
    // In a header, never in the query: logs hold queries.
    const account = { "x-goog-api-key": config.api_key };
    const headers = { "content-type": "application/json", ...account };
    const encodeInStages = function* (request: ProviderRequest): Stages.Of<UpstreamCall> {
      const { method, ...made } = yield* callOf(request);
      const url = `${config.base_url}/${config.version}/models/${pathName(request.target.model)}:${method}`;
      return { kind: "http", method: "POST", url, headers, ...made };
    };
    return {
      capabilities: {
        operations: OPERATIONS,
        streaming: true,
        tools: true,
        parameters: PARAMETERS,
        traits: (model) => (thinks(model) ? THINKING_TRAITS : undefined),
        supports,
        imagesPerCall,
        inputsPerCall: () => BATCH.inputsPerCall,
      },
      dialects: [DIALECT],
      encode: (request) => Stages.atOnce(encodeInStages(request)),
      encodeInStages,
      decode: decodeReply,
      stream: (request) => translateStream(request, () => toolNames(request)),
      error: readError,
      passthrough: (request) =>
        Native.call(withoutSystemParameters(request), config.base_url, account),
      native: {
        root: Native.root(config.base_url),
        endpoints: GEMINI_ENDPOINTS,
        requestHeaders: ["x-goog-api-client", ...UPLOAD_REQUEST_HEADERS],
        replyHeaders: UPLOAD_REPLY_HEADERS,
        addressHeaders: UPLOAD_ADDRESS_HEADERS,
      },
    };
  },
});

/** The method with its query, and the body: the client's own, or a translation. */
function* callOf(request: ProviderRequest): Stages.Of<{
  readonly method: string;
  readonly body: JsonDocument;
  readonly isNative?: true;
}> {
  const native = nativeBody(request);
  if (native !== undefined) return { method: chatMethod(request), body: native, isNative: true };
  const { method, body } = yield* methodCall(request, false);
  return { method, body: writtenDocument(body) };
}
