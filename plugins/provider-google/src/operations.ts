/** The operations of Google's own models, in either API: a method, a body and a reply for each. */

import type { Stages } from "@sluice/kit";
import type { DecodedReply, JsonObject, Operation, ProviderRequest } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import {
  BATCH,
  decodeEmbeddings,
  EMBEDDING_PARAMETERS,
  embeddingsBody,
  vertexMethod,
} from "./embeddings.ts";
import { decodeImages, IMAGE_PARAMETERS, imageBody } from "./images.ts";
import { isImagen } from "./models.ts";
import { decodeContent } from "./reply.ts";
import { CHAT_PARAMETERS, contentBody, toolNames } from "./request.ts";

export const OPERATIONS = [
  "chat",
  "embeddings",
  "images",
  "passthrough",
] as const satisfies readonly Operation[];

/** Parameters of all operations. */
export const PARAMETERS: readonly string[] = [
  ...new Set([...CHAT_PARAMETERS, ...EMBEDDING_PARAMETERS, ...IMAGE_PARAMETERS]),
];

/** The call of a request: the method, which follows the model in the URL, and the body. */
export interface MethodCall {
  readonly method: string;
  readonly body: JsonObject;
  /** Parameters whose wish is left out. */
  readonly dropped?: readonly string[];
}

/** The method of a chat request, with its query. */
export function chatMethod({ stream }: ProviderRequest): string {
  return stream ? "streamGenerateContent?alt=sse" : "generateContent";
}

/** The call of a request, in stages. */
export function* methodCall(request: ProviderRequest, isVertex: boolean): Stages.Of<MethodCall> {
  const { operation, target } = request;
  switch (operation) {
    case "chat":
      return {
        method: chatMethod(request),
        body: yield* contentBody(request, isVertex),
      };
    case "embeddings": {
      const method = isVertex ? vertexMethod(target.model) : BATCH;
      return { method: method.name, body: embeddingsBody(request, method.name) };
    }
    case "images":
      return {
        method: isImagen(target.model) ? "predict" : "generateContent",
        body: imageBody(request, isVertex),
      };
    default:
      throw new GatewayError(
        "unsupported_parameter",
        `The API does not support the operation ${operation}.`,
        { param: "model" },
      );
  }
}

/** The reply of a request. */
export function decodeReply(body: Uint8Array, request: ProviderRequest): DecodedReply {
  switch (request.operation) {
    case "embeddings":
      return decodeEmbeddings(body, request);
    case "images":
      return decodeImages(body, request);
    default:
      return decodeContent(body, request, toolNames(request));
  }
}

/** A model's name in a path. `@`, as in `claude-sonnet-4-5@20250929`, is not escaped. */
export function pathName(model: string): string {
  return encodeURIComponent(model).replaceAll("%40", "@");
}
