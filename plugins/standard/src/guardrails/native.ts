/**
 * Checks native replies: JSON, text and event streams of known dialects. An unreadable reply does
 * not pass.
 */

import { isUtf8 } from "node:buffer";
import { closing, discardReply } from "@sluice/runtime";
import { documentOf, isObject, parseJson } from "@sluice/kit";
import {
  exactValue,
  Gathered,
  hasRepeatedMembers,
  rewritten,
  withTexts,
  writtenDocument,
} from "@sluice/kit/internals";
import {
  type BodyOptions,
  guardFrames,
  type GuardedStreamOptions,
  checkTexts,
  nativeStream,
} from "@sluice/runtime/guard";
import {
  nativeFrame,
  type NativeFrame,
  readNativeEvents,
  writeNativeEvent,
} from "@sluice/runtime/passthrough";
import {
  type BytesReply,
  type Exchange,
  type Frame,
  GatewayError,
  type JsonObject,
} from "@sluice/contract";
import type { ReplyConfig } from "./config.ts";
import { beginning } from "./beginning.ts";
import { primed } from "./prime.ts";
import { markAttempt } from "./mark.ts";
import { replyTexts } from "./reply-texts.ts";

/** Maximum bytes of a whole native reply that are held for the check. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;

/**
 * The checked reply. Throws before the first byte is written, where the result is known by then.
 */
export async function guardBytes(
  exchange: Exchange,
  reply: BytesReply,
  options: BodyOptions,
  config: ReplyConfig,
): Promise<BytesReply> {
  const type = reply.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  const isPlain = reply.headers["content-encoding"] === undefined;
  const isEvents = isPlain && type === "text/event-stream";
  const { body, isJson: isWholeJson } = isEvents
    ? await beginning(reply.body)
    : { body: reply.body, isJson: false };
  const begun = { ...reply, body };
  if (isEvents && !isWholeJson) return guardEvents(exchange, begun, options, config);
  const isJson = isWholeJson || type === "application/json" || type.endsWith("+json");
  if (!isPlain || (!isJson && !type.startsWith("text/") && type !== "")) {
    if (config.unreadable === "allow") return reply;
    const error = new GatewayError(
      "guardrail_violation",
      "The upstream's reply is no text, and the guardrails cannot read it.",
    );
    // The upstream bills it: its row names the error that cut it.
    markAttempt(exchange, error);
    await discardReply(reply);
    throw error;
  }
  const bytes = await readWhole(exchange, begun);
  // A proxy may have changed the type, and the client still reads events.
  if (!isJson && looksLikeEvents(bytes))
    return guardEvents(exchange, { ...reply, body: oneChunk(bytes) }, options, config);
  const edited = isJson ? await judgeJson(bytes, options) : await judgeText(bytes, options);
  const { "content-length": _length, ...headers } = reply.headers;
  return {
    ...reply,
    headers: { ...headers, "content-length": String(edited.length) },
    body: oneChunk(edited),
  };
}

async function readWhole(exchange: Exchange, reply: BytesReply): Promise<Buffer> {
  const gathered = new Gathered();
  for await (const chunk of reply.body) {
    if (gathered.length + chunk.length > MAX_WHOLE_BYTES) {
      const error = new GatewayError(
        "upstream_invalid_response",
        "The upstream's reply is larger than the guardrails may hold.",
      );
      markAttempt(exchange, error);
      throw error;
    }
    gathered.push(chunk);
  }
  const { buffer, byteOffset, byteLength } = gathered.take();
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Fields of server-sent events, behind white space and a byte order mark, and data that is JSON:
 * `data:` also begins a data URL.
 */
const EVENTS_START = /^[\s\ufeff]*(?:(?:data|event|id|retry)?:|(?:data|event|id|retry)[\r\n])/;
const EVENT_DATA = /(?:^|[\s\ufeff])data:[ \t]*[{[]/;

/** The bytes that identify the framing of a reply. */
const HEAD_BYTES = 4_096;

function looksLikeEvents(bytes: Buffer): boolean {
  const head = bytes.toString("utf8", 0, HEAD_BYTES);
  return EVENTS_START.test(head) && EVENT_DATA.test(head);
}

async function judgeJson(bytes: Buffer, options: BodyOptions): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  // Clients ignore a byte order mark.
  const text = bytes.toString("utf8").replace(/^\ufeff/, "");
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new GatewayError(
      "upstream_invalid_response",
      "The upstream's reply is no JSON, and the guardrails cannot read it.",
    );
  }
  // A value other than an object is checked as a member of one, and written back unchanged.
  const isMember = !isObject(value);
  const object = isMember ? `{"output":${text}}` : text;
  const document = documentOf(object);
  const edits = await checkTexts(replyTexts(document.value, options.context.operation), options);
  // The client must read the checked text. It may read invalid UTF-8 and duplicate members
  // differently.
  const isReadAlike = isUtf8(bytes) && !hasRepeatedMembers(object, document.value);
  if (edits.size === 0 && isReadAlike) return bytes;
  const read = isReadAlike ? document : rewritten(document);
  const judged = exactValue(await withTexts(read, edits, options.ending));
  return Buffer.from(JSON.stringify(isMember ? judged.output : judged), "utf8");
}

async function judgeText(bytes: Buffer, options: BodyOptions): Promise<Uint8Array> {
  const document = writtenDocument({ output: bytes.toString("utf8") });
  const edits = await checkTexts(replyTexts(document.value, options.context.operation), options);
  if (edits.size === 0 && isUtf8(bytes)) return bytes;
  const { value } = await withTexts(document, edits, options.ending);
  return Buffer.from(String(value.output), "utf8");
}

async function guardEvents(
  exchange: Exchange,
  reply: BytesReply,
  { set, context }: BodyOptions,
  config: ReplyConfig,
): Promise<BytesReply> {
  const { enforced, shadow } = set.split();
  const isObserving = config.stream === "observe";
  const options: GuardedStreamOptions = {
    dialect: nativeStream,
    set: isObserving ? set.restorers() : enforced,
    observers: isObserving ? set.asObservers() : shadow,
    mode: config.stream === "hold" ? "hold" : "window",
    maxHeld: config.max_held,
    context,
    frameOf: changedFrame,
  };
  const guarded = guardFrames(readNativeEvents(reply.body), options, (error) =>
    markAttempt(exchange, error),
  );
  const frames = await primed(guarded, nativeStream);
  const { "content-length": _length, ...headers } = reply.headers;
  return {
    ...reply,
    headers,
    body: closing(written(frames), () => frames[Symbol.asyncIterator]().return?.()),
  };
}

function changedFrame(changed: JsonObject, original: Frame): Frame {
  return nativeFrame((original as NativeFrame).event, JSON.stringify(changed));
}

async function* written(frames: AsyncIterable<Frame>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const frame of frames) yield writeNativeEvent(frame as NativeFrame);
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
