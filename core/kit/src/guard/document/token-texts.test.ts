import { describe, expect, it } from "vitest";
import { withoutTokens } from "./token-texts.ts";

const TOKENS = { content: [{ token: "secret", logprob: -1, bytes: [1], top_logprobs: [] }] };

describe("a reply without log probabilities", () => {
  it.each([
    [{ choices: [{ index: 0, logprobs: TOKENS }] }, { choices: [{ index: 0, logprobs: null }] }],
    [
      { output: [{ content: [{ text: "a", logprobs: TOKENS.content }] }] },
      { output: [{ content: [{ text: "a", logprobs: [] }] }] },
    ],
    [
      { candidates: [{ index: 0, avgLogprobs: -1, logprobsResult: TOKENS }, { index: 1 }] },
      { candidates: [{ index: 0, avgLogprobs: -1 }, { index: 1 }] },
    ],
  ])("of %j is %j", (reply, expected) => {
    expect(withoutTokens(reply)).toEqual(expected);
  });

  it("is the same one where it has none", () => {
    for (const value of [
      { choices: [{ logprobs: null, message: { content: "logprobs" } }] },
      { output: [{ content: [{ logprobs: [] }] }], logprobs: 5 },
      [{ a: [null, 1, "logprobsResult"] }],
    ])
      expect(withoutTokens(value)).toBe(value);
  });

  it("keeps the arguments of calls", () => {
    const args = { logprobs: [1], logprobsResult: { a: 1 } };
    const value = { parts: [{ functionCall: { args } }, { input: args, logprobs: [1] }] };
    expect(withoutTokens(value)).toEqual({
      parts: [{ functionCall: { args } }, { input: args, logprobs: [] }],
    });
  });
});
