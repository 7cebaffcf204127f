/** Tokens of texts: the billed size of a prompt or a reply without a reported usage. */

/** A number of tokens, and whether it was counted. */
export interface TokenCount {
  readonly tokens: number;
  /**
   * `false` for an estimate: a quarter of the bytes, or the total of a text with an uncountable
   * part.
   */
  readonly exact: boolean;
}

/** The deadline of a count. */
export interface CountOptions {
  /** After this many milliseconds the result is an estimate. Absent: the counter's own deadline. */
  readonly maxWaitMs?: number;
}

/**
 * Counts the tokens of the encoding `o200k_base`. Text that looks like a special token is text.
 * Never rejects: a text that cannot be counted in time is estimated. A short text is counted
 * synchronously, a long one in a worker thread.
 */
export interface TokenCounter {
  /** The tokens of a text, or the sum of several texts. */
  count(text: string | readonly string[], options?: CountOptions): TokenCount | Promise<TokenCount>;
}
