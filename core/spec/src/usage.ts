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
  /** Prompt tokens written to the provider's cache, for however long. */
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that is kept for an hour; the rest is kept for five minutes. */
  readonly cacheWrite1hTokens?: number;
  readonly reasoningTokens?: number;
  /** Audio and image tokens of the prompt, those read from the cache included. */
  readonly audioPromptTokens?: number;
  readonly imagePromptTokens?: number;
  /** The parts of `cachedTokens` that are audio and images. */
  readonly cachedAudioTokens?: number;
  readonly cachedImageTokens?: number;
  readonly audioCompletionTokens?: number;
  readonly imageCompletionTokens?: number;
  /** Images that were made, where they are billed by the piece. */
  readonly images?: ImageUsage;
  /** What the provider bills, where it bills other counts than the model read and wrote: cost is made of these alone. */
  readonly billed?: BilledUsage;
  /** The service tier in the upstream's own word: `default`, `flex`, `priority`, `batch`, … */
  readonly serviceTier?: string;
}

/** Tokens that are billed. */
export interface BilledUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Images of one attempt: all of one size and quality. */
export interface ImageUsage {
  readonly count: number;
  /** `<width>x<height>`; absent or `auto`: the model's default. */
  readonly size?: string;
  /** Absent or `auto`: the model's default. */
  readonly quality?: string;
}

/** Where a usage comes from: the upstream's own word, or our count. */
export type UsageSource = "provider" | "estimated";

/**
 * Prices by kind of token, in pico-dollars per token (1 US dollar per million tokens = 1,000,000), so that every price in
 * use is an integer and a product of tokens and price stays exact. A kind without a price of its own is priced as what it is
 * a part of; see `costBreakdown` of the kit.
 */
export interface Rates {
  /** Absent: prompt tokens have no known price. */
  readonly input?: number;
  /** Absent: completion tokens have no known price; an embedding has none. */
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Written to the cache for an hour. */
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  readonly inputAudio?: number;
  readonly outputAudio?: number;
  readonly cacheReadAudio?: number;
  readonly inputImage?: number;
  readonly outputImage?: number;
  readonly cacheReadImage?: number;
}

/** The price of one model. */
export interface Price extends Rates {
  /** Prices from a prompt length on. The highest tier reached prices the whole request. */
  readonly tiers?: readonly PriceTier[];
  /** Prices by service tier. */
  readonly serviceTiers?: Readonly<Record<string, ServiceTierPrice>>;
  /** Prices by the piece. The first entry's size and quality are the model's defaults. */
  readonly images?: readonly ImagePrice[];
  /** Pico-dollars for each call, whatever it used. */
  readonly request?: number;
  /** The operator says that the model costs nothing. */
  readonly free?: true;
  /** Where the price was read: a file or a package with its version. */
  readonly source: string;
}

/** A price that holds when the prompt has more than `above` tokens. What it does not name stays as it is. */
export interface PriceTier extends Rates {
  readonly above: number;
}

/** Prices of a service tier; what it does not name stays as it is. */
export interface ServiceTierPrice extends Rates {
  /** Its own prices from a prompt length on. */
  readonly tiers?: readonly PriceTier[];
}

/** The price of one image, in pico-dollars. A size or quality that it does not name matches any. */
export interface ImagePrice {
  readonly size?: string;
  readonly quality?: string;
  readonly picoUsd: number;
}

/** Prices by target. */
export interface PriceTable {
  /** The price of a provider's model, `undefined` when unknown. `provider` is the name that `pricedAs` of the kit gives, `model` the upstream's. */
  find(provider: string, model: string): Price | undefined;
}

/** What an exchange cost. */
export type Cost =
  | { readonly status: "priced"; readonly nanoUsd: number }
  | { readonly status: "free"; readonly nanoUsd: 0 }
  | { readonly status: "unpriced"; readonly nanoUsd: undefined };
