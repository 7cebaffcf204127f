/**
 * Costs computed by hand. `sum` is the arithmetic: tokens × dollars per million tokens, in
 * millionths of a dollar; `times` is the factor, `plus` the dollars added at the end. A test
 * computes the arithmetic itself, so that the figure, the arithmetic and the code must agree.
 */

import type { Price, Usage } from "@sluice/contract";
import type { CostTerms } from "./cost.ts";

/** One cost. */
export interface GoldenCase {
  readonly what: string;
  readonly usage: Usage;
  readonly price: Price;
  readonly terms?: CostTerms;
  readonly sum: string;
  readonly times?: string;
  readonly plus?: string;
  readonly nanoUsd: number;
}

const source = "golden";
/** Dollars per million tokens as pico-dollars per token. */
const usd = (dollars: number): number => Math.round(dollars * 1e6);

const MINI: Price = { input: usd(0.15), output: usd(0.6), cacheRead: usd(0.075), source };
const SONNET: Price = {
  input: usd(3),
  output: usd(15),
  cacheRead: usd(0.3),
  cacheWrite: usd(3.75),
  cacheWrite1h: usd(6),
  source,
  tiers: [
    {
      above: 200_000,
      input: usd(6),
      output: usd(22.5),
      cacheRead: usd(0.6),
      cacheWrite: usd(7.5),
      cacheWrite1h: usd(12),
    },
  ],
};
const GEMINI: Price = {
  input: usd(1.25),
  output: usd(10),
  cacheRead: usd(0.31),
  source,
  tiers: [{ above: 200_000, input: usd(2.5), output: usd(15), cacheRead: usd(0.625) }],
};
const AUDIO: Price = {
  input: usd(2.5),
  output: usd(10),
  inputAudio: usd(40),
  outputAudio: usd(80),
  cacheRead: usd(1.25),
  source,
};
const REALTIME: Price = {
  ...AUDIO,
  cacheReadAudio: usd(0.4),
  inputImage: usd(5),
  cacheReadImage: usd(0.5),
};
const DEEP: Price = { input: usd(2), output: usd(8), reasoning: usd(3), source };
const SONAR: Price = { input: usd(1), output: usd(1), request: 5_000_000_000, source };
const EMBEDDING: Price = { input: usd(0.02), source };
const GPT_IMAGE: Price = {
  input: usd(5),
  cacheRead: usd(1.25),
  output: usd(40),
  inputImage: usd(10),
  cacheReadImage: usd(2.5),
  source,
};
const IMAGE_OUT: Price = { input: usd(0.3), output: usd(2.5), outputImage: usd(30), source };
const image = (dollars: number): number => Math.round(dollars * 1e6) * 1e6;
const DALLE: Price = {
  images: [
    { size: "1024x1024", quality: "standard", picoUsd: image(0.04) },
    { size: "1024x1792", quality: "standard", picoUsd: image(0.08) },
    { size: "1024x1024", quality: "hd", picoUsd: image(0.08) },
    { size: "1024x1792", quality: "hd", picoUsd: image(0.12) },
  ],
  source,
};
const ANY_IMAGE: Price = {
  input: usd(2),
  output: 0,
  source,
  images: [
    { picoUsd: image(0.03) },
    { quality: "high", picoUsd: image(0.167) },
    { size: "256x256", picoUsd: image(0.016) },
  ],
};
const TIERED: Price = {
  input: usd(1.25),
  output: usd(10),
  cacheRead: usd(0.125),
  source,
  serviceTiers: {
    flex: { input: usd(0.625), output: usd(5), cacheRead: usd(0.0625) },
    priority: { input: usd(2.5), output: usd(20) },
  },
};
const LONG_PRIORITY: Price = {
  input: usd(5),
  output: usd(30),
  source,
  tiers: [{ above: 272_000, input: usd(10), output: usd(45) }],
  serviceTiers: {
    priority: {
      input: usd(10),
      output: usd(60),
      tiers: [{ above: 272_000, input: usd(20), output: usd(90) }],
    },
  },
};
const THREE_TIERS: Price = {
  input: usd(1),
  output: usd(2),
  source,
  tiers: [
    { above: 256_000, input: usd(6) },
    { above: 32_000, input: usd(1.5), output: usd(3) },
    { above: 128_000, input: usd(3), output: usd(7) },
  ],
};
const ODD: Price = { input: 333_333, output: 1, source };
const FREE: Price = { input: 0, output: 0, free: true, source };
const HALF: CostTerms = { serviceTiers: { flex: 500_000, batch: 500_000 } };

const used = (
  promptTokens: number,
  completionTokens: number,
  parts: Partial<Usage> = {},
): Usage => ({
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens,
  ...parts,
});
const drawn = (count: number, size?: string, quality?: string): Usage =>
  used(0, 0, {
    images: {
      count,
      ...(size !== undefined && { size }),
      ...(quality !== undefined && { quality }),
    },
  });
const row = (
  what: string,
  price: Price,
  usage: Usage,
  sum: string,
  nanoUsd: number,
  more: Pick<GoldenCase, "terms" | "times" | "plus"> = {},
): GoldenCase => ({ what, price, usage, sum, nanoUsd, ...more });

/** The table. */
export const GOLDEN_CASES: readonly GoldenCase[] = [
  // Prompt and completion.
  row("nothing", MINI, used(0, 0), "0×0.15", 0),
  row("one prompt token", MINI, used(1, 0), "1×0.15", 150),
  row("one completion token", MINI, used(0, 1), "1×0.6", 600),
  row("a short exchange", MINI, used(19, 10), "19×0.15 + 10×0.6", 8_850),
  row("a thousand and five hundred", MINI, used(1_000, 500), "1000×0.15 + 500×0.6", 450_000),
  row(
    "a million of each",
    SONNET,
    used(100_000, 1_000_000),
    "100000×3 + 1000000×15",
    15_300_000_000,
  ),
  row("an embedding", EMBEDDING, used(8, 0), "8×0.02", 160),
  row("a large batch of embeddings", EMBEDDING, used(2_000_000, 0), "2000000×0.02", 40_000_000),
  // One rounding, half up, at the end.
  row("a third, rounded down", ODD, used(1, 0), "1×0.333333", 333),
  row("two thirds, rounded up", ODD, used(2, 0), "2×0.333333", 667),
  row("half a nano-dollar", { input: 500, source }, used(1, 0), "1×0.0005", 1),
  row("less than half", { input: 499, source }, used(1, 0), "1×0.000499", 0),
  row(
    "two small parts together",
    { input: 400, output: 400, source },
    used(1, 1),
    "1×0.0004 + 1×0.0004",
    1,
  ),
  row(
    "three small parts together",
    { input: 400, output: 400, cacheRead: 400, source },
    used(2, 1, { cachedTokens: 1 }),
    "2×0.0004 + 1×0.0004",
    1,
  ),
  // Reads from the cache.
  row(
    "a cached part",
    MINI,
    used(1_000, 0, { cachedTokens: 600 }),
    "400×0.15 + 600×0.075",
    105_000,
  ),
  row("all cached", MINI, used(1_024, 1, { cachedTokens: 1_024 }), "1024×0.075 + 1×0.6", 77_400),
  row("cached without a price", DEEP, used(1_000, 0, { cachedTokens: 600 }), "1000×2", 2_000_000),
  row("more cached than there is", MINI, used(100, 0, { cachedTokens: 5_000 }), "100×0.075", 7_500),
  // Writes to the cache: five minutes, an hour, both.
  row(
    "written for five minutes",
    SONNET,
    used(1_000, 10, { cachedTokens: 100, cacheWriteTokens: 200 }),
    "700×3 + 100×0.3 + 200×3.75 + 10×15",
    3_030_000,
  ),
  row(
    "written for an hour",
    SONNET,
    used(2_000, 0, { cacheWriteTokens: 2_000, cacheWrite1hTokens: 2_000 }),
    "2000×6",
    12_000_000,
  ),
  row(
    "written for both",
    SONNET,
    used(5_000, 100, { cacheWriteTokens: 3_000, cacheWrite1hTokens: 1_000 }),
    "2000×3 + 2000×3.75 + 1000×6 + 100×15",
    21_000_000,
  ),
  row(
    "read and written",
    SONNET,
    used(10_500, 300, { cachedTokens: 8_000, cacheWriteTokens: 2_000, cacheWrite1hTokens: 500 }),
    "500×3 + 8000×0.3 + 1500×3.75 + 500×6 + 300×15",
    17_025_000,
  ),
  row(
    "written, not priced apart",
    MINI,
    used(1_000, 0, { cacheWriteTokens: 400 }),
    "1000×0.15",
    150_000,
  ),
  row(
    "an hour, no write priced apart",
    MINI,
    used(1_000, 0, { cacheWriteTokens: 400, cacheWrite1hTokens: 400 }),
    "1000×0.15",
    150_000,
  ),
  row(
    "more of an hour than is written",
    SONNET,
    used(100, 0, { cacheWriteTokens: 40, cacheWrite1hTokens: 90 }),
    "60×3 + 40×6",
    420_000,
  ),
  // Reasoning.
  row(
    "reasoning is a part of the completion",
    MINI,
    used(0, 500, { reasoningTokens: 400 }),
    "500×0.6",
    300_000,
  ),
  row(
    "reasoning at its own price",
    DEEP,
    used(100, 1_000, { reasoningTokens: 750 }),
    "100×2 + 250×8 + 750×3",
    4_450_000,
  ),
  row("all of it reasoning", DEEP, used(0, 64, { reasoningTokens: 64 }), "64×3", 192_000),
  row("a call's own price", SONAR, used(100, 200), "100×1 + 200×1 + 1×5000", 5_300_000),
  row("a call that used nothing", SONAR, used(0, 0), "1×5000", 5_000_000),
  // Audio and images as tokens.
  row(
    "audio on both sides",
    AUDIO,
    used(100, 10, { audioPromptTokens: 20, audioCompletionTokens: 5 }),
    "80×2.5 + 20×40 + 5×10 + 5×80",
    1_450_000,
  ),
  row(
    "audio only",
    AUDIO,
    used(50, 50, { audioPromptTokens: 50, audioCompletionTokens: 50 }),
    "50×40 + 50×80",
    6_000_000,
  ),
  row(
    "audio without a price",
    MINI,
    used(100, 10, { audioPromptTokens: 20, audioCompletionTokens: 5 }),
    "100×0.15 + 10×0.6",
    21_000,
  ),
  row(
    "cached audio and text",
    REALTIME,
    used(1_000, 0, { cachedTokens: 600, audioPromptTokens: 500, cachedAudioTokens: 200 }),
    "100×2.5 + 400×1.25 + 300×40 + 200×0.4",
    12_830_000,
  ),
  row(
    "cached audio without a price",
    AUDIO,
    used(100, 0, { cachedTokens: 100, audioPromptTokens: 100, cachedAudioTokens: 100 }),
    "100×40",
    4_000_000,
  ),
  row(
    "cached text beside audio",
    AUDIO,
    used(100, 0, { cachedTokens: 40, audioPromptTokens: 50 }),
    "10×2.5 + 40×1.25 + 50×40",
    2_075_000,
  ),
  row(
    "image tokens of a prompt",
    REALTIME,
    used(1_105, 4, { imagePromptTokens: 765 }),
    "340×2.5 + 765×5 + 4×10",
    4_715_000,
  ),
  row(
    "cached image tokens",
    REALTIME,
    used(900, 0, { cachedTokens: 765, imagePromptTokens: 765, cachedImageTokens: 765 }),
    "135×2.5 + 765×0.5",
    720_000,
  ),
  row(
    "audio, reasoning and text",
    { ...AUDIO, reasoning: usd(4) },
    used(0, 100, { audioCompletionTokens: 30, reasoningTokens: 20 }),
    "50×10 + 20×4 + 30×80",
    2_980_000,
  ),
  row(
    "an image by tokens",
    GPT_IMAGE,
    used(50, 4_160, {
      imageCompletionTokens: 4_160,
      images: { count: 1, size: "1024x1024", quality: "high" },
    }),
    "50×5 + 4160×40",
    166_650_000,
  ),
  row(
    "an edited image by tokens",
    GPT_IMAGE,
    used(373, 272, { imagePromptTokens: 323, imageCompletionTokens: 272 }),
    "50×5 + 323×10 + 272×40",
    14_360_000,
  ),
  row(
    "a cached image that is edited",
    GPT_IMAGE,
    used(373, 272, { cachedTokens: 340, imagePromptTokens: 323, cachedImageTokens: 323 }),
    "33×5 + 17×1.25 + 323×2.5 + 272×40",
    11_873_750,
  ),
  row(
    "an image beside text",
    IMAGE_OUT,
    used(10, 1_310, { imageCompletionTokens: 1_290 }),
    "10×0.3 + 20×2.5 + 1290×30",
    38_753_000,
  ),
  // Images by the piece.
  row("one image", DALLE, drawn(1, "1024x1024", "standard"), "1×40000", 40_000_000),
  row("three large ones in hd", DALLE, drawn(3, "1024x1792", "hd"), "3×120000", 360_000_000),
  row("the default size and quality", DALLE, drawn(2), "2×40000", 80_000_000),
  row("auto is the default", DALLE, drawn(1, "auto", "auto"), "1×40000", 40_000_000),
  row("the default quality of a size", DALLE, drawn(1, "1024x1792"), "1×80000", 80_000_000),
  row("any size", ANY_IMAGE, drawn(4, "640x480"), "4×30000", 120_000_000),
  row("a quality of any size", ANY_IMAGE, drawn(1, "640x480", "high"), "1×167000", 167_000_000),
  row("a size wins over a quality", ANY_IMAGE, drawn(1, "256x256", "high"), "1×16000", 16_000_000),
  row(
    "a piece and its prompt",
    ANY_IMAGE,
    { ...used(30, 0), images: { count: 1 } },
    "30×2 + 1×30000",
    30_060_000,
  ),
  // Long prompts: the tier prices the whole request.
  row("just below a tier", SONNET, used(200_000, 1_000), "200000×3 + 1000×15", 615_000_000),
  row("just above it", SONNET, used(200_001, 1_000), "200001×6 + 1000×22.5", 1_222_506_000),
  row(
    "a tier with cache",
    SONNET,
    used(300_000, 100, {
      cachedTokens: 250_000,
      cacheWriteTokens: 20_000,
      cacheWrite1hTokens: 5_000,
    }),
    "30000×6 + 250000×0.6 + 15000×7.5 + 5000×12 + 100×22.5",
    504_750_000,
  ),
  row(
    "a tier reached by cached tokens",
    GEMINI,
    used(250_000, 10, { cachedTokens: 249_000 }),
    "1000×2.5 + 249000×0.625 + 10×15",
    158_275_000,
  ),
  row(
    "the completion reaches no tier",
    GEMINI,
    used(1_000, 300_000),
    "1000×1.25 + 300000×10",
    3_001_250_000,
  ),
  row("the lowest of three tiers", THREE_TIERS, used(32_001, 10), "32001×1.5 + 10×3", 48_031_500),
  row("the middle one", THREE_TIERS, used(200_000, 10), "200000×3 + 10×7", 600_070_000),
  row(
    "the highest, which keeps the base's output",
    THREE_TIERS,
    used(256_001, 10),
    "256001×6 + 10×2",
    1_536_026_000,
  ),
  // Service tiers.
  row(
    "the standard tier by its name",
    TIERED,
    used(1_000, 100, { serviceTier: "default" }),
    "1000×1.25 + 100×10",
    2_250_000,
  ),
  row(
    "flex",
    TIERED,
    used(1_000, 100, { serviceTier: "flex", cachedTokens: 200 }),
    "800×0.625 + 200×0.0625 + 100×5",
    1_012_500,
  ),
  row(
    "priority, its cache as in the base",
    TIERED,
    used(1_000, 100, { serviceTier: "priority", cachedTokens: 200 }),
    "800×2.5 + 200×0.125 + 100×20",
    4_025_000,
  ),
  row(
    "batch by its multiple",
    TIERED,
    used(1_000, 100, { serviceTier: "batch" }),
    "1000×1.25 + 100×10",
    1_125_000,
    {
      terms: HALF,
      times: "0.5",
    },
  ),
  row(
    "a table's price before a multiple",
    TIERED,
    used(1_000, 100, { serviceTier: "flex" }),
    "1000×0.625 + 100×5",
    1_125_000,
    {
      terms: HALF,
    },
  ),
  row(
    "a multiple of a long prompt",
    SONNET,
    used(200_001, 0, { serviceTier: "batch" }),
    "200001×6",
    600_003_000,
    {
      terms: HALF,
      times: "0.5",
    },
  ),
  row(
    "a multiple that halves a nano-dollar",
    ODD,
    used(1, 0, { serviceTier: "flex" }),
    "1×0.333333",
    167,
    {
      terms: HALF,
      times: "0.5",
    },
  ),
  row(
    "priority of a short prompt",
    LONG_PRIORITY,
    used(1_000, 10, { serviceTier: "priority" }),
    "1000×10 + 10×60",
    10_600_000,
  ),
  row(
    "priority of a long prompt",
    LONG_PRIORITY,
    used(300_000, 10, { serviceTier: "priority" }),
    "300000×20 + 10×90",
    6_000_900_000,
  ),
  // Discount and margin.
  row("a discount", MINI, used(1_000, 500), "1000×0.15 + 500×0.6", 427_500, {
    terms: { discount: 50_000 },
    times: "0.95",
  }),
  row("a margin", MINI, used(1_000, 500), "1000×0.15 + 500×0.6", 495_000, {
    terms: { margin: 100_000 },
    times: "1.1",
  }),
  row("a discount, then a margin", MINI, used(1_000, 500), "1000×0.15 + 500×0.6", 470_250, {
    terms: { discount: 50_000, margin: 100_000 },
    times: "0.95×1.1",
  }),
  row("a fixed margin", MINI, used(1_000, 500), "1000×0.15 + 500×0.6", 1_450_000, {
    terms: { fixedPicoUsd: 1_000_000_000 },
    plus: "0.001",
  }),
  row(
    "everything at once",
    MINI,
    used(1_000, 500, { serviceTier: "flex" }),
    "1000×0.15 + 500×0.6",
    735_125,
    {
      terms: { ...HALF, discount: 50_000, margin: 100_000, fixedPicoUsd: 500_000_000 },
      times: "0.5×0.95×1.1",
      plus: "0.0005",
    },
  ),
  row("one rounding after all factors", ODD, used(7, 3), "7×0.333333 + 3×0.000001", 2_438, {
    terms: { discount: 50_000, margin: 100_000 },
    times: "0.95×1.1",
  }),
  row("a discount of everything", MINI, used(1_000, 500), "1000×0.15 + 500×0.6", 0, {
    terms: { discount: 1_000_000 },
    times: "0",
  }),
  row(
    "a model that is free, whatever is added",
    FREE,
    used(1_000, 500, { serviceTier: "priority", images: { count: 1 } }),
    "1000×0",
    0,
    { terms: { margin: 100_000, fixedPicoUsd: 1_000_000_000 } },
  ),
];
