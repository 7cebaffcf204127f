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
  const KEY = "key";

  it("are 1 until the first report, then follow the reports", () => {
    const factors = createFamilyFactors();
    expect(factors.of("claude-3-opus")).toBe(1);
    factors.observe("claude-3-opus", KEY, { reported: 120, counted: 100 });
    expect(factors.of("claude-3-haiku")).toBeCloseTo(1.2);
    for (let index = 0; index < 60; index++)
      factors.observe("claude-3-opus", KEY, { reported: 140, counted: 100 });
    expect(factors.of("claude-3-opus")).toBeCloseTo(1.4);
    expect(factors.of("gemini-2")).toBe(1);
  });

  it("are not moved by one key beside another, however many its reports are", () => {
    const factors = createFamilyFactors();
    factors.observe("claude-sonnet-4", "quiet", { reported: 110, counted: 100 });
    for (let index = 0; index < 1_000; index++)
      factors.observe("claude-sonnet-4-5", "flood", { reported: 400, counted: 100 });
    expect(factors.of("claude-sonnet-4")).toBeCloseTo(1.1);
  });

  it("are the lower median of the keys' averages", () => {
    const factors = createFamilyFactors();
    for (const [keyId, reported] of [
      ["a", 150],
      ["b", 120],
      ["c", 290],
      ["d", 140],
    ] as const)
      factors.observe("claude-3", keyId, { reported, counted: 100 });
    expect(factors.of("claude-3")).toBeCloseTo(1.4);
    for (let index = 0; index < 60; index++)
      factors.observe("claude-3", "b", { reported: 145, counted: 100 });
    expect(factors.of("claude-3")).toBeCloseTo(1.45);
  });

  it("are of 32 keys: the one heard of least recently goes", () => {
    const factors = createFamilyFactors();
    const observe = (keyId: string, reported: number): void =>
      factors.observe("claude-3", keyId, { reported, counted: 100 });
    for (let index = 0; index < 16; index++) observe(`old-${index}`, 100);
    for (let index = 0; index < 16; index++) observe(`new-${index}`, 200);
    expect(factors.of("claude-3")).toBe(1);
    observe("old-0", 100);
    expect(factors.of("claude-3")).toBe(1);
    observe("new-16", 200);
    expect(factors.of("claude-3")).toBe(2);
    for (let index = 1; index < 16; index++) observe(`old-${index}`, 100);
    expect(factors.of("claude-3")).toBe(1);
  });

  it("stay between 0.5 and 3, whatever is reported", () => {
    const factors = createFamilyFactors();
    factors.observe("a-1", KEY, { reported: 1, counted: 1_000_000 });
    factors.observe("b-1", KEY, { reported: 1_000_000, counted: 100 });
    expect([factors.of("a-1"), factors.of("b-1")]).toEqual([0.5, 3]);
  });

  it("are not learnt for OpenAI's own models, nor from prompts that are mostly framing", () => {
    const factors = createFamilyFactors();
    for (const model of ["gpt-4o", "openai/o3-mini", "chatgpt-4o-latest", "ft:gpt-4o:org/x"]) {
      factors.observe(model, KEY, { reported: 200, counted: 100 });
      expect(factors.of(model)).toBe(1);
      expect(factors.isLearnt(model)).toBe(false);
    }
    factors.observe("claude-3", KEY, { reported: 20, counted: 10 });
    expect(factors.of("claude-3")).toBe(1);
  });

  it("are kept for 256 families: the one heard of least recently goes", () => {
    const factors = createFamilyFactors();
    const observe = (model: string): void =>
      factors.observe(model, KEY, { reported: 200, counted: 100 });
    for (let index = 0; index <= 255; index++) observe(`m${index}`);
    observe("m0");
    observe("m256");
    expect([factors.of("m0"), factors.of("m1"), factors.of("m256")]).toEqual([2, 1, 2]);
  });
});
