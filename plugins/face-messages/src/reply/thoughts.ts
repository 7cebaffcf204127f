/** The thoughts among the blocks of a reply. */

/** What is known of one. */
interface Thought {
  readonly text: string;
  readonly isClosed: boolean;
  readonly isSigned: boolean;
}

/** Thoughts in the order of their beginnings. Each is looked at once after it was closed. */
export class Thoughts<Block extends Thought> {
  /** Open ones, and closed ones before them. */
  readonly #open: Block[] = [];
  readonly #unsigned = new Set<string>();

  begin(block: Block): void {
    this.#open.push(block);
  }

  /** The last open thought. */
  get open(): Block | undefined {
    for (;;) {
      const last = this.#open.at(-1);
      if (last?.isClosed !== true) return last;
      this.#open.pop();
      if (!last.isSigned) this.#unsigned.add(last.text);
    }
  }

  /** Whether a thought without a signature has this text. All are closed when none is open. */
  hasUnsigned(text: string): boolean {
    return this.open === undefined && this.#unsigned.has(text);
  }
}
