/** Stored results for repeats: the client's reply, byte for byte. */

import {
  bytesFor,
  framesFor,
  openAttempt,
  replayBytes,
  replayFrames,
  SERVED,
} from "@sluice/runtime";
import type { Attempt, BytesReply, Clock, Exchange, Reply, StreamReply } from "@sluice/contract";
import {
  decodeEntry,
  documentOfEntry,
  encodeEntry,
  type EntryHead,
  framesOf,
  headOf,
  streamForEntry,
  streamReply,
  wholeForEntry,
} from "../cache/entry.ts";
import { wholeAttempt } from "../retry/joined-usage.ts";

/** The maximum size of a stored result. The driver may have a lower one. */
const RESULT = { maxBytes: 16 * 1024 * 1024, keepsRead: true } as const;

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
  if (head.form === "frames") return { head, reply: streamReply(framesOf(payload), entry) };
  if (head.form === "bytes") {
    return {
      head,
      reply: {
        kind: "bytes",
        status: head.status,
        headers: head.headers ?? {},
        body: once(payload),
      },
    };
  }
  return {
    head,
    reply: { kind: "whole", status: head.status, document: documentOfEntry(entry) },
  };
}

/**
 * Records the reply of an exchange. The returned function gives the result after the end of the
 * exchange: `undefined` when it failed or was not sent completely, so that a repeat may try again.
 */
export function recordReply(exchange: Exchange, clock: Clock): () => Uint8Array | undefined {
  const { reply } = exchange;
  const head = (
    form: EntryHead["form"],
    status: number,
    headers?: EntryHead["headers"],
  ): EntryHead =>
    headOf(payer(exchange), {
      form,
      status,
      storedAtMs: clock.now(),
      origin: { id: exchange.id, startedAtMs: exchange.lifetime.startedAtMs },
      ...(headers !== undefined && { headers }),
    });
  if (reply?.kind === "whole") {
    const { status, document } = reply;
    return () =>
      isGood(exchange) ? encodeEntry(head("whole", status), wholeForEntry(document)) : undefined;
  }
  if (reply?.kind === "stream") {
    const buffer = replayFrames(reply.frames, RESULT);
    exchange.reply = { ...reply, frames: framesFor(buffer.join()) } satisfies StreamReply;
    return () => {
      const batches = isGood(exchange) ? buffer.complete : undefined;
      return batches === undefined
        ? undefined
        : encodeEntry(head("frames", reply.status), streamForEntry(batches));
    };
  }
  if (reply?.kind === "bytes") {
    const buffer = replayBytes(reply.body, RESULT);
    exchange.reply = { ...reply, body: bytesFor(buffer.join()) } satisfies BytesReply;
    return () => {
      const pieces = isGood(exchange) && reply.status < 300 ? buffer.complete : undefined;
      return pieces === undefined
        ? undefined
        : encodeEntry(head("bytes", reply.status, reply.headers), { payload: pieces });
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
  return (
    SERVED.get(exchange)?.outcome === "success" ||
    attempts.some(({ outcome }) => outcome === "success")
  );
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
