/** Verdicts that are remembered within the process: by a hash of the text, never the text. */

import { createHash } from "node:crypto";

/** A memory of so many verdicts. The one that was not asked for the longest goes first. */
export class VerdictMemory {
  readonly #most: number;
  readonly #verdicts = new Map<string, string | undefined>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The key of a text. */
  static keyOf(text: string): string {
    return createHash("sha256").update(text).digest("base64");
  }

  /** The verdict in a box; `undefined` for a text that is not remembered. */
  find(key: string): { readonly reason: string | undefined } | undefined {
    if (!this.#verdicts.has(key)) return undefined;
    const reason = this.#verdicts.get(key);
    this.#verdicts.delete(key);
    this.#verdicts.set(key, reason);
    return { reason };
  }

  keep(key: string, reason: string | undefined): void {
    if (this.#most === 0) return;
    if (this.#verdicts.size >= this.#most) {
      const [oldest] = this.#verdicts.keys();
      if (oldest !== undefined) this.#verdicts.delete(oldest);
    }
    this.#verdicts.set(key, reason);
  }
}
