/**
 * Gathers bytes as they arrive. Their memory follows their number, whatever the size of the chunks.
 */

/**
 * A chunk of at least this many bytes is kept unchanged if it fills at least half of its underlying
 * memory.
 */
const LARGE_BYTES = 16_384;
/** Smaller chunks are copied into blocks of these sizes. */
const FIRST_BLOCK_BYTES = 4_096;
const MAX_BLOCK_BYTES = 65_536;

/** Gathers chunks into few pieces. A body of known length goes into one block of that length. */
export class Gathered {
  readonly #pieces: Uint8Array[] = [];
  /** The only chunk, before a second one arrives. */
  #first: Uint8Array | undefined;
  #block: Buffer | undefined;
  #used = 0;
  #nextBytes = FIRST_BLOCK_BYTES;
  #length = 0;
  readonly #expectedBytes: number;

  /** `expectedBytes`: the announced length of the body, already checked against a bound. */
  constructor(expectedBytes = 0) {
    this.#expectedBytes = expectedBytes;
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    const isFirst = this.#length === 0;
    this.#length += chunk.length;
    if (isFirst) {
      this.#first = chunk;
      return;
    }
    if (this.#first !== undefined) {
      const first = this.#first;
      this.#first = undefined;
      if (this.#expectedBytes > first.length)
        this.#block = Buffer.allocUnsafeSlow(this.#expectedBytes);
      this.#add(first);
    }
    this.#add(chunk);
  }

  /** All bytes in one piece. The last call on this object. */
  take(): Uint8Array {
    if (this.#first !== undefined) return this.#first;
    this.#seal();
    const [piece] = this.#pieces;
    return this.#pieces.length === 1 && piece !== undefined
      ? piece
      : Buffer.concat(this.#pieces, this.#length);
  }

  #add(chunk: Uint8Array): void {
    const isExpected = this.#block !== undefined && this.#block.length === this.#expectedBytes;
    if (!isExpected && chunk.length >= LARGE_BYTES && chunk.length * 2 >= chunk.buffer.byteLength) {
      this.#seal();
      this.#pieces.push(chunk);
      return;
    }
    let from = 0;
    while (from < chunk.length) {
      if (this.#block === undefined || this.#used === this.#block.length) this.#open();
      const block = this.#block as Buffer;
      const part = chunk.subarray(from, from + block.length - this.#used);
      block.set(part, this.#used);
      this.#used += part.length;
      from += part.length;
    }
  }

  #open(): void {
    this.#seal();
    this.#block = Buffer.allocUnsafeSlow(this.#nextBytes);
    this.#nextBytes = Math.min(MAX_BLOCK_BYTES, this.#nextBytes * 2);
  }

  /** The filled part of the block becomes a piece; the rest remains the block. */
  #seal(): void {
    const block = this.#block;
    if (block === undefined) return;
    if (this.#used > 0) this.#pieces.push(block.subarray(0, this.#used));
    this.#block = this.#used < block.length ? block.subarray(this.#used) : undefined;
    this.#used = 0;
  }
}
