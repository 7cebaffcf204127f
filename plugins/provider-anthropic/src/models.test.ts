import { describe, expect, it } from "vitest";
import { supports } from "./models.ts";

describe("what Claude's families can do", () => {
  it.each([
    ["claude-instant-1.2", "images", false],
    ["claude-instant-1.2", "tools", false],
    ["claude-3-7-sonnet-20250219", "schema", false],
    ["claude-3-7-sonnet-20250219", "images", undefined],
    ["claude-sonnet-4-20250514", "schema", false],
    ["claude-sonnet-4@20250514", "schema", false],
    ["claude-opus-4-0", "schema", false],
    ["claude-opus-4-1-20250805", "schema", false],
    ["claude-opus-4-1", "schema", false],
    ["claude-opus-4-5-20251101", "schema", undefined],
    ["claude-haiku-4-5", "schema", undefined],
    ["claude-sonnet-4-5-20250929", "schema", undefined],
    ["claude-opus-4-7", "schema", undefined],
    ["claude-opus-4-7", "audio", false],
    ["claude-opus-4-7", "speech", false],
  ] as const)("%s, %s: %s", (model, feature, expected) => {
    expect(supports(feature, model)).toBe(expected);
  });
});
