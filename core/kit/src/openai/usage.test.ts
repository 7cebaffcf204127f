import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/spec";
import { readUsage } from "./usage.ts";

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
    expect(readUsage({ prompt_tokens: 1, total_tokens: 1 })).toEqual({ promptTokens: 1, completionTokens: 0, totalTokens: 1 });
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
  ])("is unknown, not zero, for %j", (value) => {
    expect(readUsage(value)).toBeUndefined();
  });

  it("drops a part that is no count", () => {
    const details = { cached_tokens: -4, audio_tokens: "2" };
    expect(readUsage({ prompt_tokens: 1, completion_tokens: 1, prompt_tokens_details: details })).toEqual({
      promptTokens: 1,
      completionTokens: 1,
      totalTokens: 2,
    });
  });
});
