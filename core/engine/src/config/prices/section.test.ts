import { costNanoUsd } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import { priceFault, priceOf } from "./section.ts";
import { findSeedPrice } from "./seed.ts";
import { seedDirectory } from "./seed-models.ts";
import type { PriceSection } from "../schema/prices.ts";

const NOW = Date.UTC(2026, 10, 1);

describe("prices as they are written", () => {
  it("become exact pico-dollars, by every kind", () => {
    const section: PriceSection = {
      input: 0.000001,
      output: 2,
      cache_read: 0.3,
      cache_write: 3.75,
      cache_write_1h: 6,
      reasoning: 3,
      input_audio: 40,
      output_audio: 80,
      cache_read_audio: 0.4,
      input_image: 5,
      output_image: 30,
      cache_read_image: 0.5,
      request: 0.005,
      images: [{ size: "1024x1024", quality: "hd", price: 0.08 }, { price: 0.04 }],
      tiers: [
        { above: 200, input: 4 },
        { above: 100, cache_write_1h: 12 },
      ],
      service_tiers: { flex: { input: 0.5, tiers: [{ above: 100, output: 1 }] } },
    };
    expect(priceFault(section)).toBeUndefined();
    expect(priceOf(section, "here.yaml")).toEqual({
      input: 1,
      output: 2_000_000,
      cacheRead: 300_000,
      cacheWrite: 3_750_000,
      cacheWrite1h: 6_000_000,
      reasoning: 3_000_000,
      inputAudio: 40_000_000,
      outputAudio: 80_000_000,
      cacheReadAudio: 400_000,
      inputImage: 5_000_000,
      outputImage: 30_000_000,
      cacheReadImage: 500_000,
      request: 5_000_000_000,
      images: [
        { size: "1024x1024", quality: "hd", picoUsd: 80_000_000_000 },
        { picoUsd: 40_000_000_000 },
      ],
      tiers: [
        { above: 100, cacheWrite1h: 12_000_000 },
        { above: 200, input: 4_000_000 },
      ],
      serviceTiers: { flex: { input: 500_000, tiers: [{ above: 100, output: 1_000_000 }] } },
      source: "here.yaml",
    });
  });

  it("by the piece alone say that tokens cost nothing", () => {
    const price = priceOf({ images: [{ price: 0.02 }] }, "here.yaml");
    const usage = { promptTokens: 30, completionTokens: 0, totalTokens: 30, images: { count: 3 } };
    expect(price && costNanoUsd(usage, price)).toBe(60_000_000);
  });

  it.each<[string, PriceSection, RegExp]>([
    ["nothing", {}, /lacks `input`/],
    ["an output alone", { output: 1 }, /lacks `input`/],
    ["an input alone", { input: 1 }, /lacks `output`/],
    ["images and half of the tokens", { images: [{ price: 1 }], input: 1 }, /lacks `output`/],
    ["tiers alone", { request: 1, tiers: [{ above: 1, input: 1 }] }, /lacks `input`/],
    ["free and priced", { free: true, input: 1 }, /is free and has prices/],
    [
      "two tiers at one length",
      { input: 1, output: 1, tiers: [{ above: 5 }, { above: 5 }] },
      /two tiers/,
    ],
    [
      "two tiers of a service tier",
      { input: 1, output: 1, service_tiers: { flex: { tiers: [{ above: 5 }, { above: 5 }] } } },
      /two tiers/,
    ],
    [
      "one image twice",
      {
        images: [
          { size: "1x1", price: 1 },
          { size: "1x1", price: 2 },
        ],
      },
      /twice/,
    ],
  ])("are at fault: %s", (_what, section, message) => {
    expect(priceFault(section)?.message).toMatch(message);
    expect(priceOf(section, "here.yaml")).toBeUndefined();
  });
});

describe("built-in prices", () => {
  const find = (provider: string, model: string) => findSeedPrice(provider, model, NOW).price;

  it("hold writes for an hour, images and calls", () => {
    expect(find("anthropic", "claude-sonnet-4-5")).toMatchObject({
      cacheWrite: 3_750_000,
      cacheWrite1h: 6_000_000,
    });
    expect(find("anthropic", "claude-sonnet-4-5")?.tiers).toMatchObject([
      { above: 200_000, cacheWrite1h: 12_000_000 },
    ]);
    expect(find("openai", "gpt-image-1")).toMatchObject({
      inputImage: 10_000_000,
      cacheReadImage: 2_500_000,
    });
    expect(find("openai", "dall-e-3")?.images).toHaveLength(6);
    expect(find("stability", "edit/inpaint")?.images).toMatchObject([{ picoUsd: 50_000_000_000 }]);
  });

  it("know service tiers of exactly the models they were read for", () => {
    expect(find("openai", "gpt-5")?.serviceTiers?.["flex"]).toEqual({
      input: 625_000,
      output: 5_000_000,
      cacheRead: 62_500,
    });
    expect(find("openai", "gpt-5")).toBe(find("openai", "gpt-5"));
    expect(find("openai", "gpt-5-mini")?.serviceTiers).toBeUndefined();
  });

  it("leave an embedding without an output to price", () => {
    expect(find("openai", "text-embedding-3-small")).toMatchObject({ input: 20_000 });
    expect(find("openai", "text-embedding-3-small")?.output).toBeUndefined();
  });
});

describe("the directory of models", () => {
  it("lists names that a request may use, by what they do", () => {
    const of = (mode: string | undefined) =>
      seedDirectory.list("openai").filter((known) => known.mode === mode);
    const names = (mode: string | undefined) => of(mode).map(({ name }) => name);
    expect(names("chat")).toEqual(expect.arrayContaining(["gpt-4o", "gpt-5", "o3"]));
    expect(names("embedding")).toEqual([
      "text-embedding-3-large",
      "text-embedding-3-small",
      "text-embedding-ada-002",
    ]);
    expect(names("image")).toEqual(expect.arrayContaining(["dall-e-3", "gpt-image-1"]));
    expect(
      names("chat").filter((name) => /^ft:|[:*]|-$|embed|image|whisper|realtime|tts/.test(name)),
    ).toEqual([]);
  });

  it("finds a dated name, and nothing of a provider that only sounds known", () => {
    expect(seedDirectory.find("openai", "gpt-4o-2024-08-06")).toEqual({
      name: "gpt-4o-2024-08-06",
      mode: "chat",
      contextWindow: 128_000,
    });
    expect(seedDirectory.find("openai", "no-such-model")).toBeUndefined();
    expect(seedDirectory.list("openai-compatible")).toEqual([]);
    expect(seedDirectory.find("openai-compatible", "gpt-4o")).toBeUndefined();
  });
});
