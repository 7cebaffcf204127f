/**
 * @sluice/provider-bedrock: Amazon Bedrock as a provider of chat, embeddings and images, and as it
 * is for native requests.
 */

import { defineProvider, Stages, writtenDocument } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type {
  EncodedCall,
  JsonObject,
  NativeEndpoint,
  Provider,
  ProviderRequest,
  Secret,
  UpstreamCall,
} from "@sluice/contract";
import { type BedrockConfig, checkCredentials, configSchema } from "./config.ts";
import { chainCredentials, type CredentialSource, fixedCredentials } from "./credentials.ts";
import {
  decodeEmbedding,
  EMBEDDING_PARAMETERS,
  embeddingsBody,
  inputsPerCall,
} from "./embeddings.ts";
import { readError } from "./errors.ts";
import { eventFraming } from "./event-frames.ts";
import { decodeImage, IMAGE_PARAMETERS, imagesBody, imagesPerCall } from "./images.ts";
import { supports, traits } from "./models.ts";
import { decodeConverse, translateStream } from "./reply.ts";
import { CHAT_PARAMETERS, converseBody, toolNames } from "./request.ts";
import { createSigner } from "./sign.ts";

/**
 * Endpoints that run a model (docs.aws.amazon.com/bedrock/latest/APIReference); the model of a path
 * may be an ARN with slashes.
 */
const ENDPOINTS: readonly NativeEndpoint[] = [
  { path: "model/{model}/converse", model: "path", usage: "text", hasSlashes: true },
  { path: "model/{model}/converse-stream", model: "path", usage: "text", hasSlashes: true },
  { path: "model/{model}/invoke", model: "path", usage: "text", hasSlashes: true },
  {
    path: "model/{model}/invoke-with-response-stream",
    model: "path",
    usage: "text",
    hasSlashes: true,
  },
  { path: "model/{model}/count-tokens", model: "path", usage: "free", hasSlashes: true },
];

const REQUEST_HEADERS = [
  "x-amzn-bedrock-accept",
  "x-amzn-bedrock-guardrailidentifier",
  "x-amzn-bedrock-guardrailversion",
  "x-amzn-bedrock-performanceconfig-latency",
  "x-amzn-bedrock-trace",
];

const CAPABILITIES: Provider["capabilities"] = {
  operations: ["chat", "embeddings", "images", "passthrough"],
  streaming: true,
  tools: true,
  parameters: [...CHAT_PARAMETERS, ...EMBEDDING_PARAMETERS, ...IMAGE_PARAMETERS],
  traits,
  supports,
  imagesPerCall,
  inputsPerCall,
};

export default defineProvider<BedrockConfig>({
  name: "bedrock",
  stability: "beta",
  summary:
    "The models of Amazon Bedrock: chat by Converse, embeddings and images by InvokeModel; and every native path.",
  config: configSchema,
  check: checkCredentials,
  create(config, host) {
    const { region, api_key: key } = config;
    const baseUrl = config.base_url ?? `https://bedrock-runtime.${region}.amazonaws.com`;
    const bearer: Record<string, Secret> =
      key === undefined ? {} : { authorization: key.map((value) => `Bearer ${value}`) };
    const call = ({ target }: ProviderRequest, action: string, body: JsonObject): EncodedCall => ({
      kind: "http",
      method: "POST",
      url: `${baseUrl}/model/${encodeURIComponent(target.model)}/${action}`,
      headers: { "content-type": "application/json", ...bearer },
      body: writtenDocument(body),
    });
    const encodeInStages = function* (request: ProviderRequest): Stages.Of<UpstreamCall> {
      switch (request.operation) {
        case "embeddings":
          return call(request, "invoke", embeddingsBody(request));
        case "images":
          return call(request, "invoke", imagesBody(request));
        default: {
          const known = host.models.find(request.replyModel)?.info?.maxOutputTokens;
          const { body, dropped } = yield* converseBody(request, known);
          const action = request.stream ? "converse-stream" : "converse";
          return { ...call(request, action, body), dropped };
        }
      }
    };
    const source =
      key === undefined
        ? sourceOf(config, () => chainCredentials(config.profile, region, host.clock))
        : undefined;
    return {
      capabilities: CAPABILITIES,
      encode: (request) => Stages.atOnce(encodeInStages(request)),
      encodeInStages,
      decode,
      framing: eventFraming,
      stream: (request) => translateStream(request, () => toolNames(request)),
      error: readError,
      passthrough: (request) => Native.call(request, baseUrl, bearer),
      native: {
        root: Native.root(baseUrl),
        endpoints: ENDPOINTS,
        requestHeaders: REQUEST_HEADERS,
        replyHeaders: ["x-amzn-requestid", "x-amzn-errortype"],
      },
      ...(source === undefined ? {} : { authorize: createSigner(region, source, host.clock) }),
    };
  },
});

const decode: Provider["decode"] = (body, request, headers) => {
  switch (request.operation) {
    case "embeddings":
      return decodeEmbedding(body, request, headers);
    case "images":
      return decodeImage(body, request);
    default:
      return decodeConverse(body, request, toolNames(request));
  }
};

function sourceOf(
  { access_key_id: id, secret_access_key: secret, session_token: token }: BedrockConfig,
  chain: () => CredentialSource,
): CredentialSource {
  return id === undefined || secret === undefined ? chain() : fixedCredentials(id, secret, token);
}
