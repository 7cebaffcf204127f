/** Looks again and again: at most one look at a time, and a pause after each. */

/** Repeats a look until it is closed. */
export class LookLoop {
  readonly #look: () => Promise<void>;
  readonly #everyMs: number;
  readonly #onError: (error: unknown) => void;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(look: () => Promise<void>, everyMs: number, onError: (error: unknown) => void) {
    this.#look = look;
    this.#everyMs = everyMs;
    this.#onError = onError;
  }

  begin(): void {
    this.#isOpen = true;
    void this.now();
  }

  /** Looks after the look that is under way. Never rejects. */
  now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking = this.#looking
      .then(this.#look)
      .catch(this.#onError)
      .finally(() => {
        clearTimeout(this.#timer);
        if (this.#isOpen) this.#timer = setTimeout(() => void this.now(), this.#everyMs).unref();
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#looking;
  }
}
