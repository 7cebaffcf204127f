import { describe, expect, it } from "vitest";
import { bodyTexts } from "./texts.ts";
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

const token = (text: string, more: object = {}) => ({ token: text, logprob: -1, ...more });
const alternatives = { bytes: [97], top_logprobs: [token(" other"), token(" more")] };

/** Replies in the places of a native dialect. */
const PLACES: Readonly<Record<string, (tokens: object[]) => object>> = {
  "the last event of Responses": (logprobs) => ({
    type: "response.completed",
    response: { output: [{ role: "assistant", content: [{ text: "a text", logprobs }] }] },
  }),
  "a whole reply of Gemini": (tokens) => ({
    candidates: [
      {
        content: { role: "model", parts: [{ text: "a text" }] },
        logprobsResult: {
          chosenCandidates: tokens.map((each) => ({ ...each, tokenId: 5 })),
          topCandidates: [{ candidates: tokens }],
        },
      },
    ],
  }),
};

describe.each(Object.entries(PLACES))("%s", (_place, made) => {
  const textsIn = (tokens: object[]): string[] =>
    bodyTexts({ output: made(tokens) as never }, "passthrough").texts.map(({ text }) => text);

  it("has the text alone, and no token of it", () => {
    expect(textsIn([token(" a", alternatives), token(" text")])).toEqual(
      expect.not.arrayContaining([" a", " text", " other", " more"]),
    );
    expect(textsIn([token(" a")])).toContain("a text");
  });

  it.each([
    ["a text as long as no token", token(" long".repeat(60))],
    ["another member", token(" a", { note: "words of a note" })],
    ["a text among the bytes", token(" a", { bytes: ["words of a note"] })],
    ["no probability", { token: " words of a note" }],
    ["tokens within tokens that are none", token(" a", { top_logprobs: [{ token: " words" }] })],
  ])("has the texts of a list with %s", (_what, odd) => {
    const found = textsIn([token(" first"), odd]);
    expect(found).toContain(" first");
    expect(found.some((text) => / long|words/.test(text))).toBe(true);
  });

  it("has the texts of such a list in the input of a tool", () => {
    const { texts } = bodyTexts(
      { output: { item: { input: made([token(" a")]) as never } } },
      "passthrough",
    );
    expect(texts.map(({ text }) => text)).toContain(" a");
  });
});
