/**
 * The operations of an API that speaks the reference dialect: a path, a request and a reply for
 * each.
 */

import {
  type DecodedReply,
  GatewayError,
  type JsonDocument,
  type Operation,
  type ProviderRequest,
} from "@sluice/contract";
import { decodeChat, encodeChat } from "./chat.ts";
import {
  decodeEmbeddings,
  type EmbeddingsOptions,
  encodeEmbeddings,
} from "./embeddings/embeddings.ts";
import { type HistoryRules } from "./history.ts";
import { decodeImages, encodeImages } from "./images.ts";

/** The call of one operation. */
export interface ApiOperation {
  /** The path below the API's base, with a slash before it. */
  readonly path: string;
  encode(request: ProviderRequest): JsonDocument;
  decode(body: Uint8Array, request: ProviderRequest): DecodedReply;
}

/** The operations of an API. */
export interface ApiOperations {
  readonly names: readonly Operation[];
  /**
   * The operation of a request. Throws `unsupported_parameter` for an operation that the API lacks.
   */
  of(request: ProviderRequest): ApiOperation;
}

/**
 * The history rules of OpenAI's API: it refuses unknown members, and ids of calls with more than 40
 * characters.
 */
export const OPENAI_HISTORY: HistoryRules = { isStrict: true, maxIdCharacters: 40 };

/**
 * The operations of an API. `only` lists the supported ones, `embeddings` the formats of vectors,
 * `history` the rules for messages.
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
    [
      "embeddings",
      {
        path: "/embeddings",
        encode: (request) => encodeEmbeddings(request, embeddings),
        decode: decodeEmbeddings,
      },
    ],
    ["images", { path: "/images/generations", encode: encodeImages, decode: decodeImages }],
  ];
  const operations = new Map(all.filter(([name]) => only === undefined || only.includes(name)));
  return {
    names: [...operations.keys()],
    of({ operation }) {
      const found = operations.get(operation);
      if (found === undefined)
        throw new GatewayError(
          "unsupported_parameter",
          `The API does not support the operation ${operation}.`,
          {
            param: "model",
          },
        );
      return found;
    },
  };
}

/**
 * Maximum number of images in one call. dall-e-3 makes one
 * (platform.openai.com/docs/api-reference/images/create, `n`).
 */
export function imagesPerCall(model: string): number {
  return model.startsWith("dall-e-3") ? 1 : Infinity;
}
