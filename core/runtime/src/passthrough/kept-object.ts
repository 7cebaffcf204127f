/** The kept bytes of one JSON object, within a bound. */

/** Maximum kept bytes of one object: a larger one is skipped. */
const MAX_OBJECT_BYTES = 4 * 1024 * 1024;

const SPACE = 0x20;

/** Keeps the bytes of one object after the other in one growing buffer. */
export class KeptObject {
  #bytes = Buffer.allocUnsafe(1_024);
  #length = 0;
  #isSkipped = false;

  /** Keeps a byte. An object beyond the bound is skipped. */
  keep(byte: number): void {
    if (this.#isSkipped) return;
    if (this.#length === this.#bytes.length && !this.#grow()) return;
    this.#bytes[this.#length++] = byte;
  }

  /** Drops the object: its further bytes are not kept, and it has no text. */
  skip(): void {
    this.#isSkipped = true;
  }

  /** Begins the next object. */
  clear(): void {
    this.#length = 0;
    this.#isSkipped = false;
  }

  /** Whether one of the last `count` bytes is a space. */
  hasSpace(count: number): boolean {
    return this.#bytes.subarray(this.#length - count, this.#length).includes(SPACE);
  }

  /** The text of the object; `undefined` when it was skipped. */
  text(): string | undefined {
    return this.#isSkipped ? undefined : this.#bytes.toString("utf8", 0, this.#length);
  }

  #grow(): boolean {
    if (this.#length >= MAX_OBJECT_BYTES) {
      this.#isSkipped = true;
      return false;
    }
    const larger = Buffer.allocUnsafe(this.#length * 4);
    this.#bytes.copy(larger);
    this.#bytes = larger;
    return true;
  }
}
