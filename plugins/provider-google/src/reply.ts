/**
 * Gemini's replies as chat completions: whole, and as streams whose every event is a reply of its
 * own.
 */

import {
  type Chat,
  chatReply,
  createStreamTranslator,
  type FinishTable,
  invalidReply,
  Members,
  readJsonBody,
  readJsonEvent,
  Reference,
  type ToolNames,
  upstreamError,
} from "@sluice/kit/dialect";
import { isObject } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type {
  DecodedReply,
  EventForm,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamTranslator,
  Usage,
} from "@sluice/contract";
import { embeddedError } from "./errors.ts";
import { givenSignature } from "./parts.ts";

/**
 * `FinishReason` of @google/genai 2.32.0. Any other (MALFORMED_FUNCTION_CALL, LANGUAGE, OTHER, …)
 * means `stop`.
 */
const FINISH: FinishTable = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
};

/** Members beside the content of a candidate, and their names for the client. */
const METADATA = [
  ["groundingMetadata", "grounding_metadata"],
  ["citationMetadata", "citation_metadata"],
  ["urlContextMetadata", "url_context_metadata"],
] as const;

/** The client's form of a part. */
interface Content {
  text: string;
  reasoning: string;
  readonly calls: Chat.ReplyCall[];
  readonly images: JsonObject[];
  /** Parts that no chat completion has a place for: code that the API ran, and what came of it. */
  readonly others: JsonValue[];
  signature: JsonObject | undefined;
}

/**
 * The reply to a chat request. Throws `content_policy_violation` for a blocked prompt, which has no
 * answer.
 */
export function decodeContent(
  body: Uint8Array,
  request: ProviderRequest,
  names: ToolNames.NameMap,
): DecodedReply {
  const reply = readJsonBody(body);
  checkReply(reply);
  const candidates = Members.readObjects(reply.candidates);
  if (candidates.length === 0) throw invalidReply("has no candidates");
  let made = 0;
  const usage = Native.readUsage(reply);
  const nextId = (): string => callId(request, made++);
  const exact = new Members.ExactValues({ value: reply, bytes: body });
  const answers = candidates.map((candidate): Chat.Answer => {
    const content = readParts(candidate, { nextId, names, exact });
    return {
      text: content.text,
      reasoning: content.reasoning,
      calls: content.calls,
      nativeFinish: Members.textIn(candidate.finishReason),
      finishTable: FINISH,
      usage,
      message: { ...besides(content, candidate), ...Reference.extraContent(content.signature) },
      choice: finishDetails(candidate),
    };
  });
  return chatReply(request, ...answers);
}

/**
 * An event with one piece of text has nothing else. The counts of the last event are read. That of
 * the prompt does not grow: an event with another one is parsed.
 */
const TEXT_FORM: EventForm = {
  texts: [["candidates", 0, "content", "parts", 0, "text"]],
  others: ["candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"].map((name) => [
    "usageMetadata",
    name,
  ]),
};

/** Whether a candidate has one part, a text of the answer. */
function isText({ content }: JsonObject): boolean {
  const parts = Members.objectsOf(isObject(content) ? content.parts : undefined);
  return parts.length === 1 && typeof parts[0]?.text === "string" && parts[0].thought !== true;
}

/** A translator of one stream. The dialect has no end mark: the reply ends with the connection. */
export function translateStream(
  request: ProviderRequest,
  names: () => ToolNames.NameMap,
): StreamTranslator {
  return createStreamTranslator(request, (writer) => {
    let mapped: ToolNames.NameMap | undefined;
    let made = 0;
    let calls = 0;
    let counted: string | undefined;
    let usage: Usage | undefined;
    const report = (reply: JsonObject): void => {
      const read = Native.readUsage(reply);
      // One event has the searches; the counts grow with each event.
      if (read !== undefined) usage = Native.joinUsage(usage, read);
      writer.usage(usage);
    };
    let finish: { readonly native: string; readonly details: JsonObject } | undefined;
    const toClient = (name: string): string => (mapped ??= names()).toClient(name);
    const nextId = (): string => callId(request, made++);
    return {
      // Every event has the counts so far: those of the last one are read, at the end.
      repeated: (data) => (counted = data),
      event({ data }) {
        counted = undefined;
        // A proxy may add the mark of the reference dialect.
        if (data === "[DONE]") return;
        const reply = readJsonEvent(data);
        checkReply(reply);
        report(reply);
        const candidate = firstCandidate(reply);
        if (candidate === undefined) return;
        writer.begin();
        const exact = new Members.ExactValues({ value: reply, bytes: data });
        const content = readParts(candidate, { nextId, names: { toClient }, exact });
        writer.reasoning(content.reasoning);
        const rest = {
          ...besides(content, candidate),
          ...Reference.extraContent(content.signature),
        };
        const isRepeatable =
          candidate.finishReason === undefined &&
          isText(candidate) &&
          Object.keys(rest).length === 0;
        writer.text(content.text, isRepeatable ? TEXT_FORM : undefined);
        if (Object.keys(rest).length > 0) writer.delta(rest);
        for (const call of content.calls) writer.call(calls++, call);
        // A call may still follow the reason, so that it is written at the end.
        const native = Members.textIn(candidate.finishReason);
        if (native !== undefined) finish = { native, details: finishDetails(candidate) };
      },
      end() {
        if (counted !== undefined) report(readJsonEvent(counted));
        if (finish === undefined) return;
        writer.finish(finish.native, FINISH, finish.details);
        writer.done();
      },
    };
  });
}

/** A stream has one choice: what another candidate says is no part of it. */
function firstCandidate({ candidates }: JsonObject): JsonObject | undefined {
  return Members.readObjects(candidates).find(({ index = 0 }) => index === 0);
}

function checkReply(reply: JsonObject): void {
  if (isObject(reply.error)) throw embeddedError(reply.error);
  const feedback = isObject(reply.promptFeedback) ? reply.promptFeedback : {};
  const reason = Members.textIn(feedback.blockReason);
  if (reason === undefined) return;
  const said = Members.textIn(feedback.blockReasonMessage);
  const message = `The upstream's content policy refused the prompt: ${reason}${said === undefined ? "" : `. ${said}`}`;
  throw upstreamError({ failure: "content_policy", message });
}

/** What the calls of a reply are read with. */
interface Reading {
  /** The values of the reply. */
  readonly exact: Members.ExactValues;
  readonly nextId: () => string;
  readonly names: Pick<ToolNames.NameMap, "toClient">;
}

function readParts(candidate: JsonObject, reading: Reading): Content {
  const made: Content = {
    text: "",
    reasoning: "",
    calls: [],
    images: [],
    others: [],
    signature: undefined,
  };
  const content = isObject(candidate.content) ? candidate.content : {};
  for (const part of Members.readObjects(content.parts)) {
    const { text, functionCall: call, inlineData: inline } = part;
    if (isObject(call)) {
      // A name is what makes a call; pieces of arguments are sent to those alone who ask for them.
      if (typeof call.name !== "string") throw invalidReply("has a call without a name");
      made.calls.push({
        id: Members.textIn(call.id) ?? reading.nextId(),
        name: reading.names.toClient(call.name),
        arguments: reading.exact.written(call.args ?? {}),
        extra: givenSignature(part),
      });
    } else if (typeof text === "string") {
      if (part.thought === true) made.reasoning += text;
      else made.text += text;
      made.signature = givenSignature(part) ?? made.signature;
    } else if (isObject(inline) && typeof inline.data === "string" && part.thought !== true) {
      const type = Members.textIn(inline.mimeType) ?? "application/octet-stream";
      made.images.push({
        type: "image_url",
        image_url: { url: `data:${type};base64,${inline.data}` },
      });
      made.signature = givenSignature(part) ?? made.signature;
    } else if (part.thought !== true) {
      made.others.push(reading.exact.of(part));
    }
  }
  return made;
}

function besides({ images, others }: Content, candidate: JsonObject): JsonObject {
  const found: Record<string, JsonValue> = {};
  if (images.length > 0) found.images = images;
  if (others.length > 0) found.provider_blocks = others;
  for (const [from, to] of METADATA) {
    const value = candidate[from];
    if (isObject(value) && Object.keys(value).length > 0) found[to] = value;
  }
  return found;
}

/** Why a candidate was stopped, where it was. */
function finishDetails({ finishReason, finishMessage, safetyRatings }: JsonObject): JsonObject {
  const message = Members.textIn(finishMessage);
  const isFiltered = typeof finishReason === "string" && FINISH[finishReason] === "content_filter";
  return {
    ...(message === undefined ? {} : { finish_message: message }),
    ...(isFiltered && Array.isArray(safetyRatings) ? { safety_ratings: safetyRatings } : {}),
  };
}

/**
 * An id for a call that came without one; a conversation holds many replies, so the reply's own id
 * is part of it.
 */
function callId({ replyId }: ProviderRequest, ordinal: number): string {
  return `call_${replyId.replace(/^chatcmpl-/, "")}_${ordinal}`;
}
