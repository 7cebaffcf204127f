/** Chunks of a response that wait for their reader, and the back-pressure on the upstream. */

/** The part of undici's controller that a body needs. */
export interface FlowControl {
  pause(): void;
  resume(): void;
}

/** The upstream is paused while more unread bytes than this wait, and resumed at the next read. */
const HIGH_WATER_BYTES = 16_384;
/** The limit within one socket read. A pause there would copy the rest repeatedly. */
const MIDDLE_HIGH_WATER_BYTES = 131_072;
/** A chunk with fewer bytes after it in its buffer is the last of its read: the rest is framing. */
const FRAMING_BYTES = 32;
/**
 * Maximum chunks that wait separately. Each is an object and keeps the memory of its read; more are
 * joined.
 */
const MAX_WAITING_CHUNKS = 256;

/** The waiting chunks of one response. */
export class WaitingChunks {
  readonly #flow: FlowControl;
  /** Absent while no chunk waits. */
  #chunks: Uint8Array[] | undefined;
  #bytes = 0;
  #isPaused = false;

  constructor(flow: FlowControl) {
    this.#flow = flow;
  }

  get isEmpty(): boolean {
    return this.#chunks === undefined;
  }

  /** Whether the upstream waits for the reader. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Adds a chunk. Many small chunks are joined, so that memory follows their bytes and not their
   * number.
   */
  push(chunk: Uint8Array): void {
    if (this.#chunks === undefined) this.#chunks = [chunk];
    else if (this.#chunks.push(chunk) > MAX_WAITING_CHUNKS)
      this.#chunks = [Buffer.concat(this.#chunks)];
    this.#bytes += chunk.length;
    const bound = isLastOfRead(chunk) ? HIGH_WATER_BYTES : MIDDLE_HIGH_WATER_BYTES;
    if (this.#bytes <= bound || this.#isPaused) return;
    this.#isPaused = true;
    this.#flow.pause();
  }

  /** The chunks; `undefined` while there are none. */
  take(): readonly Uint8Array[] | undefined {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    this.#bytes = 0;
    return chunks;
  }

  /** Ends a pause. The next chunk may arrive synchronously. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow.resume();
  }
}

/** Whether a chunk is the last of the memory of its socket read. */
function isLastOfRead({ buffer, byteOffset, length }: Uint8Array): boolean {
  return buffer.byteLength - byteOffset - length < FRAMING_BYTES;
}
