/** Entries of the cache and of idempotency records: a header line, then the reply's own bytes. */

import { bytesDocument } from "@sluice/kit/internals";
import { isObject } from "@sluice/kit";
import { openAttempt } from "@sluice/runtime";
import { arrivedFrames, type FrameBatch, rawFrame } from "@sluice/kit/internals";
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
}

/** A decoded entry. */
export interface Entry {
  readonly head: EntryHead;
  readonly payload: Uint8Array;
}

const LINE_FEED = 10;

/** The head of an entry that came from an attempt. */
export function headOf(
  attempt: Attempt,
  parts: Pick<EntryHead, "form" | "storedAtMs" | "status" | "headers">,
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
export function encodeEntry(head: EntryHead, payload: readonly (Uint8Array | string)[]): Buffer {
  const pieces = [`${JSON.stringify(head)}\n`, ...payload];
  let length = 0;
  for (const piece of pieces)
    length += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
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

/** Decodes an entry; `undefined` for other bytes, for example of another version. */
export function decodeEntry(bytes: Uint8Array): Entry | undefined {
  const end = bytes.indexOf(LINE_FEED);
  if (end < 0) return undefined;
  try {
    const head: unknown = JSON.parse(textOf(bytes.subarray(0, end)));
    if (!isObject(head) || head.version !== 1) return undefined;
    return { head: head as unknown as EntryHead, payload: bytes.subarray(end + 1) };
  } catch {
    return undefined;
  }
}

/**
 * The payload of frames. A text with a line feed is serialised again, so that none of them holds
 * one.
 */
export function framesPayload(batches: readonly FrameBatch[]): string {
  return batches.flatMap(({ frames }) => frames.map(lineOf)).join("\n");
}

/** The frames of a payload. */
export function framesOf(payload: Uint8Array): Frame[] {
  return textOf(payload).split("\n").map(rawFrame);
}

/** The document of a payload, its bytes as they are. */
export function documentOfPayload(payload: Uint8Array): JsonDocument {
  return bytesDocument(payload);
}

/** A reply that gives these frames. */
export function streamReply(frames: readonly Frame[]): Reply {
  return { kind: "stream", status: 200, frames: arrivedFrames(frames) };
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
