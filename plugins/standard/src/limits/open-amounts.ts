/** Amounts by key. Most limits have the open reservations of one key: it needs no map. */

/** What keys have open of one limit. No amount is below zero. */
export class OpenAmounts {
  #first = "";
  #ofFirst = 0;
  #others: Map<string, number> | undefined;

  get isEmpty(): boolean {
    return this.#ofFirst === 0 && (this.#others?.size ?? 0) === 0;
  }

  of(keyId: string): number {
    return this.#first === keyId ? this.#ofFirst : (this.#others?.get(keyId) ?? 0);
  }

  /** Adds to the amount of a key, or takes from it. */
  add(keyId: string, amount: number): void {
    if (this.#first !== keyId && (this.#ofFirst > 0 || this.#others?.has(keyId) === true)) {
      this.#addOther(keyId, amount);
      return;
    }
    this.#first = keyId;
    this.#ofFirst = Math.max(0, this.#ofFirst + amount);
  }

  #addOther(keyId: string, amount: number): void {
    const others = (this.#others ??= new Map());
    const sum = (others.get(keyId) ?? 0) + amount;
    if (sum > 0) others.set(keyId, sum);
    else others.delete(keyId);
  }
}
