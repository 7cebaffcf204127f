/** Native replies under guard: JSON, text and event streams of the dialects that are known. What cannot be read does not pass. */

import { isUtf8 } from "node:buffer";
import { documentOf, hasRepeatedMembers, isObject, writtenDocument } from "@sluice/kit";
import {
  type BodyOptions,
  bodyTexts,
  guardFrames,
  type GuardedStreamOptions,
  judgeTexts,
  nativeStream,
  withTexts,
} from "@sluice/kit/guard";
import { Gathered } from "@sluice/kit/transport";
import { nativeFrame, type NativeFrame, readNativeEvents, writeNativeEvent } from "@sluice/kit/passthrough";
import { type BytesReply, type Exchange, type Frame, GatewayError, type JsonObject, type JsonValue } from "@sluice/spec";
import type { ReplyConfig } from "./guardrails-config.ts";
import { primed } from "./guardrails-prime.ts";
import { markAttempt } from "./guardrails-mark.ts";

/** Bytes of a whole native reply that are held to be judged. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;

/** The reply as the client may see it. Throws before anything is written, where it can be told by then. */
export async function guardBytes(
  exchange: Exchange,
  reply: BytesReply,
  options: BodyOptions,
  config: ReplyConfig,
): Promise<BytesReply> {
  const type = reply.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  const isPlain = reply.headers["content-encoding"] === undefined;
  if (isPlain && type === "text/event-stream") return guardEvents(exchange, reply, options, config);
  const isJson = type === "application/json" || type.endsWith("+json");
  if (!isPlain || (!isJson && !type.startsWith("text/") && type !== "")) {
    if (config.unreadable === "allow") return reply;
    await reply.body[Symbol.asyncIterator]().return?.();
    throw new GatewayError("guardrail_violation", "The upstream's reply is no text, and the guardrails cannot read it.");
  }
  const bytes = await readWhole(reply);
  const edited = isJson ? await judgeJson(bytes, options) : await judgeText(bytes, options);
  const { "content-length": _length, ...headers } = reply.headers;
  return { ...reply, headers: { ...headers, "content-length": String(edited.length) }, body: oneChunk(edited) };
}

async function readWhole(reply: BytesReply): Promise<Buffer> {
  const gathered = new Gathered();
  for await (const chunk of reply.body) {
    if (gathered.length + chunk.length > MAX_WHOLE_BYTES)
      throw new GatewayError("upstream_invalid_response", "The upstream's reply is larger than the guardrails may hold.");
    gathered.push(chunk);
  }
  const { buffer, byteOffset, byteLength } = gathered.take();
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function judgeJson(bytes: Buffer, options: BodyOptions): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GatewayError("upstream_invalid_response", "The upstream's reply is no JSON, and the guardrails cannot read it.");
  }
  // What is no object is judged as the member of one and written back as it was.
  const isMember = !isObject(value);
  const document = documentOf(isMember ? `{"output":${text}}` : text);
  const edits = await judgeTexts(bodyTexts(document.value, options.context.operation).texts, options);
  // The client reads what was judged: of bytes that are no UTF-8 and of a member that stands twice it might read something else.
  const isReadAlike = isUtf8(bytes) && !hasRepeatedMembers(text, value as JsonValue);
  if (edits.size === 0) return isReadAlike ? bytes : Buffer.from(JSON.stringify(value), "utf8");
  const { value: judged } = withTexts(isReadAlike ? document : writtenDocument(document.value), edits);
  return Buffer.from(JSON.stringify(isMember ? judged.output : judged), "utf8");
}

async function judgeText(bytes: Buffer, options: BodyOptions): Promise<Uint8Array> {
  const document = writtenDocument({ output: bytes.toString("utf8") });
  const edits = await judgeTexts(bodyTexts(document.value, options.context.operation).texts, options);
  return edits.size === 0 && isUtf8(bytes) ? bytes : Buffer.from(String(withTexts(document, edits).value.output), "utf8");
}

async function guardEvents(
  exchange: Exchange,
  reply: BytesReply,
  { panel, context }: BodyOptions,
  config: ReplyConfig,
): Promise<BytesReply> {
  const { enforced, shadow } = panel.split();
  const isObserving = config.stream === "observe";
  const options: GuardedStreamOptions = {
    dialect: nativeStream,
    panel: isObserving ? panel.restorers() : enforced,
    observers: isObserving ? panel.asObservers() : shadow,
    mode: config.stream === "hold" ? "hold" : "window",
    maxHeld: config.max_held,
    context,
    frameOf: changedFrame,
  };
  const guarded = guardFrames(readNativeEvents(reply.body), options, (error) => markAttempt(exchange, error));
  const frames = await primed(guarded, nativeStream);
  const { "content-length": _length, ...headers } = reply.headers;
  return { ...reply, headers, body: written(frames) };
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
