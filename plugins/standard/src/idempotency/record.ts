/** Stored results for repeats: the client's reply, byte for byte. */

import { closing, openAttempt, SERVED } from "@sluice/runtime";
import type { Attempt, BytesReply, Clock, Exchange, Frame, Reply, StreamReply } from "@sluice/contract";
import {
  decodeEntry,
  documentOfPayload,
  encodeEntry,
  type EntryHead,
  framesOf,
  framesPayload,
  headOf,
  streamReply,
} from "../cache/entry.ts";
import { wholeAttempt } from "../retry/joined-usage.ts";

/** Maximum size of a stored result. The driver may have a lower one. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;
const FRAME_BYTES = 256;

/** A stored result. */
export interface KeptResult {
  readonly head: EntryHead;
  readonly reply: Reply;
}

/** Decodes a result; `undefined` for another version of the format. */
export function replyOfRecord(bytes: Uint8Array): KeptResult | undefined {
  const entry = decodeEntry(bytes);
  if (entry === undefined) return undefined;
  const { head, payload } = entry;
  if (head.form === "frames") return { head, reply: streamReply(framesOf(payload)) };
  if (head.form === "bytes") {
    return { head, reply: { kind: "bytes", status: head.status, headers: head.headers ?? {}, body: once(payload) } };
  }
  return { head, reply: { kind: "whole", status: head.status, document: documentOfPayload(payload) } };
}

/**
 * Records the reply of an exchange. The returned function gives the result after the end of the exchange: `undefined` when it
 * failed or was not sent completely, so that a repeat may try again.
 */
export function recordReply(exchange: Exchange, clock: Clock): () => Uint8Array | undefined {
  const { reply } = exchange;
  const head = (form: EntryHead["form"], status: number, headers?: EntryHead["headers"]): EntryHead =>
    headOf(payer(exchange), { form, status, storedAtMs: clock.now(), ...(headers !== undefined && { headers }) });
  if (reply?.kind === "whole") {
    const { status, document } = reply;
    return () => (isGood(exchange) ? encodeEntry(head("whole", status), document.pieces ?? [document.bytes]) : undefined);
  }
  if (reply?.kind === "stream") {
    const tee = teeOf(reply.frames, ({ raw }) => raw?.length ?? FRAME_BYTES);
    exchange.reply = { ...reply, frames: tee.items } satisfies StreamReply;
    return () => {
      const frames = isGood(exchange) ? tee.complete() : undefined;
      return frames === undefined ? undefined : encodeEntry(head("frames", reply.status), [framesPayload(frames as Frame[])]);
    };
  }
  if (reply?.kind === "bytes") {
    const tee = teeOf(reply.body, ({ length }) => length);
    exchange.reply = { ...reply, body: tee.items } satisfies BytesReply;
    return () => {
      const pieces = isGood(exchange) && reply.status < 300 ? tee.complete() : undefined;
      return pieces === undefined ? undefined : encodeEntry(head("bytes", reply.status, reply.headers), pieces);
    };
  }
  return () => undefined;
}

/** The attempt whose usage a repeat reports. */
function payer(exchange: Exchange): Attempt {
  const { attempts, model } = exchange;
  const last = attempts.findLast(({ outcome }) => outcome === "success");
  const attempt = last === undefined ? SERVED.get(exchange) : wholeAttempt(exchange, last);
  if (attempt !== undefined) return attempt;
  const noTarget = { id: "", provider: "", model: "" };
  const none = openAttempt({ number: 0, target: noTarget, model, provider: "", startedAtMs: 0 });
  none.succeed(0);
  return none;
}

function isGood(exchange: Exchange): boolean {
  const { attempts } = exchange;
  return SERVED.get(exchange)?.outcome === "success" || attempts.some(({ outcome }) => outcome === "success");
}

interface Tee<T> {
  readonly items: AsyncGenerator<T, void, undefined>;
  /** All items, after the last one was read. */
  complete(): readonly T[] | undefined;
}

/** Forwards items and records them, up to a bound. */
function teeOf<T>(source: AsyncIterable<T>, sizeOf: (item: T) => number): Tee<T> {
  let kept: T[] | undefined = [];
  let size = 0;
  let isComplete = false;
  const iterator = source[Symbol.asyncIterator]();
  async function* read(): AsyncGenerator<T, void, undefined> {
    try {
      for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
        size += sizeOf(step.value);
        if (size > MAX_RESULT_BYTES) kept = undefined;
        kept?.push(step.value);
        yield step.value;
      }
      isComplete = true;
    } finally {
      if (!isComplete) await iterator.return?.();
    }
  }
  const items = closing(read(), () => (isComplete ? undefined : iterator.return?.()));
  return { items, complete: () => (isComplete ? kept : undefined) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
