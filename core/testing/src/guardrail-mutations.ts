/** Mutations of a denied text: attempts to evade a guardrail. */

import type { TextPart } from "@sluice/contract";

/** A text that means what another one meant. */
export interface Mutation {
  readonly kind: string;
  readonly text: string;
  /** Where it stands, when it is not the usual place. */
  readonly part?: TextPart;
}

/** Letters of other alphabets that look like Latin ones (Unicode TR 39, confusables). */
const HOMOGLYPHS: Readonly<Record<string, string>> = {
  a: "\u0430",
  c: "\u0441",
  e: "\u0435",
  i: "\u0456",
  o: "\u043e",
  p: "\u0440",
  s: "\u0455",
  x: "\u0445",
  y: "\u0443",
};
const ZERO_WIDTH = ["\u200b", "\u200c", "\u200d", "\u2060", "\u00ad"];
const ROLES: readonly TextPart[] = [
  "system",
  "user",
  "assistant",
  "tool",
  "arguments",
  "tools",
  "names",
  "reasoning",
  "refusal",
];

/** The mutations of one text. */
export function mutations(text: string): Mutation[] {
  const middle = Math.floor(text.length / 2);
  const all: Mutation[] = [
    ...ZERO_WIDTH.map((mark) => ({
      kind: "zero-width",
      text: text.slice(0, middle) + mark + text.slice(middle),
    })),
    { kind: "zero-width", text: [...text].join("\u200b") },
    {
      kind: "homoglyph",
      text: text.replace(/[aceiopsxy]/, (letter) => HOMOGLYPHS[letter] ?? letter),
    },
    {
      kind: "homoglyph",
      text: text.replace(/[aceiopsxy]/g, (letter) => HOMOGLYPHS[letter] ?? letter),
    },
    { kind: "case", text: text.toUpperCase() },
    {
      kind: "case",
      text: [...text]
        .map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase()))
        .join(""),
    },
    {
      kind: "full width",
      text: text.replace(/[!-~]/g, (letter) =>
        String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0),
      ),
    },
    { kind: "base64", text: Buffer.from(text).toString("base64") },
    { kind: "split", text: `${text.slice(0, middle)} ${text.slice(middle)}` },
    { kind: "split", text: `${text.slice(0, middle)}\n${text.slice(middle)}` },
    { kind: "split", text: [...text].join(".") },
    {
      kind: "json escapes",
      text: [...text]
        .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join(""),
    },
    { kind: "reversed", text: [...text].toReversed().join("") },
    ...ROLES.map((part) => ({ kind: "role move", text, part })),
  ];
  // A text without letters has no other case: that is no mutation.
  return all.filter((mutation) => mutation.part !== undefined || mutation.text !== text);
}
