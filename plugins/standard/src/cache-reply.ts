/** Replies in and out of entries: kept as they came, given as they are asked for. */

import { writtenDocument } from "@sluice/kit";
import { wholeAsStream } from "@sluice/kit/transport";
import type { Attempt, Exchange, GatewayRequest, Reply } from "@sluice/spec";
import { assembleCompletion } from "./cache-assemble.ts";
import type { CacheParts } from "./cache-call.ts";
import { documentOfPayload, encodeEntry, type Entry, framesOf, framesPayload, headOf, streamReply } from "./cache-entry.ts";
import type { Landing } from "./cache-flight.ts";
import { isUsageFrame } from "./cache-tape.ts";
import { type CacheWish, isFit } from "./cache-wish.ts";

/** The reply of an entry in the form of a request; `undefined` when it cannot be given in that form without doubt. */
export function replyOf({ head, payload }: Entry, { stream, includeUsage }: GatewayRequest): Reply | undefined {
  if (head.form === "whole") {
    const document = documentOfPayload(payload);
    return stream ? wholeAsStream(document.value, includeUsage) : { kind: "whole", status: head.status, document };
  }
  if (head.form !== "frames") return undefined;
  const frames = framesOf(payload);
  if (stream) return streamReply(includeUsage ? frames : frames.filter((frame) => !isUsageFrame(frame)));
  const completion = assembleCompletion(frames.map((frame) => frame.chunk()));
  return completion === undefined ? undefined : { kind: "whole", status: 200, document: writtenDocument(completion) };
}

/** Keeps what a call came to, if it may be kept. Called when the exchange is over. */
export function keepReply(
  exchange: Exchange,
  landing: Landing,
  key: string,
  wish: CacheWish,
  { host, options }: CacheParts,
): Promise<void> | undefined {
  if (!mayKeep(exchange, landing.attempt, wish)) return undefined;
  const entry = entryOf(landing, host.clock.now());
  if (entry === undefined || entry.length > options.maxEntryBytes) return undefined;
  return settled(host.state.cache.set(key, entry, wish.ttlMs, exchange.identity?.keyId));
}

/** Whether a reply is whole, by the model that was asked for, and nobody's objection stands against it. */
export function mayKeep(exchange: Exchange, attempt: Attempt, { stores }: CacheWish): boolean {
  // A stand-in's reply is not what the next request asks for.
  const { model } = exchange;
  return stores && isFit(exchange) && attempt.outcome === "success" && (attempt.model ?? model)?.id === model?.id;
}

/** Waits only where there is something to wait for. */
export function settled(kept: unknown): Promise<void> | undefined {
  return kept instanceof Promise ? kept.then(() => undefined) : undefined;
}

function entryOf(landing: Landing, storedAtMs: number): Buffer | undefined {
  const { attempt } = landing;
  if (landing.kind === "stream") {
    const frames = landing.tape.complete;
    if (frames === undefined || frames.length === 0) return undefined;
    return encodeEntry(headOf(attempt, { form: "frames", storedAtMs, status: 200 }), [framesPayload(frames)]);
  }
  const { status, document } = landing.reply;
  if (status !== 200) return undefined;
  const payload = document.pieces ?? [document.bytes];
  return encodeEntry(headOf(attempt, { form: "whole", storedAtMs, status }), payload);
}
