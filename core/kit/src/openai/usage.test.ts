import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { readImageUsage, readUsage } from "./usage.ts";

function usageOf(name: string) {
  const path = join(import.meta.dirname, "../../../../test/fixtures/openai", name);
  return readUsage((JSON.parse(readFileSync(path, "utf8")) as JsonObject).usage);
}

describe("readUsage", () => {
  it("keeps the parts of the totals", () => {
    expect(usageOf("chat-cached.json")?.cachedTokens).toBeGreaterThan(0);
    expect(usageOf("chat-reasoning.json")?.reasoningTokens).toBeGreaterThan(0);
    expect(
      readUsage({
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4, audio_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 1 },
      }),
    ).toEqual({
      promptTokens: 10,
      completionTokens: 5,
      totalTokens: 15,
      cachedTokens: 4,
      reasoningTokens: 3,
      audioPromptTokens: 2,
      audioCompletionTokens: 1,
    });
  });

  it("leaves out what is not there, and adds up a missing total", () => {
    expect(readUsage({ prompt_tokens: 1, completion_tokens: 2 })).toEqual({
      promptTokens: 1,
      completionTokens: 2,
      totalTokens: 3,
    });
    expect(readUsage({ prompt_tokens: 1, total_tokens: 1 })).toEqual({
      promptTokens: 1,
      completionTokens: 0,
      totalTokens: 1,
    });
  });

  it.each([
    undefined,
    null,
    [],
    "many",
    {},
    { completion_tokens: 1 },
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
    { prompt_tokens: "1", completion_tokens: 1 },
    { prompt_tokens: 1, completion_tokens: null },
    { prompt_tokens: 2 ** 60, completion_tokens: 1 },
    { prompt_tokens: 9e15, completion_tokens: 1 },
    { prompt_tokens: 1, completion_tokens: 1_000_000_001 },
  ])("is unknown, not zero, for %j", (value) => {
    expect(readUsage(value)).toBeUndefined();
  });

  it("drops a part that is no count", () => {
    const details = { cached_tokens: -4, audio_tokens: "2" };
    expect(
      readUsage({ prompt_tokens: 1, completion_tokens: 1, prompt_tokens_details: details }),
    ).toEqual({
      promptTokens: 1,
      completionTokens: 1,
      totalTokens: 2,
    });
  });
});

describe("what compatible layers add", () => {
  const totals = { prompt_tokens: 1_000, completion_tokens: 5 };
  const known = { promptTokens: 1_000, completionTokens: 5, totalTokens: 1_005 };

  it.each<[string, JsonObject, object]>([
    ["a total of cache writes", { cache_creation_input_tokens: 7 }, { cacheWriteTokens: 7 }],
    [
      "cache writes by life",
      {
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
      },
      { cacheWriteTokens: 9, cacheWrite1hTokens: 5 },
    ],
    [
      "parts without a total",
      { cache_creation: { ephemeral_1h_input_tokens: 5 } },
      { cacheWriteTokens: 5, cacheWrite1hTokens: 5 },
    ],
    [
      "writes among the details",
      { prompt_tokens_details: { cache_creation_tokens: 3 } },
      { cacheWriteTokens: 3 },
    ],
    ["reads beside the details", { cache_read_input_tokens: 8 }, { cachedTokens: 8 }],
    [
      "reads twice",
      { cache_read_input_tokens: 8, prompt_tokens_details: { cached_tokens: 8 } },
      { cachedTokens: 8 },
    ],
    [
      "audio and images from the cache",
      {
        prompt_tokens_details: {
          image_tokens: 6,
          cached_tokens: 5,
          cached_tokens_details: { audio_tokens: 2, image_tokens: 3 },
        },
      },
      { imagePromptTokens: 6, cachedTokens: 5, cachedAudioTokens: 2, cachedImageTokens: 3 },
    ],
    [
      "image tokens of a completion",
      { completion_tokens_details: { image_tokens: 4 } },
      { imageCompletionTokens: 4 },
    ],
    ["nothing that is no count", { cache_creation_input_tokens: "7", cache_creation: [1] }, {}],
  ])("is read: %s", (_what, more, expected) => {
    expect(readUsage({ ...totals, ...more })).toEqual({ ...known, ...expected });
  });

  it("is a service tier, the usage's own word before the reply's", () => {
    expect(readUsage(totals, "flex")).toEqual({ ...known, serviceTier: "flex" });
    expect(readUsage({ ...totals, service_tier: "batch" }, "flex")).toEqual({
      ...known,
      serviceTier: "batch",
    });
    for (const none of [null, "", 4, undefined]) expect(readUsage(totals, none)).toEqual(known);
  });
});

describe("readImageUsage", () => {
  it("takes completion tokens for images, but for those that are text", () => {
    const details = {
      text_tokens: 50,
      image_tokens: 323,
      cached_tokens: 10,
      cached_tokens_details: { image_tokens: 8 },
    };
    const usage = {
      input_tokens: 373,
      output_tokens: 272,
      total_tokens: 645,
      input_tokens_details: details,
    };
    expect(readImageUsage(usage)).toEqual({
      promptTokens: 373,
      completionTokens: 272,
      totalTokens: 645,
      cachedTokens: 10,
      imagePromptTokens: 323,
      cachedImageTokens: 8,
      imageCompletionTokens: 272,
    });
    expect(readImageUsage({ ...usage, output_tokens_details: { text_tokens: 2 } })).toMatchObject({
      imageCompletionTokens: 270,
    });
    expect(
      readImageUsage({ ...usage, output_tokens_details: { image_tokens: 200 } }),
    ).toMatchObject({
      imageCompletionTokens: 200,
    });
  });

  it.each([undefined, null, [], {}, { input_tokens: 1 }, { input_tokens: 1, output_tokens: -1 }])(
    "is unknown for %j",
    (value) => {
      expect(readImageUsage(value)).toBeUndefined();
    },
  );
});
