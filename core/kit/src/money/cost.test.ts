import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Price, Usage } from "@sluice/spec";
import { costNanoUsd } from "./cost.ts";

/** 0.15 and 0.60 dollars a million tokens; cached 0.075. */
const MINI: Price = { input: 150_000, output: 600_000, cacheRead: 75_000, source: "test" };

function usage(promptTokens: number, completionTokens: number, parts: Partial<Usage> = {}): Usage {
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, ...parts };
}

describe("goldens, computed by hand", () => {
  it.each<[string, Usage, Price, number]>([
    ["nothing", usage(0, 0), MINI, 0],
    // 1000 × 0.15e-6 + 500 × 0.60e-6 = 0.00045 dollars
    ["prompt and completion", usage(1_000, 500), MINI, 450_000],
    // 400 × 0.15e-6 + 600 × 0.075e-6 = 0.000105 dollars
    ["cached tokens at their own price", usage(1_000, 0, { cachedTokens: 600 }), MINI, 105_000],
    // Without a price for the cache its tokens are tokens: 1000 × 0.15e-6
    [
      "cached tokens without one",
      usage(1_000, 0, { cachedTokens: 600 }),
      { input: 150_000, output: 600_000, source: "test" },
      150_000,
    ],
    // Reasoning is a part of the completion, not an addition: 500 × 0.60e-6
    ["reasoning", usage(0, 500, { reasoningTokens: 400 }), MINI, 300_000],
    // 700 × 3e-6 + 100 × 0.3e-6 + 200 × 3.75e-6 + 10 × 15e-6 = 0.00303 dollars
    [
      "tokens written to the cache",
      usage(1_000, 10, { cachedTokens: 100, cacheWriteTokens: 200 }),
      { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000, source: "test" },
      3_030_000,
    ],
    // 80 × 2.5e-6 + 20 × 40e-6 + 5 × 10e-6 + 5 × 80e-6 = 0.00145 dollars
    [
      "audio on both sides",
      usage(100, 10, { audioPromptTokens: 20, audioCompletionTokens: 5 }),
      { input: 2_500_000, output: 10_000_000, inputAudio: 40_000_000, outputAudio: 80_000_000, source: "test" },
      1_450_000,
    ],
    // One token at 0.0005 nano-dollars rounds half up, less rounds down.
    ["half a nano-dollar, rounded up", usage(1, 0), { input: 500, output: 0, source: "test" }, 1],
    ["less than half, rounded down", usage(1, 0), { input: 499, output: 0, source: "test" }, 0],
    // Rounded once: twice 0.4 nano-dollars are 0.8, not 0.
    ["two parts, rounded together", usage(1, 1), { input: 400, output: 400, source: "test" }, 1],
  ])("%s", (_what, tokens, price, expected) => {
    expect(costNanoUsd(tokens, price)).toBe(expected);
  });
});

describe("tiers", () => {
  const price: Price = {
    input: 1_000_000,
    output: 10_000_000,
    cacheRead: 100_000,
    tiers: [
      { above: 200_000, input: 3_000_000, output: 20_000_000 },
      { above: 100_000, input: 2_000_000 },
    ],
    source: "test",
  };

  it.each([
    [100_000, 100_000 * 1_000 + 10_000],
    [100_001, 100_001 * 2_000 + 10_000],
    [200_000, 200_000 * 2_000 + 10_000],
    [200_001, 200_001 * 3_000 + 20_000],
  ])("price the whole request by the highest one that %i tokens reach", (prompt, expected) => {
    expect(costNanoUsd(usage(prompt, 1), price)).toBe(expected);
  });

  it("keep the price that they do not name", () => {
    expect(costNanoUsd(usage(150_000, 0, { cachedTokens: 150_000 }), price)).toBe(150_000 * 100);
  });
});

const tokens = fc.nat({ max: 10_000_000 });
const cents = fc.nat({ max: 200_000_000 });

describe("any usage", () => {
  it("costs its exact sum, rounded half up once", () => {
    fc.assert(
      fc.property(
        fc.tuple(tokens, tokens, tokens, tokens),
        fc.tuple(tokens, tokens),
        fc.array(cents, { minLength: 6, maxLength: 6 }),
        (inputs, outputs, prices) => {
          const [plain, cachedTokens, cacheWriteTokens, audioPromptTokens] = inputs;
          const [text, audioCompletionTokens] = outputs;
          const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, inputAudio = 0, outputAudio = 0] = prices;
          const spent = usage(plain + cachedTokens + cacheWriteTokens + audioPromptTokens, text + audioCompletionTokens, {
            cachedTokens,
            cacheWriteTokens,
            audioPromptTokens,
            audioCompletionTokens,
          });
          const pairs: [number, number][] = [
            [plain, input],
            [cachedTokens, cacheRead],
            [cacheWriteTokens, cacheWrite],
            [audioPromptTokens, inputAudio],
            [text, output],
            [audioCompletionTokens, outputAudio],
          ];
          const pico = pairs.reduce((sum, [count, price]) => sum + BigInt(count) * BigInt(price), 0n);
          const expected = pico / 1_000n + (pico % 1_000n >= 500n ? 1n : 0n);
          fc.pre(expected <= BigInt(Number.MAX_SAFE_INTEGER));
          const cost = costNanoUsd(spent, { input, output, cacheRead, cacheWrite, inputAudio, outputAudio, source: "test" });
          expect(cost).toBe(Number(expected));
        },
      ),
    );
  });

  it("never costs less than nothing, nor counts a token twice, when its parts exceed the total", () => {
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, (prompt, cachedTokens, cacheWriteTokens, audioPromptTokens) => {
        const spent = usage(prompt, 0, { cachedTokens, cacheWriteTokens, audioPromptTokens });
        const cost = costNanoUsd(spent, {
          input: 1_000,
          output: 0,
          cacheRead: 1_000,
          cacheWrite: 1_000,
          inputAudio: 1_000,
          source: "test",
        });
        expect(cost).toBe(prompt);
      }),
    );
  });
});
