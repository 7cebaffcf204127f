/** Tokens and money. Unknown is `undefined`, never zero. */

/**
 * Tokens of one attempt. `promptTokens` and `completionTokens` are totals; the others are parts of
 * them (prompt = uncached + cache read + cache write, completion ≥ reasoning).
 */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Prompt tokens read from the provider's cache. */
  readonly cachedTokens?: number;
  /** Prompt tokens written to the provider's cache, for any duration. */
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
  /** Uses of tools that the provider runs, where it bills each. */
  readonly toolUses?: ToolUses;
  /**
   * The counts that the provider bills, where they differ from the counts that the model read and
   * wrote. Cost depends on these alone.
   */
  readonly billed?: BilledUsage;
  /** The service tier by the upstream's name: `default`, `flex`, `priority`, `batch`, … */
  readonly serviceTier?: string;
}

/** Billed tokens. */
export interface BilledUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/**
 * Tools that providers run and bill by the use: searches of the web, of stored files and of maps,
 * and containers that run code.
 */
export type HostedTool = "web_search" | "file_search" | "code_interpreter" | "maps";

/** Numbers of uses. An absent tool was not used. */
export type ToolUses = Readonly<Partial<Record<HostedTool, number>>>;

/** Images of one attempt, all of one size and quality. */
export interface ImageUsage {
  readonly count: number;
  /** `<width>x<height>`; absent or `auto`: the model's default. */
  readonly size?: string;
  /** Absent or `auto`: the model's default. */
  readonly quality?: string;
}

/** The source of a usage: the upstream, or the gateway's count. */
export type UsageSource = "provider" | "estimated";

/**
 * Prices by kind of token, in pico-dollars per token (1 US dollar per million tokens = 1,000,000),
 * so that every price in use is an integer and a product of tokens and price stays exact. A kind
 * without a price has the price of the kind that it is a part of; see `costBreakdown` of the kit.
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
  /**
   * Prices from a minimum prompt length. The highest tier that the prompt reaches prices the whole
   * request.
   */
  readonly tiers?: readonly PriceTier[];
  /** Prices by service tier. */
  readonly serviceTiers?: Readonly<Record<string, ServiceTierPrice>>;
  /** Prices by the piece. The first entry's size and quality are the model's defaults. */
  readonly images?: readonly ImagePrice[];
  /** Pico-dollars for each use of a tool that the provider runs. */
  readonly tools?: Readonly<Partial<Record<HostedTool, number>>>;
  /** Pico-dollars for each call, whatever its usage. */
  readonly request?: number;
  /** Whether the operator declares the model free. */
  readonly free?: true;
  /** The source of the price: a file, or a package with its version. */
  readonly source: string;
}

/** A price for prompts of more than `above` tokens. An absent price stays as it is. */
export interface PriceTier extends Rates {
  readonly above: number;
}

/** Prices of a service tier; an absent price stays as it is. */
export interface ServiceTierPrice extends Rates {
  /** Prices of the tier from a minimum prompt length. */
  readonly tiers?: readonly PriceTier[];
}

/** The price of one image, in pico-dollars. An absent size or quality matches any. */
export interface ImagePrice {
  readonly size?: string;
  readonly quality?: string;
  readonly picoUsd: number;
}

/** Prices by target. */
export interface PriceTable {
  /**
   * The price of a provider's model, `undefined` when unknown. `provider` is the result of
   * `pricedAs` of the kit, `model` the upstream's name.
   */
  find(provider: string, model: string): Price | undefined;
}

/** The cost of an exchange. */
export type Cost =
  | { readonly status: "priced"; readonly nanoUsd: number }
  | { readonly status: "free"; readonly nanoUsd: 0 }
  | { readonly status: "unpriced"; readonly nanoUsd: undefined };

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
