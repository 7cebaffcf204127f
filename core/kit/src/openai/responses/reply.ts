/** Replies of OpenAI's Responses API as chat completions: whole ones. */

import type { DecodedReply, JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import {
  chatReply,
  objectsOf,
  readJsonBody,
  readObjects,
  type ReplyCall,
} from "../../dialect/reply.ts";
import type { FinishTable } from "../../dialect/finish.ts";
import { isObject } from "../../json/narrow.ts";
import { ExactValues } from "../../json/numbers/exact.ts";
import { readNativeUsage } from "../../passthrough/native-usage.ts";
import { invalidReply } from "../embeddings/skeleton-reply.ts";
import { readEmbeddedError } from "../errors.ts";

/** The reasons of `incomplete_details`. */
export const FINISH: FinishTable = {
  max_output_tokens: "length",
  content_filter: "content_filter",
};

/** The reply to a responses request. Throws the error of a failed one. */
export function decodeResponse(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const response = readJsonBody(body);
  if (isObject(response.error)) throw readEmbeddedError(response.error);
  if (!Array.isArray(response.output)) throw invalidReply("has no output");
  if (response.status === "failed") throw readEmbeddedError({});
  const items = readObjects(response.output);
  const exact = new ExactValues({ value: response, bytes: body });
  const parts = items.flatMap((item) => (item.type === "message" ? readObjects(item.content) : []));
  const refusal = parts.map((part) => textIn(part.refusal)).join("");
  const annotations = parts.flatMap((part) => readObjects(part.annotations).flatMap(annotationOf));
  const others = items.filter(isServers).map((item) => exact.of(item));
  const logprobs = logprobsOf(parts.flatMap((part) => objectsOf(part.logprobs)));
  return chatReply(request, {
    text: parts.map((part) => textIn(part.text)).join(""),
    reasoning: items.map(readableReasoning).join(""),
    calls: items.flatMap((item) => callOf(item, exact) ?? []),
    nativeFinish: finishOf(response),
    finishTable: FINISH,
    usage: readNativeUsage(response),
    ...(logprobs === undefined ? {} : { choice: { logprobs } }),
    message: {
      ...(refusal === "" ? {} : { refusal }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(others.length === 0 ? {} : { provider_blocks: others }),
    },
  });
}

/**
 * The log probabilities of a text as those of a choice: a token has the same members in both APIs.
 * `undefined` without one.
 */
export function logprobsOf(logprobs: JsonValue | undefined): JsonObject | undefined {
  const content = objectsOf(logprobs);
  return content.length === 0 ? undefined : { content, refusal: null };
}

/** Why a response ended: the reason of an incomplete one, else its status. */
export function finishOf({ status, incomplete_details: details }: JsonObject): string | undefined {
  const reason = isObject(details) ? details.reason : undefined;
  return [reason, status].find((each) => typeof each === "string") as string | undefined;
}

/**
 * The call of an item that the client runs; `undefined` for other items. `exact`: the values of the
 * text that has the item.
 */
export function callOf(item: JsonObject, exact?: ExactValues): ReplyCall | undefined {
  const { type, call_id: id } = item;
  if (typeof id !== "string" || typeof type !== "string") return undefined;
  if (type === "function_call")
    return { id, name: nameOf(item), arguments: textIn(item.arguments) };
  if (type === "custom_tool_call")
    return { id, name: nameOf(item), arguments: JSON.stringify({ input: textIn(item.input) }) };
  if (!type.endsWith("_call")) return undefined;
  const { action, operation, arguments: given } = item;
  const said = action ?? operation ?? given ?? {};
  return {
    id,
    name: type.slice(0, -"_call".length),
    arguments: typeof said === "string" ? said : JSON.stringify(exact?.of(said) ?? said),
  };
}

/** The name of a call in the reference dialect: a namespace stands before it. */
export function nameOf({ name, namespace }: JsonObject): string {
  const own = textIn(name);
  const space = textIn(namespace);
  if (space === "") return own;
  const isDivided = space.endsWith("__") || own.startsWith("__");
  return isDivided ? space + own : `${space}__${own}`;
}

/** Whether an item is of a tool that the provider ran: no chat completion has a place for it. */
export function isServers(item: JsonObject): boolean {
  const { type } = item;
  return type !== "message" && type !== "reasoning" && callOf(item) === undefined;
}

/** A citation of a page as an annotation of the reference dialect, in a list. */
export function annotationOf({
  type,
  url,
  title,
  start_index: start,
  end_index: end,
}: JsonObject): readonly JsonObject[] {
  if (type !== "url_citation" || typeof url !== "string") return [];
  const cited = { url, title: title ?? url, start_index: start ?? 0, end_index: end ?? 0 };
  return [{ type, url_citation: cited }];
}

/** A text, or nothing. */
export function textIn(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The readable part of a reasoning item: its own text, else its summary. */
function readableReasoning({ type, content, summary }: JsonObject): string {
  if (type !== "reasoning") return "";
  const texts = [content, summary].map((parts) =>
    objectsOf(parts)
      .map((part) => textIn(part.text))
      .join("\n\n"),
  );
  return texts.find((text) => text !== "") ?? "";
}
