/** Several upstream calls for one image request, when a call makes fewer images than requested. */

import { writtenDocument } from "@sluice/kit/internals";
import {
  GatewayError,
  type JsonObject,
  type JsonValue,
  type ProviderRequest,
  type Reply,
  type WholeReply,
} from "@sluice/contract";
import { callInParts, type PartCaller, sumOf, usagesOf } from "./part-calls.ts";

/** Maximum of calls for one request: the reference API's bound of `n`. */
const MAX_CALLS = 10;
/** The members of an image reply's usage. */
const TOKENS = ["input_tokens", "output_tokens", "total_tokens"] as const;

/**
 * Answers an image request with parallel calls. Each call is an attempt with a row of its own. A
 * failed call fails the request after all have ended; the rows of the others have the cost of their
 * images. Throws `invalid_field` for more than 10 calls.
 */
export async function callForImages(
  request: ProviderRequest,
  imagesPerCall: number,
  caller: PartCaller,
): Promise<Reply> {
  const { n } = request.document.value;
  const wanted = typeof n === "number" ? n : 1;
  if (wanted <= imagesPerCall) return caller.attempt(request);
  const calls = Math.ceil(wanted / imagesPerCall);
  if (calls > MAX_CALLS) {
    throw new GatewayError(
      "invalid_field",
      `The field n must be at most ${MAX_CALLS * imagesPerCall} for this model.`,
      {
        param: "n",
      },
    );
  }
  const parts = Array.from({ length: calls }, (_, index) => {
    const count = Math.min(imagesPerCall, wanted - index * imagesPerCall);
    return { ...request, document: request.document.with({ n: count }) };
  });
  return join(await callInParts(parts, MAX_CALLS, caller));
}

/**
 * One reply of several: the first one's members, the images of all in the order of the calls, the
 * sum of the tokens.
 */
function join(replies: readonly JsonObject[]): WholeReply {
  const usages = usagesOf(replies);
  const value: JsonObject = {
    ...replies[0],
    data: replies.flatMap(({ data }) => data as readonly JsonValue[]),
    ...(usages.length > 0 && {
      usage: Object.fromEntries(TOKENS.map((name) => [name, sumOf(usages, name)])),
    }),
  };
  return { kind: "whole", status: 200, document: writtenDocument(value) };
}
