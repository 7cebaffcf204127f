/** The kept bytes of one JSON object, within a bound. */

/** Maximum kept bytes of one object: a larger one is skipped. */
const MAX_OBJECT_BYTES = 4 * 1024 * 1024;

const SPACE = 0x20;

/** Keeps the bytes of one object after the other in one growing buffer. */
export class KeptObject {
  #bytes = Buffer.allocUnsafe(1_024);
  #length = 0;
  /**
   * The length up to which a byte is written directly: the buffer's, or 0 while the object is
   * skipped.
   */
  #roomBytes = 1_024;
  #isSkipped = false;

  /** Keeps a byte. An object beyond the bound is skipped. */
  keep(byte: number): void {
    if (this.#length < this.#roomBytes) this.#bytes[this.#length++] = byte;
    else if (!this.#isSkipped) this.#keepFurther(byte);
  }

  /** Drops the object: its further bytes are not kept, and it has no text. */
  skip(): void {
    this.#isSkipped = true;
    this.#roomBytes = 0;
  }

  /** Begins the next object. */
  clear(): void {
    this.#length = 0;
    this.#roomBytes = this.#bytes.length;
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

  #keepFurther(byte: number): void {
    if (this.#length >= MAX_OBJECT_BYTES) {
      this.skip();
      return;
    }
    const larger = Buffer.allocUnsafe(this.#length * 4);
    this.#bytes.copy(larger);
    this.#bytes = larger;
    this.#roomBytes = larger.length;
    larger[this.#length++] = byte;
  }
}
