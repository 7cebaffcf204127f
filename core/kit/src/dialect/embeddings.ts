/** Embeddings for other dialects: the texts of a request, and a reply made of vectors. */

import type { DecodedReply, JsonObject, JsonValue, ProviderRequest, Usage } from "@sluice/contract";
import { writtenDocument } from "../json/document.ts";
import { inputCount } from "../openai/embeddings/embeddings.ts";
import { floatsToBase64 } from "../openai/embeddings/format.ts";
import { invalidReply } from "../openai/embeddings/skeleton-reply.ts";
import { invalidField } from "./refusal.ts";
import type { RequestFields } from "./request/request-fields.ts";

/**
 * The texts of an embeddings request. Throws `invalid_field` for none. Refuses tokens: their
 * encoding belongs to another model.
 */
export function embeddingTexts({
  body: { input },
  refuse,
}: Pick<RequestFields, "body" | "refuse">): readonly string[] {
  const list: readonly (JsonValue | undefined)[] = Array.isArray(input)
    ? (input as readonly JsonValue[])
    : [input];
  if (list.length === 0) throw invalidField("input", "a text or a list of texts");
  return list.map((each, index) => {
    const path = Array.isArray(input) ? `input[${index}]` : "input";
    if (typeof each === "string" && each !== "") return each;
    return typeof each === "number" || Array.isArray(each)
      ? refuse(path, "tokens in place of a text")
      : fail(path, "a text that is not empty");
  });
}

function fail(path: string, rule: string): never {
  throw invalidField(path, rule);
}

/**
 * The reply of an embeddings call: a vector for each input, in their order, each in the requested
 * format. A string is a vector in base64. Throws `upstream_invalid_response` for a wrong number of
 * vectors, and for an invalid one.
 */
export function embeddingsReply(
  request: ProviderRequest,
  vectors: readonly (JsonValue | undefined)[] | undefined,
  usage: Usage | undefined,
): DecodedReply {
  const { input, encoding_format: format } = request.document.value;
  const count = inputCount(input);
  if (vectors?.length !== count)
    throw invalidReply(`has ${vectors?.length ?? "no"} embeddings for ${count} inputs`);
  const data = vectors.map((vector, index): JsonObject => {
    if (typeof vector !== "string" && !isVector(vector))
      throw invalidReply(`has no vector for input[${index}]`);
    const isWritten = typeof vector === "string" || format !== "base64";
    return { object: "embedding", index, embedding: isWritten ? vector : floatsToBase64(vector) };
  });
  const reported =
    usage === undefined
      ? {}
      : { usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.totalTokens } };
  return {
    document: writtenDocument({ object: "list", data, model: request.replyModel, ...reported }),
    usage,
  };
}

function isVector(value: JsonValue | undefined): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each: JsonValue) => typeof each === "number")
  );
}
