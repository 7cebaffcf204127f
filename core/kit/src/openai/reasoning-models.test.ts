import { describe, expect, it } from "vitest";
import { reasoningTraits } from "./reasoning-models.ts";

describe("a model's name", () => {
  it.each([
    "o3",
    "o4-mini",
    "openai/o1-pro",
    "gpt-5",
    "gpt-5-mini",
    "ft:gpt-5:org",
    "deepseek-ai/DeepSeek-R1",
    "deepseek-reasoner",
    "qwen3-thinking",
    "magistral-small",
  ])("says that %s thinks", (name) => expect(reasoningTraits(name)).toEqual({ reasons: true }));

  it.each([
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-5-chat-latest",
    "llama-3.3-70b",
    "claude-sonnet",
    "mistral-small",
    "foo1",
  ])("says nothing of %s", (name) => expect(reasoningTraits(name)).toBeUndefined());
});
