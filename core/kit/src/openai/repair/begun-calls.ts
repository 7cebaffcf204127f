/**
 * The calls of a choice that have begun, by their indexes. An upstream may send any number as an
 * index.
 */
export class BegunCalls {
  readonly #ids = new Map<number, string>();
  #last: number | undefined;

  /** Whether there is no call. */
  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** The largest index; 0 without a call. */
  get last(): number {
    return this.#last ?? 0;
  }

  /** An index that no call has. */
  get next(): number {
    return this.#last === undefined ? 0 : Math.max(0, Math.floor(this.#last) + 1);
  }

  /** The id of the call with an index. */
  idOf(index: number): string | undefined {
    return this.#ids.get(index);
  }

  begin(index: number, id: string): void {
    this.#ids.set(index, id);
    this.#last = Math.max(this.#last ?? index, index);
  }
}
