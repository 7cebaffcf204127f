/**
 * Checks replies: whole ones, streams of the reference dialect, and native bytes of a known
 * dialect.
 */

import {
  type BodyOptions,
  chatStream,
  guardFrames,
  type GuardedStreamOptions,
  checkTexts,
  type GuardrailSet,
} from "@sluice/runtime/guard";
import {
  BatchedFrames,
  batchesOf,
  type BodyText,
  chunkFrame,
  endingOf,
  translationOf,
  withTexts,
} from "@sluice/kit/internals";
import {
  type Exchange,
  type Frame,
  type Operation,
  type Reply,
  type StreamReply,
} from "@sluice/contract";
import { batchesToTheEnd, ReadOn } from "./again.ts";
import { guardBytes } from "./native.ts";
import { primed, readAlready } from "./prime.ts";
import type { ReplyConfig } from "./config.ts";
import { markAttempt } from "./mark.ts";
import { replyTexts } from "./reply-texts.ts";

/** The checked reply. Throws the error of a block before anything is written. */
export async function guardReply(
  exchange: Exchange,
  set: GuardrailSet,
  config: ReplyConfig,
): Promise<Reply | undefined> {
  const { reply } = exchange;
  if (reply === undefined || set.isEmpty) return reply;
  const context = {
    exchange: exchange.id,
    operation: exchange.operation,
    model: exchange.request?.model ?? "",
    direction: "output",
  } as const;
  const options: BodyOptions = {
    set,
    order: config.order ?? "parallel",
    context,
    ending: endingOf(exchange),
  };
  switch (reply.kind) {
    case "whole": {
      // An embeddings reply holds numbers and no text.
      if (exchange.operation === "embeddings") return reply;
      const texts = replyTexts(reply.document.value, exchange.operation);
      const edits = await checkTexts(
        texts.filter((text) => isReplyText(text, exchange.operation)),
        options,
      );
      // The upstream's own document may say more than was judged.
      const translation = translationOf(reply.document);
      return { ...reply, document: await withTexts(translation, edits, options.ending) };
    }
    case "stream":
      return guardStream(exchange, reply, set, config, context);
    case "bytes":
      return guardBytes(exchange, reply, options, config);
    default:
      return reply satisfies never;
  }
}

/** Members of a reply that the gateway or the protocol sets. */
const OWN_MEMBERS = new Set([
  "id",
  "object",
  "created",
  "model",
  "usage",
  "system_fingerprint",
  "service_tier",
]);

function isReplyText({ path }: BodyText, operation: Operation): boolean {
  // An image reply holds a revised prompt; its address is not a text.
  if (operation === "images") return path.at(-1) === "revised_prompt";
  return !OWN_MEMBERS.has(String(path[0]));
}

async function guardStream(
  exchange: Exchange,
  reply: StreamReply,
  set: GuardrailSet,
  config: ReplyConfig,
  context: GuardedStreamOptions["context"],
): Promise<StreamReply> {
  const { enforced, shadow } = set.split();
  const isObserving = config.stream === "observe";
  const sets =
    config.order === "sequence" && !isObserving
      ? enforced.each()
      : [isObserving ? set.restorers() : enforced];
  const source = config.keepsWhole ? new ReadOn(reply.frames) : undefined;
  let frames: AsyncIterable<Frame> =
    source === undefined ? reply.frames : new BatchedFrames(source);
  for (const [index, one] of (sets.length === 0 ? [set.none()] : sets).entries()) {
    frames = guardFrames(
      frames,
      {
        dialect: chatStream,
        set: one,
        observers: index > 0 ? set.none() : isObserving ? set.asObservers() : shadow,
        mode: config.stream === "hold" ? "hold" : "window",
        maxHeld: config.max_held,
        context,
        frameOf: chunkFrame,
      },
      (error) => markAttempt(exchange, error),
    );
  }
  if (source === undefined) return { ...reply, frames: await primed(frames, chatStream) };
  try {
    return { ...reply, frames: readAlready(await batchesToTheEnd(batchesOf(frames))) };
  } catch (error) {
    await source.finish(error);
    throw error;
  }
}
