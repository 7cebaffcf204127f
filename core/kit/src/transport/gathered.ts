/** Bytes gathered as they come: what they cost in memory follows their number, whatever the size of the chunks they came in. */

/** A chunk of at least this many bytes is kept as it is, where it fills at least half of the memory that it keeps alive. */
const LARGE_BYTES = 16_384;
/** Smaller chunks are copied into blocks of these sizes. */
const FIRST_BLOCK_BYTES = 4_096;
const MAX_BLOCK_BYTES = 65_536;

/** Gathers chunks into few pieces. A body whose length is known goes into one block of that length. */
export class Gathered {
  readonly #pieces: Uint8Array[] = [];
  /** The first chunk, while it is the only one. */
  #first: Uint8Array | undefined;
  #block: Buffer | undefined;
  #used = 0;
  #nextBytes = FIRST_BLOCK_BYTES;
  #length = 0;
  readonly #expectedBytes: number;

  /** `expectedBytes`: how long the body says that it is. It must have been checked against a bound. */
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
      if (this.#expectedBytes > first.length) this.#block = Buffer.allocUnsafeSlow(this.#expectedBytes);
      this.#add(first);
    }
    this.#add(chunk);
  }

  /** All bytes in one piece. Nothing is pushed afterwards. */
  take(): Uint8Array {
    if (this.#first !== undefined) return this.#first;
    this.#seal();
    const [piece] = this.#pieces;
    return this.#pieces.length === 1 && piece !== undefined ? piece : Buffer.concat(this.#pieces, this.#length);
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

  /** What the block holds becomes a piece; what is left of it goes on as the block. */
  #seal(): void {
    const block = this.#block;
    if (block === undefined) return;
    if (this.#used > 0) this.#pieces.push(block.subarray(0, this.#used));
    this.#block = this.#used < block.length ? block.subarray(this.#used) : undefined;
    this.#used = 0;
  }
}
