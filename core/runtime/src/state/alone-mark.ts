/** The mark of a gateway that decides alone: it outlives a kill. */

/** Where it is noted that this gateway decides alone. No method throws. */
export interface AloneMark {
  /** Whether an earlier process has left the mark: it was killed while it decided alone. */
  readonly wasLeft: boolean;
  set(): void;
  clear(): void;
}

/** A mark that is nowhere: no earlier process is known. */
export const NO_MARK: AloneMark = Object.freeze({
  wasLeft: false,
  set: () => undefined,
  clear: () => undefined,
});

/** Sets the mark while this gateway decides alone, and until the server knows all of it. */
export class AloneTime {
  readonly #mark: AloneMark;
  #isFlushed = true;
  #hasReported = false;

  constructor(mark: AloneMark) {
    this.#mark = mark;
  }

  /** This gateway decides alone. */
  begin(): void {
    this.#isFlushed = false;
    this.#mark.set();
  }

  /** The server has all settlements. */
  flushed(): void {
    this.#isFlushed = true;
    this.#clear();
  }

  /** The other gateways know of this one, and of its earlier process. */
  reported(): void {
    this.#hasReported = true;
    this.#clear();
  }

  #clear(): void {
    if (this.#isFlushed && this.#hasReported) this.#mark.clear();
  }
}
