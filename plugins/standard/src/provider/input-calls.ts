/**
 * Several upstream calls for one embeddings request, when a call takes fewer inputs than it has.
 */

import { inputCount, writtenDocument } from "@sluice/kit/internals";
import {
  GatewayError,
  type JsonObject,
  type JsonValue,
  type ProviderRequest,
  type Reply,
  type WholeReply,
} from "@sluice/contract";
import { callInParts, type PartCaller, sumOf, usagesOf } from "./part-calls.ts";

/** Maximum of calls for one request: each is a row of the ledger. */
const MAX_CALLS = 256;
/** Maximum of parallel calls, so that one list does not use up a provider's rate limit. */
const WIDTH = 8;

/**
 * Answers an embeddings request with several calls, eight in parallel. Each is an attempt with a
 * row of its own. Throws `invalid_field` for more than 256 calls, and what a call throws.
 */
export async function callForInputs(
  request: ProviderRequest,
  inputsPerCall: number,
  caller: PartCaller,
): Promise<Reply> {
  const { input } = request.document.value;
  const count = inputCount(input);
  if (count <= inputsPerCall) return caller.attempt(request);
  if (Math.ceil(count / inputsPerCall) > MAX_CALLS) {
    const most = MAX_CALLS * inputsPerCall;
    throw new GatewayError(
      "invalid_field",
      `The field input must have at most ${most} items for this model.`,
      {
        param: "input",
      },
    );
  }
  const inputs = input as readonly JsonValue[];
  const parts: ProviderRequest[] = [];
  for (let at = 0; at < count; at += inputsPerCall) {
    parts.push({
      ...request,
      document: request.document.with({ input: inputs.slice(at, at + inputsPerCall) }),
    });
  }
  return join(await callInParts(parts, WIDTH, caller), inputsPerCall);
}

/**
 * Joins replies: the first one's members, each vector at its input's index, and the sum of the
 * tokens if all report them.
 */
function join(replies: readonly JsonObject[], inputsPerCall: number): WholeReply {
  const data = replies.flatMap(({ data: items }, part) =>
    (items as readonly JsonObject[]).map((item) => ({
      ...item,
      index: Number(item.index ?? 0) + part * inputsPerCall,
    })),
  );
  const usages = usagesOf(replies);
  const { usage: _first, ...members } = replies[0] as JsonObject;
  const tokens = sumOf(usages, "prompt_tokens");
  const usage: JsonObject = { prompt_tokens: tokens, total_tokens: tokens };
  const value: JsonObject = {
    ...members,
    data,
    ...(usages.length === replies.length && { usage }),
  };
  return { kind: "whole", status: 200, document: writtenDocument(value) };
}
