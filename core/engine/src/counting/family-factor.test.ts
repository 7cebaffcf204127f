import { describe, expect, it } from "vitest";
import { createFamilyFactors, familyOf } from "./family-factor.ts";

describe("the family of a model", () => {
  it.each([
    ["claude-3-5-sonnet-20241022", "claude-3"],
    ["anthropic/claude-sonnet-4-5", "claude-sonnet-4"],
    ["meta-llama/Llama-3.1-8B-Instruct", "llama-3"],
    ["gemini-2.5-pro", "gemini-2"],
    ["deepseek-chat", "deepseek-chat"],
    ["qwen2.5-72b", "qwen2"],
  ])("of %s is %s", (model, family) => {
    expect(familyOf(model)).toBe(family);
  });
});

describe("factors of families", () => {
  it("are 1 until the first report, then follow the reports", () => {
    const factors = createFamilyFactors();
    expect(factors.of("claude-3-opus")).toBe(1);
    factors.observe("claude-3-opus", 120, 100);
    expect(factors.of("claude-3-haiku")).toBeCloseTo(1.2);
    for (let index = 0; index < 60; index++) factors.observe("claude-3-opus", 140, 100);
    expect(factors.of("claude-3-opus")).toBeCloseTo(1.4);
    expect(factors.of("gemini-2")).toBe(1);
  });

  it("stay between 0.5 and 3, whatever is reported", () => {
    const factors = createFamilyFactors();
    factors.observe("a-1", 1, 1_000_000);
    factors.observe("b-1", 1_000_000, 100);
    expect([factors.of("a-1"), factors.of("b-1")]).toEqual([0.5, 3]);
  });

  it("are not learnt for OpenAI's own models, nor from prompts that are mostly framing", () => {
    const factors = createFamilyFactors();
    for (const model of ["gpt-4o", "openai/o3-mini", "chatgpt-4o-latest", "ft:gpt-4o:org/x"]) {
      factors.observe(model, 200, 100);
      expect(factors.of(model)).toBe(1);
      expect(factors.isLearnt(model)).toBe(false);
    }
    factors.observe("claude-3", 20, 10);
    expect(factors.of("claude-3")).toBe(1);
  });

  it("are kept for 256 families: the one heard of least recently goes", () => {
    const factors = createFamilyFactors();
    for (let index = 0; index <= 255; index++) factors.observe(`m${index}`, 200, 100);
    factors.observe("m0", 200, 100);
    factors.observe("m256", 200, 100);
    expect([factors.of("m0"), factors.of("m1"), factors.of("m256")]).toEqual([2, 1, 2]);
  });
});
