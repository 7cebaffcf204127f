/** The charges of a usage: one line for each kind of token, with its effective price. */

import type {
  HostedTool,
  ImagePrice,
  ImageUsage,
  Price,
  PriceTier,
  Rates,
  Usage,
} from "@sluice/contract";

/**
 * The kinds of token, in the words of prices.yaml. For `images` a token is an image, for `request`
 * a call, for a tool a use.
 */
export type TokenKind =
  | HostedTool
  | "input"
  | "cache_read"
  | "cache_write"
  | "cache_write_1h"
  | "input_audio"
  | "cache_read_audio"
  | "input_image"
  | "cache_read_image"
  | "output"
  | "reasoning"
  | "output_audio"
  | "output_image"
  | "images"
  | "request";

const NONE = Object.freeze({});

/** One line: a number of tokens of a kind at a price. */
export interface Charge {
  readonly kind: TokenKind;
  readonly tokens: number;
  readonly picoUsdPerToken: number;
}

/**
 * The lines of a usage at these rates, without zero lines. Returns `undefined` when a used kind has
 * no known price. A part without a price of its own has the price of its whole: cached and written
 * tokens, audio and images of the prompt as `input`, reasoning, audio and images of the completion
 * as `output`. Two exceptions exist, because there the whole is cheaper than the part. Tokens
 * written for an hour are not priced as those written for five minutes. Cached audio and images are
 * not priced as cached text.
 */
export function chargesOf(
  usage: Usage,
  rates: Rates,
  price: Pick<Price, "images" | "request" | "tools">,
): Charge[] | undefined {
  const lines = new Lines();
  addPrompt(lines, usage, rates);
  addCompletion(lines, usage, rates);
  addImages(lines, usage, price.images);
  for (const [tool, uses] of Object.entries(usage.toolUses ?? NONE) as [HostedTool, number][]) {
    lines.add(tool, uses, price.tools?.[tool]);
  }
  if (price.request !== undefined) lines.add("request", 1, price.request);
  return lines.isPriced ? lines.charges : undefined;
}

/** The highest tier that a prompt reaches. */
export function reachedTier(
  tiers: readonly PriceTier[] | undefined,
  promptTokens: number,
): PriceTier | undefined {
  let reached: PriceTier | undefined;
  for (const tier of tiers ?? []) {
    if (promptTokens > tier.above && (reached === undefined || tier.above > reached.above))
      reached = tier;
  }
  return reached;
}

function addPrompt(lines: Lines, usage: Usage, rates: Rates): void {
  const {
    input,
    cacheRead = input,
    cacheWrite = input,
    inputAudio = input,
    inputImage = input,
  } = rates;
  const cacheWrite1h = rates.cacheWrite1h ?? (rates.cacheWrite === undefined ? input : undefined);
  const cacheReadAudio = rates.cacheReadAudio ?? rates.inputAudio ?? cacheRead;
  const cacheReadImage = rates.cacheReadImage ?? rates.inputImage ?? cacheRead;
  // Parts that exceed their whole are cut, so that no token counts twice.
  const prompt = new Remainder(usage.promptTokens);
  const cached = new Remainder(prompt.take(usage.cachedTokens));
  const written = new Remainder(prompt.take(usage.cacheWriteTokens));
  const cachedAudio = cached.take(usage.cachedAudioTokens);
  const cachedImage = cached.take(usage.cachedImageTokens);
  const writtenForHour = written.take(usage.cacheWrite1hTokens);
  const audio = prompt.take((usage.audioPromptTokens ?? 0) - cachedAudio);
  const image = prompt.take((usage.imagePromptTokens ?? 0) - cachedImage);
  lines.add("input", prompt.left, input);
  lines.add("cache_read", cached.left, cacheRead);
  lines.add("cache_write", written.left, cacheWrite);
  lines.add("cache_write_1h", writtenForHour, cacheWrite1h);
  lines.add("input_audio", audio, inputAudio);
  lines.add("cache_read_audio", cachedAudio, cacheReadAudio);
  lines.add("input_image", image, inputImage);
  lines.add("cache_read_image", cachedImage, cacheReadImage);
}

function addCompletion(lines: Lines, usage: Usage, rates: Rates): void {
  const { output, reasoning = output, outputAudio = output, outputImage = output } = rates;
  const completion = new Remainder(usage.completionTokens);
  const audio = completion.take(usage.audioCompletionTokens);
  const image = completion.take(usage.imageCompletionTokens);
  const thought = completion.take(usage.reasoningTokens);
  lines.add("output", completion.left, output);
  lines.add("reasoning", thought, reasoning);
  lines.add("output_audio", audio, outputAudio);
  lines.add("output_image", image, outputImage);
}

/** Images by the piece. Without such a price, the reply's tokens are priced, if it reports any. */
function addImages(
  lines: Lines,
  { images, totalTokens }: Usage,
  prices: readonly ImagePrice[] | undefined,
): void {
  if (images === undefined || images.count === 0) return;
  if (prices !== undefined) lines.add("images", images.count, imagePrice(images, prices));
  else if (totalTokens === 0) lines.add("images", images.count, undefined);
}

/** The price of an image of a size and quality: the most specific entry. */
function imagePrice(images: ImageUsage, prices: readonly ImagePrice[]): number | undefined {
  const size = chosen(images.size) ?? prices[0]?.size;
  const quality = chosen(images.quality) ?? prices[0]?.quality;
  let best: ImagePrice | undefined;
  for (const price of prices) {
    const isMatch = (price.size ?? size) === size && (price.quality ?? quality) === quality;
    if (isMatch && (best === undefined || named(price) > named(best))) best = price;
  }
  return best?.picoUsd;
}

function chosen(word: string | undefined): string | undefined {
  return word === "auto" ? undefined : word;
}

function named({ size, quality }: ImagePrice): number {
  return (size === undefined ? 0 : 2) + (quality === undefined ? 0 : 1);
}

/** The remaining tokens after parts are subtracted. */
class Remainder {
  left: number;

  constructor(tokens: number) {
    this.left = tokens;
  }

  take(part: number | undefined): number {
    const taken = Math.max(0, Math.min(part ?? 0, this.left));
    this.left -= taken;
    return taken;
  }
}

/** A list of lines. */
class Lines {
  readonly charges: Charge[] = [];
  isPriced = true;

  add(kind: TokenKind, tokens: number, picoUsdPerToken: number | undefined): void {
    if (tokens === 0) return;
    if (picoUsdPerToken === undefined) this.isPriced = false;
    else this.charges.push({ kind, tokens, picoUsdPerToken });
  }
}
