import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { amount } from "@sluice/testing";
import {
  documentOf,
  jsonReply,
  parsedDocument,
  replaceMember,
  unwrittenPieces,
  writtenDocument,
} from "./document.ts";
import { hostileTexts, objectText, valueText } from "./json-text.fixture.ts";
import { readMembers } from "./members.ts";
import { parseJson } from "./parse.ts";

const MAX_MS = 10_000;

const name = fc
  .oneof(fc.constantFrom("model", "seed", "a", "", "stream_options"), fc.string({ maxLength: 8 }))
  .filter((text) => text !== "__proto__");
const changes = fc
  .array(
    fc.tuple(
      name,
      fc.oneof(
        fc.constant(undefined),
        valueText.map((text) => parseJson(text) as JsonValue),
      ),
    ),
    { maxLength: 4 },
  )
  .map((entries) => Object.fromEntries(entries) as JsonObject);

/** What changing the parsed object gives. */
function changed(text: string, by: JsonObject): unknown {
  const members = new Map(Object.entries(parseJson(text) as JsonObject));
  for (const [key, value] of Object.entries(by)) {
    if (value === undefined) members.delete(key);
    else members.set(key, value);
  }
  return plain(Object.fromEntries(members));
}

/** As JSON would give it back: JSON.stringify writes -0 as 0. */
function plain(value: unknown): unknown {
  return parseJson(JSON.stringify(value));
}

function textsOf(text: string, without: JsonObject): string[] {
  return readMembers(text)
    .members.filter(({ key }) => !Object.hasOwn(without, key))
    .map(({ start, end }) => text.slice(start, end));
}

/** Runs something that may throw: hostile text need not be JSON. */
function attempt(run: () => unknown): void {
  try {
    run();
  } catch {
    // How long it took is what counts.
  }
}

describe("a document with changes", () => {
  it("parses to what changing the parsed object gives", () => {
    fc.assert(
      fc.property(objectText, changes, (text, by) => {
        const document = documentOf(text).with(by);
        const expected = changed(text, by);
        expect(isDeepStrictEqual(plain(parseJson(String(document.bytes))), expected)).toBe(true);
        expect(isDeepStrictEqual(plain(document.value), expected)).toBe(true);
      }),
      { numRuns: amount(200, 1_000) },
    );
  });

  it("keeps the text of every member that was not changed", () => {
    fc.assert(
      fc.property(objectText, changes, (text, by) => {
        expect(textsOf(String(documentOf(text).with(by).bytes), by)).toEqual(textsOf(text, by));
      }),
      { numRuns: amount(100, 500) },
    );
  });

  it("gives the same result in one step and in several", () => {
    fc.assert(
      fc.property(objectText, changes, changes, (text, first, second) => {
        const twice = documentOf(text).with(first).with(second);
        const once = documentOf(text).with({ ...first, ...second });
        expect(
          isDeepStrictEqual(parseJson(String(twice.bytes)), parseJson(String(once.bytes))),
        ).toBe(true);
      }),
    );
  });

  it("has the same characters where it is large, at once and in pieces", () => {
    const filler = "x".repeat(200_000);
    const withMember = (text: string, member: string): string =>
      text.replace("{", /^\{\s*\}/.test(text) ? `{${member}` : `{${member},`);
    fc.assert(
      fc.property(objectText, changes, changes, (given, first, second) => {
        const text = given.trim();
        const small = documentOf(withMember(text, '"@":0'));
        const expected = String(small.with(first).with(second).bytes);
        const document = documentOf(withMember(text, `"@":"${filler}"`))
          .with(first)
          .with(second);
        const whole = [...(unwrittenPieces(document) ?? [String(document.bytes)])].join("");
        expect(whole.replace(`"${filler}"`, "0")).toBe(expected);
        expect(String(document.bytes)).toBe(whole);
      }),
      { numRuns: amount(60, 300) },
    );
  });

  it("keeps the digits of a 64-bit integer", () => {
    const document = documentOf('{"seed": -9223372036854775807, "model":"a"}').with({ model: "b" });
    expect(document.bytes).toBe('{"seed": -9223372036854775807,"model":"b"}');
  });

  it("replaces a repeated member by one", () => {
    expect(documentOf('{"model":"a","x":1,"model":"b"}').with({ model: "c" }).bytes).toBe(
      '{"model":"c","x":1}',
    );
  });

  it("removes a member written with escapes", () => {
    expect(documentOf('{"t\\u0061gs":["x"],"a":1}').with({ tags: undefined }).bytes).toBe(
      '{"a":1}',
    );
  });

  it("returns the same document when nothing would change", () => {
    const bytes = Buffer.from('{"model":"a","n":1,"stop":null}');
    const document = documentOf(bytes.toString(), bytes);
    expect(document.with({})).toBe(document);
    expect(document.with({ model: "a", n: 1, stop: null })).toBe(document);
    expect(document.with({ absent: undefined })).toBe(document);
    expect(document.bytes).toBe(bytes);
  });

  it("leaves the document it was made from as it was", () => {
    const bytes = Buffer.from('{"model":"a"}');
    const document = parsedDocument(bytes.toString(), { model: "a" }, bytes);
    const other = document.with({ model: "b" });
    expect(document.bytes).toBe(bytes);
    expect(document.value).toEqual({ model: "a" });
    expect(other.value).toEqual({ model: "b" });
  });

  it.each(Object.entries(hostileTexts).filter(([, text]) => text.endsWith("}")))(
    "edits in linear time: %s",
    (_name, text) => {
      const started = performance.now();
      attempt(() => documentOf(text).with({ model: "a" }));
      expect(performance.now() - started).toBeLessThan(MAX_MS);
    },
  );
});

describe("a document made from an object", () => {
  it("writes its text on demand", () => {
    expect(writtenDocument({ a: 1 }).with({ b: 2, a: undefined }).bytes).toBe('{"b":2}');
    expect(jsonReply(["x"])).toMatchObject({ kind: "whole", status: 200 });
    expect(jsonReply(["x"]).document.bytes).toBe('["x"]');
  });
});

describe("replaceMember", () => {
  it("replaces one value and nothing else", () => {
    expect(replaceMember('{ "a":"model", "model" : "x" , "z":1.0 }', "model", '"y"')).toBe(
      '{ "a":"model", "model" : "y" , "z":1.0 }',
    );
  });

  it("returns text without the member as it is", () => {
    expect(replaceMember('{"a":{"model":1}}', "model", '"y"')).toBe('{"a":{"model":1}}');
    expect(replaceMember("no JSON", "model", '"y"')).toBe("no JSON");
  });
});
