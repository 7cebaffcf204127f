/** Thoughts that wait for their signature, and the bound of what is kept for one stream. */

import { GatewayError } from "@sluice/contract";

/** The maximum characters kept for one stream. */
const MAX_KEPT_CHARACTERS = 8 * 1024 * 1024;

/** A thought and its signature. */
export interface Thought {
  thinking: string;
  signature: string;
}

/** The thoughts of one stream. */
export class KeptThoughts {
  /** The thoughts without an end, by key; absent until the first. */
  #open: Map<string | number, Thought> | undefined;
  #kept = 0;

  /** Adds a part of a thought, or of its signature. */
  add(key: string | number, text: string, signature: string): void {
    this.#open ??= new Map();
    const thought = this.#open.get(key) ?? { thinking: "", signature: "" };
    this.#open.set(key, thought);
    thought.thinking += this.keep(text);
    thought.signature += this.keep(signature);
  }

  /** Ends a thought. Returns it if it was signed. */
  end(key: string | number): Thought | undefined {
    const thought = this.#open?.get(key);
    this.#open?.delete(key);
    return thought === undefined || thought.signature === "" ? undefined : thought;
  }

  /** Counts text that is kept. Throws `upstream_invalid_response` beyond the bound. */
  keep(text: string): string {
    this.#kept += text.length;
    if (this.#kept > MAX_KEPT_CHARACTERS) {
      throw new GatewayError(
        "upstream_invalid_response",
        "A block of the upstream's stream is larger than the gateway accepts.",
      );
    }
    return text;
  }
}
