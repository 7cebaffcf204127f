/** Replies under guard: whole ones, streams of the reference dialect, and native bytes of a known dialect. */

import {
  bodyTexts,
  type BodyOptions,
  type BodyText,
  chatStream,
  guardFrames,
  type GuardedStreamOptions,
  judgeTexts,
  type Panel,
  withTexts,
} from "@sluice/kit/guard";
import { chunkFrame } from "@sluice/kit/openai";
import { type Exchange, type Frame, type Operation, type Reply, type StreamReply } from "@sluice/spec";
import { framesToTheEnd, ReadOn } from "./guardrails-again.ts";
import { guardBytes } from "./guardrails-native.ts";
import { primed, readAlready } from "./guardrails-prime.ts";
import type { ReplyConfig } from "./guardrails-config.ts";
import { markAttempt } from "./guardrails-mark.ts";

/** The reply as the client may see it. Throws what a guardrail decided before anything is written. */
export async function guardReply(exchange: Exchange, panel: Panel, config: ReplyConfig): Promise<Reply | undefined> {
  const { reply } = exchange;
  if (reply === undefined || panel.isEmpty) return reply;
  const context = {
    exchange: exchange.id,
    operation: exchange.operation,
    model: exchange.request?.model ?? "",
    direction: "output",
  } as const;
  const options: BodyOptions = { panel, order: config.order ?? "parallel", context };
  switch (reply.kind) {
    case "whole": {
      // An embeddings reply holds numbers, and no text of anybody's.
      if (exchange.operation === "embeddings") return reply;
      const { texts } = bodyTexts(reply.document.value, exchange.operation);
      const edits = await judgeTexts(
        texts.filter((text) => isReplyText(text, exchange.operation)),
        options,
      );
      return edits.size === 0 ? reply : { ...reply, document: withTexts(reply.document, edits) };
    }
    case "stream":
      return guardStream(exchange, reply, panel, config, context);
    case "bytes":
      return guardBytes(exchange, reply, options, config);
    default:
      return reply satisfies never;
  }
}

/** Members of a reply that the gateway or the protocol wrote. */
const OWN_MEMBERS = new Set(["id", "object", "created", "model", "usage", "system_fingerprint", "service_tier"]);

function isReplyText({ path }: BodyText, operation: Operation): boolean {
  // Of an image there is a prompt that was revised; its address is nobody's text.
  if (operation === "images") return path.at(-1) === "revised_prompt";
  return !OWN_MEMBERS.has(String(path[0]));
}

async function guardStream(
  exchange: Exchange,
  reply: StreamReply,
  panel: Panel,
  config: ReplyConfig,
  context: GuardedStreamOptions["context"],
): Promise<StreamReply> {
  const { enforced, shadow } = panel.split();
  const isObserving = config.stream === "observe";
  const panels = config.order === "sequence" && !isObserving ? enforced.each() : [isObserving ? panel.restorers() : enforced];
  const source = config.keepsWhole ? new ReadOn(reply.frames) : undefined;
  let frames: AsyncIterable<Frame> = source ?? reply.frames;
  for (const [index, one] of (panels.length === 0 ? [panel.none()] : panels).entries()) {
    frames = guardFrames(
      frames,
      {
        dialect: chatStream,
        panel: one,
        observers: index > 0 ? panel.none() : isObserving ? panel.asObservers() : shadow,
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
    const kept = await framesToTheEnd(frames);
    return { ...reply, frames: readAlready(kept) };
  } catch (error) {
    await source.finish(error);
    throw error;
  }
}
