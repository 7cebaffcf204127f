/** A form of a credential as it is sought in bytes: by a byte that replies seldom have. */

/** The common characters of JSON and of texts, the most common one first. */
const COMMON = Buffer.from(
  ' "etaoinsrdlc,:umpfh_g.0123456789{}-[]yw/bvkxjqzETAOISRNLCDPMUBFGHYWVKXJQZ',
);
/** What is sought of a form has at least so many bytes, or is the whole form. */
const MIN_SOUGHT_BYTES = 4;

/** One form of a credential. */
export class SoughtForm {
  readonly bytes: Buffer;
  /** The bytes before the sought ones. */
  readonly #skipped: number;
  /** The form from its rarest byte on: the search stops at each place of the first byte. */
  readonly #sought: Buffer;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
    this.#skipped = rarestIn(this.bytes.subarray(0, 1 - MIN_SOUGHT_BYTES));
    this.#sought = this.bytes.subarray(this.#skipped);
  }

  get length(): number {
    return this.bytes.length;
  }

  /** The offset of the form in bytes, from an offset on; -1 without one. */
  placeIn(bytes: Buffer, from: number): number {
    const skipped = this.#skipped;
    let at = bytes.indexOf(this.#sought, from + skipped);
    while (at >= 0 && bytes.compare(this.bytes, 0, skipped, at - skipped, at) !== 0)
      at = bytes.indexOf(this.#sought, at + 1);
    return at < 0 ? -1 : at - skipped;
  }
}

/** The offset of the rarest byte; 0 for no bytes. */
function rarestIn(bytes: Buffer): number {
  let rarest = 0;
  let most = -1;
  for (const [at, byte] of bytes.entries()) {
    const place = COMMON.indexOf(byte);
    const rank = place < 0 ? COMMON.length : place;
    if (rank > most) {
      most = rank;
      rarest = at;
    }
  }
  return rarest;
}
