/** Tokens of texts: what a prompt or a reply would be billed at where nobody says. */

/** A number of tokens, and whether it was counted. */
export interface TokenCount {
  readonly tokens: number;
  /** `false` for an estimate: a fourth of the bytes, or a part that cannot be counted. */
  readonly exact: boolean;
}

/** How long an answer may take. */
export interface CountOptions {
  /** After this many milliseconds the answer is an estimate. Without it the counter's own deadline holds. */
  readonly maxWaitMs?: number;
}

/**
 * Counts the tokens of the encoding `o200k_base`. Text that looks like a special token is text. Never rejects: what cannot
 * be counted in time is estimated. A short text is answered at once, a long one by a worker thread.
 */
export interface TokenCounter {
  /** The tokens of a text, or of several: those of each, added up. */
  count(text: string | readonly string[], options?: CountOptions): TokenCount | Promise<TokenCount>;
}
