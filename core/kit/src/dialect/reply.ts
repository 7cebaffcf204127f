/** Whole replies in the reference dialect, and readers of the upstream's bodies. */

import {
  type DecodedReply,
  GatewayError,
  type JsonObject,
  type JsonValue,
  type ProviderRequest,
  type Usage,
} from "@sluice/contract";
import { documentOf, writtenDocument } from "../json/document.ts";
import { isObject } from "../json/narrow.ts";
import { hasRawNumber } from "../json/numbers/raw.ts";
import { parseJson } from "../json/parse.ts";
import { parseBytes } from "../json/prepared.ts";
import { invalidReply } from "../openai/embeddings/skeleton-reply.ts";
import { finishReason, type FinishTable } from "./finish.ts";
import { usageJson } from "./usage.ts";

/** A tool call of a reply. */
export interface ReplyCall {
  readonly id: string;
  readonly name: string;
  /** JSON text; `{}` when the model sent none. */
  readonly arguments: string;
  /**
   * Data that the provider needs back with the call, under the provider's name: `{ google: {
   * thought_signature } }`.
   */
  readonly extra?: JsonObject | undefined;
}

/** A model's answer. */
export interface ChatAnswer {
  /** The text; empty when there is none. */
  readonly text: string;
  readonly calls?: readonly ReplyCall[];
  /** Readable reasoning. */
  readonly reasoning?: string;
  /** Blocks that the client must send back unchanged: `{type: "thinking", thinking, signature}`. */
  readonly thinkingBlocks?: readonly JsonObject[];
  /** The provider's name for the finish reason. */
  readonly nativeFinish: string | undefined;
  readonly finishTable: FinishTable;
  readonly usage: Usage | undefined;
  /**
   * Further members of the message, for example `annotations`. `provider_blocks` may have the
   * numbers of `Members.ExactValues`.
   */
  readonly message?: JsonObject;
  /** Further members of the choice. */
  readonly choice?: JsonObject;
}

/** The chat completion of an answer, under the client's name for the model. */
export function chatReply(
  request: ProviderRequest,
  ...answers: readonly ChatAnswer[]
): DecodedReply {
  const usage = answers[0]?.usage;
  const reply: JsonObject = {
    id: request.replyId,
    object: "chat.completion",
    created: request.createdSeconds,
    model: request.replyModel,
    choices: answers.map(choiceOf),
    ...(usage === undefined ? {} : { usage: usageJson(usage) }),
    ...(usage?.serviceTier === undefined ? {} : { service_tier: usage.serviceTier }),
  };
  // A number that no double holds is in the text alone: steps read the value.
  const hasExact = answers.some(({ message }) => hasRawNumber(message?.provider_blocks));
  return { document: hasExact ? documentOf(JSON.stringify(reply)) : writtenDocument(reply), usage };
}

function choiceOf(answer: ChatAnswer, index: number): JsonObject {
  const { text, calls = [], reasoning, thinkingBlocks = [], nativeFinish, finishTable } = answer;
  return {
    index,
    message: {
      role: "assistant",
      content: text === "" ? (calls.length > 0 ? null : "") : text,
      ...(reasoning === undefined || reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(thinkingBlocks.length === 0 ? {} : { thinking_blocks: thinkingBlocks }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
      ...answer.message,
    },
    logprobs: null,
    finish_reason: finishReason(nativeFinish, finishTable, calls.length > 0),
    ...(nativeFinish === undefined ? {} : { native_finish_reason: nativeFinish }),
    ...answer.choice,
  };
}

function callOf({ id, name, arguments: text, extra }: ReplyCall): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: text === "" ? "{}" : text },
    ...extraContent(extra),
  };
}

/**
 * `extra_content`: the member of Google's layer of the reference dialect for data that a client
 * sends back.
 */
export function extraContent(extra: JsonObject | undefined): JsonObject {
  return extra === undefined ? {} : { extra_content: extra };
}

/** The object of a body. Throws `upstream_invalid_response` for any other body. */
export function readJsonBody(body: Uint8Array): JsonObject {
  let value: unknown;
  try {
    ({ value } = parseBytes(body));
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : invalidReply("is not JSON", cause);
  }
  if (!isObject(value)) throw invalidReply("is not a JSON object");
  return value;
}

/** The object of an event's data. Throws `upstream_invalid_response` for any other data. */
export function readJsonEvent(data: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch (cause) {
    throw new GatewayError(
      "upstream_invalid_response",
      "An event of the upstream's stream is not JSON.",
      { cause },
    );
  }
  if (!isObject(value))
    throw new GatewayError(
      "upstream_invalid_response",
      "An event of the upstream's stream is not a JSON object.",
    );
  return value;
}

/** The objects of a list; other items are left out. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((each) => isObject(each)) : [];
}

/**
 * The choice of a whole reply that was asked for, wherever its list has it; an empty object for
 * none.
 */
export function firstChoice({ choices }: JsonObject): JsonObject {
  const all = objectsOf(choices);
  return all.find(({ index = 0 }) => index === 0) ?? all[0] ?? {};
}

/** Maximum items of one list that a decoder reads at once. */
const MAX_READ_ITEMS = 16_384;

/**
 * The same for the blocks, calls or citations of an upstream's reply. Throws
 * `upstream_invalid_response` for more than are read in one turn.
 */
export function readObjects(value: JsonValue | undefined): readonly JsonObject[] {
  if (Array.isArray(value) && value.length > MAX_READ_ITEMS)
    throw invalidReply(`has a list with more than ${MAX_READ_ITEMS} items`);
  return objectsOf(value);
}
