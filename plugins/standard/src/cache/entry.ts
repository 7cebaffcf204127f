/** Entries of the cache and of idempotency records: a header line, then the reply's own bytes. */

import {
  arrivedFrames,
  bytesDocument,
  type FrameBatch,
  joinRelayed,
  keepOriginal,
  originalOf,
  rawFrame,
} from "@sluice/kit/internals";
import { isObject, parseJson } from "@sluice/kit";
import { openAttempt, type ReplyOrigin } from "@sluice/runtime";
import type {
  Attempt,
  AttemptWriter,
  Frame,
  JsonDocument,
  Model,
  Reply,
  Usage,
} from "@sluice/contract";

/** The facts about a stored reply besides its bytes. */
export interface EntryHead {
  readonly version: 1;
  /**
   * `frames`: the texts of a stream's events, a line each. `vector`: one vector of an embeddings
   * reply, as JSON.
   */
  readonly form: "whole" | "frames" | "bytes" | "float" | "base64";
  /** Milliseconds since 1970. */
  readonly storedAtMs: number;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The attempt that produced it. */
  readonly targetId: string;
  readonly targetProvider: string;
  readonly targetModel: string;
  readonly provider: string;
  readonly usage?: Usage;
  readonly usageSource?: "provider" | "estimated";
  /** The request that it was made for: ids of a reply in a client's form are made of it. */
  readonly origin?: ReplyOrigin;
  /** The reply in the dialect of the client that got it, which follows the payload. */
  readonly native?: EntryNative;
}

/** Where an entry has the reply in a client's own dialect. */
interface EntryNative {
  readonly dialect: string;
  readonly bytes: number;
  /** Bytes of the end mark, the last ones. */
  readonly endBytes: number;
}

/**
 * A reply for an entry: in the reference dialect, and in that of its client where it is relayed.
 */
export interface EntryReply {
  readonly payload: readonly (Uint8Array | string)[];
  readonly native?: {
    readonly dialect: string;
    readonly body: Uint8Array | string;
    readonly end: string;
  };
}

/** A decoded entry. */
export interface Entry {
  readonly head: EntryHead;
  readonly payload: Uint8Array;
  /** The reply in a client's own dialect, with the end mark of a stream. */
  readonly native?: Uint8Array;
}

const LINE_FEED = 10;

/** The head of an entry that came from an attempt. */
export function headOf(
  attempt: Attempt,
  parts: Pick<EntryHead, "form" | "storedAtMs" | "status" | "headers" | "origin">,
): EntryHead {
  const { target, provider, usage, usageSource } = attempt;
  return {
    version: 1,
    ...parts,
    targetId: target.id,
    targetProvider: target.provider,
    targetModel: target.model,
    provider,
    ...(usage !== undefined && { usage }),
    ...(usageSource !== undefined && { usageSource }),
  };
}

/** The bytes of an entry in their own memory: a holder of them keeps no other memory alive. */
export function encodeEntry(head: EntryHead, { payload, native }: EntryReply): Buffer {
  const own = native === undefined ? [] : [native.body, native.end];
  const endBytes = native === undefined ? 0 : bytesOf([native.end]);
  const place =
    native === undefined
      ? {}
      : { native: { dialect: native.dialect, bytes: bytesOf(own), endBytes } };
  const pieces = [`${JSON.stringify({ ...head, ...place })}\n`, ...payload, ...own];
  const length = bytesOf(pieces);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === "string") {
      at += bytes.write(piece, at);
    } else {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return bytes;
}

function bytesOf(pieces: readonly (Uint8Array | string)[]): number {
  let length = 0;
  for (const piece of pieces)
    length += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
  return length;
}

/** Decodes an entry; `undefined` for other bytes, for example of another version. */
export function decodeEntry(bytes: Uint8Array): Entry | undefined {
  const end = bytes.indexOf(LINE_FEED);
  if (end < 0) return undefined;
  try {
    const head: unknown = parseJson(textOf(bytes.subarray(0, end)));
    if (!isObject(head) || head.version !== 1) return undefined;
    const known = head as unknown as EntryHead;
    const rest = bytes.subarray(end + 1);
    if (known.native === undefined) return { head: known, payload: rest };
    const place = rest.length - known.native.bytes;
    return { head: known, payload: rest.subarray(0, place), native: rest.subarray(place) };
  } catch {
    return undefined;
  }
}

/** A whole reply for an entry. */
export function wholeForEntry(document: JsonDocument): EntryReply {
  const payload = document.pieces ?? [document.bytes];
  const original = originalOf(document);
  if (original === undefined) return { payload };
  return { payload, native: { dialect: original.dialect, body: original.document.bytes, end: "" } };
}

/**
 * A stream for an entry. A frame's text with a line feed is serialised again, so that none of them
 * holds one.
 */
export function streamForEntry(batches: readonly FrameBatch[]): EntryReply {
  const payload = [batches.flatMap(({ frames }) => frames.map(lineOf)).join("\n")];
  const relayed = joinRelayed(batches);
  if (relayed === undefined) return { payload };
  const { dialect, text, end } = relayed;
  return { payload, native: { dialect, body: text, end } };
}

/** The frames of a payload. */
export function framesOf(payload: Uint8Array): Frame[] {
  return textOf(payload).split("\n").map(rawFrame);
}

/** The document of an entry with a whole reply, its bytes as they are. */
export function documentOfEntry({ head, payload, native }: Entry): JsonDocument {
  const document = bytesDocument(payload);
  if (head.native !== undefined && native !== undefined)
    keepOriginal(document, { dialect: head.native.dialect, document: bytesDocument(native) });
  return document;
}

/** A reply that gives these frames of an entry. */
export function streamReply(frames: readonly Frame[], { head, native }: Entry): Reply {
  return { kind: "stream", status: 200, frames: arrivedFrames(frames, relayedOf(head, native)) };
}

function relayedOf({ native: place }: EntryHead, native: Uint8Array | undefined) {
  if (place === undefined || native === undefined) return undefined;
  const end = native.length - place.endBytes;
  return {
    dialect: place.dialect,
    text: textOf(native.subarray(0, end)),
    end: textOf(native.subarray(end)),
    isAscii: false,
  };
}

/** The record of a reply that was served from an entry. */
export function servedFrom(
  { head }: Pick<Entry, "head">,
  model: Model | undefined,
  startedAtMs: number,
  nowMs: number,
): AttemptWriter {
  const target = { id: head.targetId, provider: head.targetProvider, model: head.targetModel };
  const attempt = openAttempt({ number: 0, target, model, provider: head.provider, startedAtMs });
  attempt.firstContent(nowMs);
  if (head.usage !== undefined) attempt.report(head.usage, head.usageSource);
  attempt.succeed(nowMs);
  return attempt;
}

function lineOf(frame: Frame): string {
  const { raw } = frame;
  return raw === undefined || raw.includes("\n") ? JSON.stringify(frame.chunk()) : raw;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
