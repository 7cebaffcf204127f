import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ImagePrice, Price, Usage } from "@sluice/contract";
import { costBreakdown, costNanoUsd, type CostTerms } from "./cost.ts";
import { GOLDEN_CASES, type GoldenCase } from "./golden-cases.fixture.ts";

function usage(promptTokens: number, completionTokens: number, parts: Partial<Usage> = {}): Usage {
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, ...parts };
}

describe("goldens, computed by hand", () => {
  it("are enough, each with a name of its own", () => {
    expect(GOLDEN_CASES.length).toBeGreaterThanOrEqual(60);
    expect(new Set(GOLDEN_CASES.map(({ what }) => what)).size).toBe(GOLDEN_CASES.length);
  });

  it.each(GOLDEN_CASES.map((golden) => [golden.what, golden] as const))(
    "%s",
    (_what, { usage, price, terms, nanoUsd, ...by }) => {
      expect(worked(by)).toBe(nanoUsd);
      expect(costNanoUsd(usage, price, terms)).toBe(nanoUsd);
      const parts = costBreakdown(usage, price, terms) ?? [];
      expect(parts.reduce((sum, part) => sum + part.nanoUsd, 0)).toBe(nanoUsd);
    },
  );
});

describe("what has no known price", () => {
  const images: ImagePrice[] = [{ size: "1024x1024", quality: "standard", picoUsd: 1 }];
  const tiers = [{ above: 10, input: 2 }];
  it.each<[string, Usage, Omit<Price, "source">, CostTerms?]>([
    ["a completion where only the prompt is priced", usage(1, 1), { input: 1 }],
    ["a prompt where only the completion is priced", usage(1, 1), { output: 1 }],
    [
      "an hour where five minutes are priced",
      usage(2, 0, { cacheWriteTokens: 1, cacheWrite1hTokens: 1 }),
      { input: 1, cacheWrite: 2 },
    ],
    [
      "a service tier",
      usage(1, 1, { serviceTier: "priority" }),
      { input: 1, output: 1 },
      { serviceTiers: { flex: 500_000 } },
    ],
    [
      "a service tier of a name that every object has",
      usage(1, 1, { serviceTier: "constructor" }),
      { input: 1, output: 1, serviceTiers: {} },
    ],
    [
      "a long prompt of a service tier with one price",
      usage(11, 0, { serviceTier: "flex" }),
      { input: 4, tiers, serviceTiers: { flex: { input: 1 } } },
    ],
    [
      "an image of a size that is not in the list",
      usage(0, 0, { images: { count: 1, size: "9x9" } }),
      { images },
    ],
    [
      "more than a number holds exactly",
      usage(10 ** 9, 10 ** 9),
      { input: 10_000_000_000, output: 0 },
    ],
    [
      "an image without a price and without tokens",
      usage(0, 0, { images: { count: 1 } }),
      { input: 1, output: 1 },
    ],
  ])("is unknown, not zero: %s", (_what, spent, price, terms) => {
    expect(costNanoUsd(spent, { ...price, source: "test" }, terms)).toBeUndefined();
    expect(costBreakdown(spent, { ...price, source: "test" }, terms)).toBeUndefined();
  });
});

describe("the breakdown", () => {
  it("has a part for each kind that was used, at its list price", () => {
    const price: Price = {
      input: 3_000_000,
      output: 15_000_000,
      cacheRead: 300_000,
      source: "test",
    };
    const spent = usage(1_000, 100, { cachedTokens: 400, reasoningTokens: 60 });
    expect(costBreakdown(spent, price, { discount: 500_000, fixedPicoUsd: 7_000 })).toEqual([
      { kind: "input", tokens: 600, picoUsdPerToken: 3_000_000, nanoUsd: 900_000 },
      { kind: "cache_read", tokens: 400, picoUsdPerToken: 300_000, nanoUsd: 60_000 },
      { kind: "output", tokens: 40, picoUsdPerToken: 15_000_000, nanoUsd: 300_000 },
      { kind: "reasoning", tokens: 60, picoUsdPerToken: 15_000_000, nanoUsd: 450_000 },
      { kind: "margin", tokens: 1, picoUsdPerToken: 7_000, nanoUsd: 7 },
    ]);
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
          const [
            input = 0,
            output = 0,
            cacheRead = 0,
            cacheWrite = 0,
            inputAudio = 0,
            outputAudio = 0,
          ] = prices;
          const spent = usage(
            plain + cachedTokens + cacheWriteTokens + audioPromptTokens,
            text + audioCompletionTokens,
            {
              cachedTokens,
              cacheWriteTokens,
              audioPromptTokens,
              audioCompletionTokens,
            },
          );
          const pairs: [number, number][] = [
            [plain, input],
            [cachedTokens, cacheRead],
            [cacheWriteTokens, cacheWrite],
            [audioPromptTokens, inputAudio],
            [text, output],
            [audioCompletionTokens, outputAudio],
          ];
          const pico = pairs.reduce(
            (sum, [count, price]) => sum + BigInt(count) * BigInt(price),
            0n,
          );
          const expected = pico / 1_000n + (pico % 1_000n >= 500n ? 1n : 0n);
          fc.pre(expected <= BigInt(Number.MAX_SAFE_INTEGER));
          const cost = costNanoUsd(spent, {
            input,
            output,
            cacheRead,
            cacheWrite,
            inputAudio,
            outputAudio,
            source: "test",
          });
          expect(cost).toBe(Number(expected));
        },
      ),
    );
  });

  it("never costs less than nothing, nor counts a token twice, when its parts exceed the total", () => {
    fc.assert(
      fc.property(
        tokens,
        tokens,
        tokens,
        tokens,
        (prompt, cachedTokens, cacheWriteTokens, audioPromptTokens) => {
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
        },
      ),
    );
  });
});

it("costs the sum of its parts, each within a nano-dollar of its own share", () => {
  const factor = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(
      fc.array(tokens, { minLength: 4, maxLength: 4 }),
      fc.array(cents, { minLength: 4, maxLength: 4 }),
      factor,
      factor,
      (counts, prices, discount, margin) => {
        const [plain = 0, cachedTokens = 0, output = 0, reasoningTokens = 0] = counts;
        const [input = 0, cacheRead = 0, out = 0, reasoning = 0] = prices;
        const spent = usage(plain + cachedTokens, output + reasoningTokens, {
          cachedTokens,
          reasoningTokens,
        });
        const price: Price = { input, cacheRead, output: out, reasoning, source: "test" };
        const terms = { discount, margin };
        const parts = costBreakdown(spent, price, terms) ?? [];
        expect(parts.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0)).toBe(
          costNanoUsd(spent, price, terms),
        );
        for (const { tokens: count, picoUsdPerToken, nanoUsd } of parts) {
          const share =
            BigInt(count) *
            BigInt(picoUsdPerToken) *
            BigInt(1_000_000 - discount) *
            BigInt(1_000_000 + margin);
          const apart = BigInt(nanoUsd) * 1_000_000_000_000_000n - share;
          expect(apart <= 1_000_000_000_000_000n && apart >= -1_000_000_000_000_000n).toBe(true);
        }
      },
    ),
  );
});

/** A golden's arithmetic, worked out in exact decimals: nano-dollars, rounded half up. */
function worked({
  sum,
  times = "1",
  plus = "0",
}: Pick<GoldenCase, "sum" | "times" | "plus">): number {
  const product = (text: string): Decimal => text.split("×").map(decimal).reduce(multiply);
  const micro = sum.split(" + ").map(product).reduce(add);
  const dollars = add(
    multiply(multiply(micro, product(times)), decimal("0.000001")),
    decimal(plus),
  );
  const unit = 10n ** BigInt(dollars.places);
  return Number((dollars.digits * 1_000_000_000n * 2n + unit) / (unit * 2n));
}

interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

function decimal(text: string): Decimal {
  const [whole = "0", fraction = ""] = text.trim().split(".");
  return { digits: BigInt(whole + fraction), places: fraction.length };
}

function multiply(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, places: left.places + right.places };
}

function add(left: Decimal, right: Decimal): Decimal {
  const places = Math.max(left.places, right.places);
  const scaled = (of: Decimal): bigint => of.digits * 10n ** BigInt(places - of.places);
  return { digits: scaled(left) + scaled(right), places };
}
