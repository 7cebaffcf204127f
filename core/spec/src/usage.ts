/** Tokens and money. Unknown is `undefined`, never zero. */

/**
 * Tokens of one attempt. `promptTokens` and `completionTokens` are totals; the others are parts of them
 * (prompt = uncached + cache read + cache write, completion ≥ reasoning).
 */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Prompt tokens read from the provider's cache. */
  readonly cachedTokens?: number;
  /** Prompt tokens written to the provider's cache. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly audioPromptTokens?: number;
  readonly audioCompletionTokens?: number;
}

/** Where a usage comes from: the upstream's own word, or our count. */
export type UsageSource = "provider" | "estimated";

/**
 * The price of one model in pico-dollars per token (1 US dollar per million tokens = 1,000,000), so that every price in
 * use is an integer and a product of tokens and price stays exact.
 */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly inputAudio?: number;
  readonly outputAudio?: number;
  readonly cacheReadAudio?: number;
  /** Prices from a prompt length on. The highest tier reached prices the whole request. */
  readonly tiers?: readonly PriceTier[];
  /** Where the price was read: a file or a package with its version. */
  readonly source: string;
}

/** A price that holds when the prompt has more than `above` tokens. */
export interface PriceTier {
  readonly above: number;
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** Prices by target. */
export interface PriceTable {
  /** The price of a provider's model, `undefined` when unknown. `provider` is the plugin's name, `model` the upstream's. */
  find(provider: string, model: string): Price | undefined;
}

/** What an exchange cost. */
export type Cost =
  | { readonly status: "priced"; readonly nanoUsd: number }
  | { readonly status: "free"; readonly nanoUsd: 0 }
  | { readonly status: "unpriced"; readonly nanoUsd: undefined };
