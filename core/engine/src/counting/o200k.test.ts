import fastCheck from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import tokens from "gpt-tokenizer/bpeRanks/o200k_base";
import { beforeAll, describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import { CORPORA } from "./corpora.fixture.ts";
import { createTextCounter, type TextCounter } from "./o200k.ts";
import { packVocabulary, type RawTokens, unpackAtOnce } from "./vocabulary.ts";

/** The most that a count may be wrong by. */
const TOLERANCE = 0.002;

let count: TextCounter;

beforeAll(() => {
  count = createTextCounter(unpackAtOnce(packVocabulary(tokens as RawTokens)));
});

const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

describe("a count of o200k_base", () => {
  it.each(Object.entries(CORPORA))("is the reference's, to 0.2 %%, for %s", (_name, text) => {
    expect(text.length).toBeGreaterThan(10_000);
    const wanted = exact(text);
    expect(Math.abs(count(text) - wanted) / wanted).toBeLessThanOrEqual(TOLERANCE);
  });

  it.each(Object.entries(CORPORA))(
    "is exactly the reference's within one window, for %s",
    (_name, text) => {
      const window = text.slice(0, 1_000);
      expect(count(window)).toBe(exact(window));
    },
  );

  it("takes special tokens for text", () => {
    expect(count("<|endoftext|>")).toBe(exact("<|endoftext|>"));
    expect(count("<|endoftext|>")).toBeGreaterThan(1);
    expect(count("a <|im_start|>system<|endofprompt|> b")).toBe(
      exact("a <|im_start|>system<|endofprompt|> b"),
    );
  });

  it("is exactly the reference's for any short text", () => {
    const text = fastCheck.oneof(
      fastCheck.string({ unit: "grapheme", maxLength: 200 }),
      fastCheck.string({ unit: "binary", maxLength: 200 }),
      fastCheck.stringMatching(/^[ \n\ta-zA-Z0-9'/.,!]{0,200}$/),
    );
    fastCheck.assert(
      fastCheck.property(text, (value) => {
        expect(count(value)).toBe(exact(value));
      }),
      { numRuns: amount(100, 500) },
    );
  });

  it("is a sum of tokens for long runs of one character", () => {
    expect(count("a".repeat(1_000_000))).toBe(125_000);
    expect(count(" ".repeat(100_000))).toBeLessThanOrEqual(
      Math.ceil((100_000 / 128) * (1 + TOLERANCE)),
    );
    expect(count("")).toBe(0);
  });

  it("counts a lone surrogate as the character that replaces it", () => {
    expect(count("\ud83d")).toBe(exact("\ufffd"));
    expect(count("a\udc00b")).toBe(exact("a\ufffdb"));
  });
});
