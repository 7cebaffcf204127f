import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { CanonicalDigest } from "./canonical-digest.ts";

const NOTHING: ReadonlySet<string> = new Set();
const digest = (text: string, omitted = NOTHING): string =>
  new CanonicalDigest().document(documentOf(text), omitted).end();

/** Any JSON object, lone surrogates and all. */
const objects = fc.dictionary(
  fc.string({ unit: "binary" }),
  fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }),
  {
    noNullPrototype: true,
  },
) as fc.Arbitrary<JsonObject>;

/** The same value with its fields in another order. */
function shuffled(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(shuffled);
  if (typeof value !== "object" || value === null) return value ?? null;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([name, member]) => [name, shuffled(member)]));
}

describe("the digest of a document", () => {
  it("does not depend on the order of fields or on white space", () => {
    fc.assert(
      fc.property(objects, (value) => {
        expect(digest(JSON.stringify(shuffled(value), undefined, 3))).toBe(
          digest(JSON.stringify(value)),
        );
      }),
    );
  });

  it("is another for any two documents that say something else", () => {
    fc.assert(
      fc.property(objects, objects, (a, b) => {
        const isSame = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        expect(digest(JSON.stringify(a)) === digest(JSON.stringify(b))).toBe(isSame);
      }),
    );
  });

  it.each([
    ["a digit of an integer beyond 2^53", '{"seed":9007199254740993}', '{"seed":9007199254740992}'],
    [
      "the same, nested",
      '{"a":[{"seed":-9007199254740993}]}',
      '{"a":[{"seed":-9007199254740992}]}',
    ],
    ["a number and its text", '{"a":1}', '{"a":"1"}'],
    [
      "which of two such integers is where",
      '{"a":[9007199254740993,9007199254740992]}',
      '{"a":[9007199254740992,9007199254740993]}',
    ],
    ["null and nothing", '{"a":null}', "{}"],
    ["an empty list and an empty object", '{"a":[]}', '{"a":{}}'],
    ["where a text ends", '{"a":["ab","c"]}', '{"a":["a","bc"]}'],
    ["which field it is", '{"a":"b","c":""}', '{"a":"","c":"b"}'],
    ["a lone surrogate", String.raw`{"a":"\ud800"}`, String.raw`{"a":"\ud801"}`],
    ["a lone surrogate and its text", String.raw`{"a":"\ud800"}`, String.raw`{"a":"\"\\ud800\""}`],
    ["one byte of an image", `{"a":"${"x".repeat(200_000)}y"}`, `{"a":"${"x".repeat(200_000)}z"}`],
  ])("tells %s", (_what, a, b) => {
    expect(digest(a)).not.toBe(digest(b));
  });

  it.each([
    ["how a number is written", '{"a":1.50}', '{"a":15e-1}'],
    ["how a character is written", '{"a":"é"}', String.raw`{"a":"\u00e9"}`],
    ["what is left out", '{"a":1,"user":"x"}', '{"user":"y","a":1}'],
  ])("does not tell %s", (_what, a, b) => {
    expect(digest(a, new Set(["user"]))).toBe(digest(b, new Set(["user"])));
  });
});

function sorted(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(sorted);
  if (Object.is(value, -0)) return 0;
  if (typeof value !== "object" || value === null) return value ?? null;
  const names = Object.keys(value).toSorted();
  return names
    .map((name) => [name, sorted((value as JsonObject)[name])])
    .concat([["object", true]]) as JsonValue;
}
