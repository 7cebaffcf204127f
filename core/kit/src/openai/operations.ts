/** The operations of an API that speaks the reference dialect: a path, a request and a reply for each. */

import { type DecodedReply, GatewayError, type JsonDocument, type Operation, type ProviderRequest } from "@sluice/spec";
import { decodeChat } from "./decode.ts";
import { decodeEmbeddings, type EmbeddingsOptions, encodeEmbeddings } from "./embeddings.ts";
import { encodeChat } from "./encode.ts";
import { type HistoryRules } from "./history.ts";
import { decodeImages, encodeImages } from "./images.ts";

/** How one operation is called. */
export interface ApiOperation {
  /** The path below the API's base, with a slash before it. */
  readonly path: string;
  encode(request: ProviderRequest): JsonDocument;
  decode(body: Uint8Array, request: ProviderRequest): DecodedReply;
}

/** The operations of an API. */
export interface ApiOperations {
  readonly names: readonly Operation[];
  /** The operation of a request. Throws `unsupported_parameter` for one that the API has not. */
  of(request: ProviderRequest): ApiOperation;
}

/** The API of OpenAI itself: it refuses members that it does not know, and ids of calls with more than 40 characters. */
export const OPENAI_HISTORY: HistoryRules = { isStrict: true, maxIdCharacters: 40 };

/**
 * The operations of an API; `only` names those that it has, `embeddings` what its vectors are written in, `history` what it refuses
 * of messages.
 */
export function createOperations(
  embeddings: EmbeddingsOptions = {},
  only?: readonly Operation[],
  history: HistoryRules = {},
): ApiOperations {
  const all: readonly (readonly [Operation, ApiOperation])[] = [
    [
      "chat",
      {
        path: "/chat/completions",
        encode: (request) => encodeChat(request, history),
        decode: (body, request) => decodeChat(body, request.replyModel, request),
      },
    ],
    ["embeddings", { path: "/embeddings", encode: (request) => encodeEmbeddings(request, embeddings), decode: decodeEmbeddings }],
    ["images", { path: "/images/generations", encode: encodeImages, decode: decodeImages }],
  ];
  const operations = new Map(all.filter(([name]) => only === undefined || only.includes(name)));
  return {
    names: [...operations.keys()],
    of({ operation }) {
      const found = operations.get(operation);
      if (found === undefined)
        throw new GatewayError("unsupported_parameter", `The API cannot do ${operation}.`, { param: "model" });
      return found;
    },
  };
}

/** Images that one call can make. dall-e-3 makes one (platform.openai.com/docs/api-reference/images/create, `n`). */
export function imagesPerCall(model: string): number {
  return model.startsWith("dall-e-3") ? 1 : Infinity;
}
