/** Texts that the events of a stream repeat, found again without a copy of what is compared. */

/** A text that has arrived. */
export interface ArrivedText {
  readonly text: string;
  /** The same as bytes, where it is ASCII. Absent: that is not known. */
  readonly bytes?: DataView | undefined;
}

const WORD_BYTES = 8;

/**
 * One repeated text. ASCII is compared eight bytes at a time, as floating-point numbers: of ASCII
 * they are equal where their bytes are, because none is NaN or a negative zero. That takes a third
 * of the time of a part of the text, which is an object of its own.
 */
export class ConstantText {
  readonly length: number;
  readonly isAscii: boolean;
  readonly #buffer: Buffer;
  /** Absent for short texts, and for those that are not ASCII. */
  readonly #bytes: DataView | undefined;
  #flat: string | undefined;

  constructor(text: string) {
    this.length = text.length;
    this.#buffer = Buffer.from(text);
    this.isAscii = this.#buffer.length === text.length;
    if (this.isAscii && text.length >= WORD_BYTES) this.#bytes = viewOf(this.#buffer);
  }

  /** In one piece: a comparison with a part of another text, or with joined ones, is slow. */
  get text(): string {
    this.#flat ??= this.#buffer.toString();
    return this.#flat;
  }

  /** Whether it stands at an offset. */
  isAt({ text, bytes }: ArrivedText, at: number): boolean {
    const own = this.#bytes;
    const end = at + this.length;
    if (bytes === undefined || own === undefined) return text.slice(at, end) === this.text;
    if (end > bytes.byteLength) return false;
    const last = this.length - WORD_BYTES;
    for (let index = 0; index < last; index += WORD_BYTES)
      if (bytes.getFloat64(at + index, true) !== own.getFloat64(index, true)) return false;
    // The last word may overlap the one before.
    return bytes.getFloat64(at + last, true) === own.getFloat64(last, true);
  }
}

/** The bytes of a buffer, for numbers at any place in them. */
export function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
