/** Bodies in chunks: how small these may be. Each costs about a microsecond of the thread, and a read of the socket holds 11,000 of one byte. */

import type { IncomingMessage, RequestListener } from "node:http";

/** Chunks from which on their size matters, and what they must have on average. */
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
    if (this.#chunks <= MAX_TINY_CHUNKS || this.#bytes >= this.#chunks * MIN_CHUNK_BYTES) return true;
    this.#isTiny = true;
    this.#onTiny?.();
    return false;
  }

  /** Calls `refuse` when the chunks are too small; now, if they have been. */
  whenTiny(refuse: () => void): void {
    if (this.#isTiny) refuse();
    else this.#onTiny = refuse;
  }
}

const watches = new WeakMap<IncomingMessage, ChunkWatch>();

/** A handler of requests whose chunks are counted from the first one on, whether or not it reads them. */
export function withWatchedChunks(handler: RequestListener): RequestListener {
  return (request, response) => {
    watchChunks(request);
    return handler(request, response);
  };
}

/**
 * The watch over a body that comes in chunks, from the first call on; `undefined` for any other body. It stands before the request's
 * buffer: what comes after the chunk that was one too many is dropped, and the socket is not read on.
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
