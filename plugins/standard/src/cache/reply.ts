/** Converts replies to entries, in their original form, and back, in the requested form. */

import { writtenDocument } from "@sluice/kit/internals";
import { wholeAsStream } from "@sluice/runtime/transport";
import type { Attempt, Exchange, GatewayRequest, Reply } from "@sluice/contract";
import { assembleCompletion } from "./assemble.ts";
import type { CacheParts } from "./call.ts";
import {
  documentOfEntry,
  encodeEntry,
  type Entry,
  framesOf,
  headOf,
  streamForEntry,
  streamReply,
  wholeForEntry,
} from "./entry.ts";
import type { FlightResult } from "./single-flight.ts";
import { isUsageFrame } from "./usage-frame.ts";
import { type CacheDirectives, isFit } from "./directives.ts";

/** The reply of an entry in the form of a request; `undefined` when the conversion is uncertain. */
export function replyOf(entry: Entry, { stream, includeUsage }: GatewayRequest): Reply | undefined {
  const { head, payload } = entry;
  if (head.form === "whole") {
    const document = documentOfEntry(entry);
    return stream
      ? wholeAsStream(document.value, includeUsage)
      : { kind: "whole", status: head.status, document };
  }
  if (head.form !== "frames") return undefined;
  const frames = framesOf(payload);
  if (stream) {
    const shown = includeUsage ? frames : frames.filter((frame) => !isUsageFrame(frame));
    return streamReply(shown, entry);
  }
  const completion = assembleCompletion(frames.map((frame) => frame.chunk()));
  return completion === undefined
    ? undefined
    : { kind: "whole", status: 200, document: writtenDocument(completion) };
}

/** Stores the result of a call, if permitted. Called when the exchange is over. */
export function keepReply(
  exchange: Exchange,
  result: FlightResult,
  key: string,
  directives: CacheDirectives,
  { host, options }: CacheParts,
): Promise<void> | undefined {
  if (!mayKeep(exchange, result.attempt, directives)) return undefined;
  const entry = entryOf(result, host.clock.now());
  if (entry === undefined || entry.length > options.maxEntryBytes) return undefined;
  return settled(host.state.cache.set(key, entry, directives.ttlMs, exchange.identity?.keyId));
}

/** Whether a reply is whole, by the requested model, and may be stored. */
export function mayKeep(
  exchange: Exchange,
  attempt: Attempt,
  { stores }: CacheDirectives,
): boolean {
  // A fallback model's reply does not answer the next request.
  const { model } = exchange;
  return (
    stores &&
    isFit(exchange) &&
    attempt.outcome === "success" &&
    (attempt.model ?? model)?.id === model?.id
  );
}

/** Waits only for a promise. */
export function settled(kept: unknown): Promise<void> | undefined {
  return kept instanceof Promise ? kept.then(() => undefined) : undefined;
}

function entryOf(result: FlightResult, storedAtMs: number): Buffer | undefined {
  const { attempt } = result;
  if (result.kind === "stream") {
    const batches = result.buffer.complete;
    if (batches === undefined || batches.length === 0) return undefined;
    const head = headOf(attempt, { form: "frames", storedAtMs, status: 200 });
    return encodeEntry(head, streamForEntry(batches));
  }
  const { status, document } = result.reply;
  if (status !== 200) return undefined;
  return encodeEntry(
    headOf(attempt, { form: "whole", storedAtMs, status }),
    wholeForEntry(document),
  );
}
