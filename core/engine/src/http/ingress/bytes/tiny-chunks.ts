/**
 * The minimum size of a body's chunks, and the small chunks of one read in few pieces. Node's
 * parser takes about half a microsecond for each chunk, and one read of the socket holds 11,000
 * chunks of one byte.
 */

import type { IncomingMessage, RequestListener } from "node:http";

/** The chunks of a body before the check begins, and their minimum average size. */
export const MAX_TINY_CHUNKS = 4_096;
export const MIN_CHUNK_BYTES = 16;
/** A body whose chunks are smaller than this on average is read in turn with all others. */
const SMALL_CHUNK_BYTES = 256;
/** Smaller chunks of one read are joined, up to this many bytes. */
const JOINED_BYTES = 16_384;

/** The chunks of one body. */
export class ChunkWatch {
  #chunks = 0;
  #askedChunks = 0;
  #bytes = 0;
  #onTiny: (() => void) | undefined;
  #isTiny = false;

  /** Whether a read of the socket is much work. */
  get areSmall(): boolean {
    return this.#bytes < this.#chunks * SMALL_CHUNK_BYTES;
  }

  /** The chunks since this was asked last. */
  newChunks(): number {
    const count = this.#chunks - this.#askedChunks;
    this.#askedChunks = this.#chunks;
    return count;
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
  const joined = new JoinedChunks(request.push.bind(request));
  // Node's parser hands each chunk to `push` and stops reading the socket when that returns false.
  request.push = (chunk: Uint8Array | null): boolean => {
    if (chunk === null) return joined.end();
    return watch.count(chunk.length) && joined.add(chunk);
  };
  return watch;
}

/** The small chunks of one read. What remains of them is handed on when the read is over. */
class JoinedChunks {
  readonly #push: (chunk: Uint8Array | null) => boolean;
  /** A chunk that no other one has followed. */
  #only: Uint8Array | undefined;
  #block: Buffer | undefined;
  #used = 0;
  #isDue = false;

  constructor(push: (chunk: Uint8Array | null) => boolean) {
    this.#push = push;
  }

  /** Returns false where no more is to be read for now. */
  add(chunk: Uint8Array): boolean {
    if (this.#used + chunk.length > JOINED_BYTES) this.#handOn();
    if (chunk.length > JOINED_BYTES) return this.#push(chunk);
    if (this.#used === 0) {
      this.#only = chunk;
    } else {
      const block = (this.#block ??= Buffer.allocUnsafeSlow(JOINED_BYTES));
      if (this.#only !== undefined) block.set(this.#only);
      this.#only = undefined;
      block.set(chunk, this.#used);
    }
    this.#used += chunk.length;
    if (this.#used >= JOINED_BYTES) return this.#handOn();
    if (!this.#isDue) {
      this.#isDue = true;
      // Node's queues run behind each chunk.
      setImmediate(this.#whenRead);
    }
    return true;
  }

  end(): boolean {
    this.#handOn();
    return this.#push(null);
  }

  readonly #whenRead = (): void => {
    this.#isDue = false;
    this.#handOn();
  };

  /** Back-pressure that shows here is seen with the next chunk. */
  #handOn(): boolean {
    const piece = this.#only ?? this.#block?.subarray(0, this.#used);
    if (this.#used === 0 || piece === undefined) return true;
    this.#only = undefined;
    this.#block = undefined;
    this.#used = 0;
    return this.#push(piece);
  }
}
