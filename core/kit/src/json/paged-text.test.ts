import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { parsedDocument, unwrittenPieces } from "./document.ts";
import { decodePages, PAGE_CHARACTERS, type PagedText } from "./paged-text.ts";
import { parseInSlices, type Sliced } from "./sliced/parse.ts";
import { atOnce } from "../stages.ts";

const UNBOUNDED = { maxDepth: Infinity, maxNodes: Infinity };
const PAGES = 2.5;

const decode = (text: string): PagedText | undefined => atOnce(decodePages(Buffer.from(text)));
const parse = (text: PagedText): Sliced => atOnce(parseInSlices(text, UNBOUNDED));

/** The same pattern over several pages, moved by some characters. */
const filled = (pattern: string, moved: number): string =>
  "-".repeat(moved) + pattern.repeat((PAGES * PAGE_CHARACTERS) / pattern.length);

/** Characters of one, two, three and four bytes, escapes and quotes at every place of a page's end. */
const PATTERNS = [
  "word ",
  "\u{1f600}",
  "a\u{1f600}\u6f22\u00e9",
  'line\nof "words"\\',
  "\u0001\ud800",
];

describe("a text in pages", () => {
  it.each(PATTERNS.flatMap((pattern) => [0, 1, 2, 3].map((moved) => [pattern, moved] as const)))(
    "of %j moved by %i is read as the text in one place is",
    (pattern, moved) => {
      const value: JsonObject = {
        a: filled(pattern, moved),
        list: Array.from({ length: 20_000 }, (_, at) => ({ at, pattern })),
        [filled(pattern, moved + 1)]: "b",
      };
      const text = JSON.stringify(value);
      const paged = decode(text);
      if (paged === undefined) throw new Error("It is UTF-8.");
      expect([...paged.pieces(0, paged.length)].join("") === text).toBe(true);
      const { value: parsed, members } = parse(paged);
      expect(JSON.stringify(parsed) === text).toBe(true);
      const texts = members.map(({ valueStart, end }) => paged.slice(valueStart, end));
      const expected = Object.values(value).map((member) => JSON.stringify(member));
      expect(texts.length).toBe(expected.length);
      expect(texts.every((one, at) => one === expected[at])).toBe(true);
    },
    60_000,
  );

  it.each(PATTERNS)("of %j is written in pieces that end between two characters", (pattern) => {
    const value: JsonObject = { model: "a", a: filled(pattern, 1), b: [1] };
    const paged = decode(JSON.stringify(value));
    if (paged === undefined) throw new Error("It is UTF-8.");
    const { members } = parse(paged);
    const document = parsedDocument(paged, value, undefined, members).with({ model: "b" });
    const expected = JSON.stringify({ ...value, model: "b" });
    const pieces = [...(unwrittenPieces(document) ?? [])];
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    expect(bytes.equals(Buffer.from(expected))).toBe(true);
    expect(String(document.bytes) === expected).toBe(true);
  });

  it("has no byte order mark, and none for bytes that are not UTF-8", () => {
    expect(decode('\ufeff{"a":1}')?.slice(0, 100)).toBe('{"a":1}');
    expect(decode("")?.length).toBe(0);
    expect(atOnce(decodePages(Buffer.from([0x22, 0xff, 0x22])))).toBeUndefined();
  });

  it("ends where its characters end", () => {
    const paged = decode("abc");
    expect([paged?.charCodeAt(2), paged?.charCodeAt(3)]).toEqual([99, NaN]);
    expect(paged?.slice(1, 9)).toBe("bc");
    expect(paged?.indexWithin("c", 0, 2)).toBe(-1);
    expect(paged?.indexWithin("c", 0, 9)).toBe(2);
  });
});
