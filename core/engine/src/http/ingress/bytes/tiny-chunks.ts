/**
 * The minimum size of a body's chunks. A chunk costs about a microsecond, and one read of the
 * socket holds 11,000 chunks of one byte.
 */

import type { IncomingMessage, RequestListener } from "node:http";

/** The chunks of a body before the check begins, and their minimum average size. */
export const MAX_TINY_CHUNKS = 4_096;
export const MIN_CHUNK_BYTES = 16;
/** A body whose chunks are smaller than this on average is read in turn with all others. */
const SMALL_CHUNK_BYTES = 256;

/** The chunks of one body. */
export class ChunkWatch {
  #chunks = 0;
  #bytes = 0;
  #onTiny: (() => void) | undefined;
  #isTiny = false;

  /** Whether a read of the socket is much work. */
  get areSmall(): boolean {
    return this.#bytes < this.#chunks * SMALL_CHUNK_BYTES;
  }

  /** Counts a chunk. Returns whether the body may go on. */
  count(bytes: number): boolean {
    if (this.#isTiny) return false;
    this.#chunks += 1;
    this.#bytes += bytes;
    if (this.#chunks <= MAX_TINY_CHUNKS || this.#bytes >= this.#chunks * MIN_CHUNK_BYTES)
      return true;
    this.#isTiny = true;
    this.#onTiny?.();
    return false;
  }

  /** Calls `refuse` when the chunks are too small; immediately, if they were before. */
  whenTiny(refuse: () => void): void {
    if (this.#isTiny) refuse();
    else this.#onTiny = refuse;
  }
}

const watches = new WeakMap<IncomingMessage, ChunkWatch>();

/**
 * A handler of requests that counts their chunks from the first one on, also of bodies that are not
 * read.
 */
export function withWatchedChunks(handler: RequestListener): RequestListener {
  return (request, response) => {
    watchChunks(request);
    return handler(request, response);
  };
}

/**
 * The watch over a body that comes in chunks, from the first call on; `undefined` for any other
 * body. It runs before the request's buffer: data after the last permitted chunk is dropped, and
 * the socket is not read further.
 */
export function watchChunks(request: IncomingMessage): ChunkWatch | undefined {
  if (request.headers["transfer-encoding"] === undefined) return undefined;
  const known = watches.get(request);
  if (known !== undefined) return known;
  const watch = new ChunkWatch();
  watches.set(request, watch);
  const push = request.push.bind(request);
  // Node's parser hands each chunk to `push` and stops reading the socket when that returns false.
  request.push = (chunk: Uint8Array | null, encoding?: BufferEncoding): boolean => {
    if (chunk === null) return push(null);
    return watch.count(chunk.length) && push(chunk, encoding);
  };
  return watch;
}
