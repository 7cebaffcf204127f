/** Events of responses in the background, stored in compressed chunks with numbers. */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { MaybePromise } from "@sluice/contract";
import { type ResponseStore, type StoreLimits, type StoreResult, textOf } from "../store.ts";

/** What comes behind a chunk: more chunks, nothing, or events that were not stored. */
export type ChunkEnd = "more" | "end" | "lost";

/** A stored chunk: whole events. */
export interface EventChunk {
  readonly text: string;
  readonly end: ChunkEnd;
}

/** The first byte of a chunk. */
const ENDS: readonly ChunkEnd[] = ["more", "end", "lost"];
/** A chunk is larger only where a single write is. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;
/** Deltas repeat themselves: the fastest level leaves a tenth of them. */
const FASTEST = { level: 1 };

/** The bytes of a chunk. */
export function bytesOfChunk({ text, end }: EventChunk): Uint8Array {
  const head = Uint8Array.of(ENDS.indexOf(end));
  return Buffer.concat([head, deflateRawSync(Buffer.from(text), FASTEST)]);
}

/** Stores the bytes of a chunk. Never throws or rejects. */
export function keepChunk(
  store: ResponseStore,
  keyId: string,
  responseId: string,
  index: number,
  bytes: Uint8Array,
  limits: StoreLimits,
): MaybePromise<StoreResult> {
  return store.keepBytes(keyId, nameOf(responseId, index), bytes, limits);
}

/** A chunk; `undefined` where it is not stored. Rejects with `overloaded` if reading fails. */
export async function findChunk(
  store: ResponseStore,
  keyId: string,
  responseId: string,
  index: number,
): Promise<EventChunk | undefined> {
  const bytes = await store.findBytes(keyId, nameOf(responseId, index));
  const end = ENDS[bytes?.[0] ?? -1];
  if (bytes === undefined || end === undefined) return undefined;
  const inflated = inflateRawSync(bytes.subarray(1), { maxOutputLength: MAX_TEXT_BYTES });
  return { text: textOf(inflated), end };
}

/** Deletes the chunks of a response. */
export async function deleteChunks(
  store: ResponseStore,
  keyId: string,
  responseId: string,
): Promise<void> {
  for (let index = 0; ; index += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the number of chunks is not known.
    const bytes = await store.findBytes(keyId, nameOf(responseId, index));
    if (bytes === undefined) return;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await store.delete(keyId, nameOf(responseId, index));
  }
}

/** No id of a response has a point: no client reads a chunk as a response. */
function nameOf(responseId: string, index: number): string {
  return `${responseId}.${index}`;
}
