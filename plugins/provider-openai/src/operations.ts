/** What the API can do: a path, a request and a reply for each operation. */

import {
  decodeChat,
  decodeEmbeddings,
  decodeImages,
  type EmbeddingsOptions,
  encodeChat,
  encodeEmbeddings,
  encodeImages,
} from "@sluice/kit/openai";
import { type DecodedReply, GatewayError, type JsonDocument, type Operation, type ProviderRequest } from "@sluice/spec";

/** How one operation is called. */
export interface ApiOperation {
  readonly url: string;
  encode(request: ProviderRequest): JsonDocument;
  decode(body: Uint8Array, request: ProviderRequest): DecodedReply;
}

/** The operations of an API. */
export interface ApiOperations {
  readonly names: readonly Operation[];
  /** The operation of a request. Throws `unsupported_parameter` for one that the API has not. */
  of(request: ProviderRequest): ApiOperation;
}

/** The operations of the API at `baseUrl`. */
export function createOperations(baseUrl: string, embeddings: EmbeddingsOptions): ApiOperations {
  const operations = new Map<Operation, ApiOperation>([
    [
      "chat",
      {
        url: `${baseUrl}/chat/completions`,
        encode: encodeChat,
        decode: (body, request) => decodeChat(body, request.replyModel, request),
      },
    ],
    [
      "embeddings",
      {
        url: `${baseUrl}/embeddings`,
        encode: (request) => encodeEmbeddings(request, embeddings),
        decode: decodeEmbeddings,
      },
    ],
    ["images", { url: `${baseUrl}/images/generations`, encode: encodeImages, decode: decodeImages }],
  ]);
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
