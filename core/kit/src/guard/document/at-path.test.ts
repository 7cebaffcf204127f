import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { documentOf } from "../../json/document.ts";
import { parseJson } from "../../json/parse.ts";
import { LateSignal } from "../../state/late-signal.ts";
import { type JsonPath, PathCopy } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { bodyTexts, withTexts } from "./texts.ts";

const MISSING = "missing";

type Edit = readonly [JsonPath, JsonValue];

/** A copy with another value at a path. It copies all containers on the path, as its own does not. */
function setAt(value: JsonValue, [key, ...rest]: JsonPath, to: JsonValue): JsonValue {
  if (key === undefined) return to;
  if (value === null) throw new TypeError("a path leads through a missing value");
  const before = Object.hasOwn(value as object, key) ? (value as JsonObject)[key] : null;
  const inner = setAt(before ?? null, rest, to);
  if (!Array.isArray(value)) return { ...(value as JsonObject), [key]: inner };
  const copy: JsonValue[] = value.slice();
  copy[key as number] = inner;
  return copy;
}

/** Every edit on a copy of its own. */
function oneByOne(value: JsonValue, edits: readonly Edit[]): JsonValue {
  return edits.reduce<JsonValue>((before, [path, to]) => setAt(before, path, to), value);
}

function together(value: JsonValue, edits: readonly Edit[]): JsonValue {
  const copy = new PathCopy(value);
  for (const [path, to] of edits) copy.set(path, to);
  return copy.value;
}

/** Whether a path leads through a name of a list, which JSON does not have. */
function namesInList(value: JsonValue, path: JsonPath): boolean {
  let at: unknown = value;
  for (const key of path) {
    if (Array.isArray(at) && typeof key === "string") return true;
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Record<string | number, unknown>)[key];
  }
  return false;
}

/** The text of a value, or that a path leads through a missing one. */
function written(make: () => JsonValue): string {
  try {
    return JSON.stringify(make());
  } catch (error) {
    if (error instanceof TypeError) return MISSING;
    throw error;
  }
}

const key = fc.oneof(
  fc.constantFrom("a", "b", "", "10", "2", "__proto__", "constructor"),
  fc.nat(3),
);
const path = fc.array(key, { maxLength: 5 });
/** JSON as a parser makes it: `__proto__` is a member like others. */
const json = fc
  .letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("x", 7, null, true),
      fc.array(tie("value"), { maxLength: 4 }),
      fc
        .array(fc.tuple(key, tie("value")), { maxLength: 4 })
        .map((members) => new Map(members.map(([name, member]) => [String(name), member]))),
    ),
  }))
  .value.map((value) => parseJson(textOf(value)) as JsonValue);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return `{${[...value].map(([name, one]) => `${JSON.stringify(name)}:${textOf(one)}`).join(",")}}`;
}

/** The paths of all strings and numbers. */
function leaves(value: JsonValue, at: JsonPath = []): JsonPath[] {
  if (typeof value !== "object" || value === null) return [at];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, member]) =>
    leaves(member as JsonValue, [...at, isList ? Number(name) : name]),
  );
}

describe("values at many paths", () => {
  it("are those of one edit after the other, in the same order of members", () => {
    const to = fc.oneof(fc.constantFrom("y", "z"), json);
    fc.assert(
      fc.property(json, fc.array(fc.tuple(path, to), { maxLength: 8 }), (value, drawn) => {
        const edits: Edit[] = [];
        for (const edit of drawn) {
          if (written(() => oneByOne(value, edits)) === MISSING) break;
          if (!namesInList(oneByOne(value, edits), edit[0])) edits.push(edit);
        }
        const before = JSON.stringify(value);
        expect(written(() => together(value, edits))).toBe(written(() => oneByOne(value, edits)));
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 1_000 },
    );
  });

  it("are set in the places that a value has, whatever they are called", () => {
    fc.assert(
      fc.property(json, (value) => {
        const edits = leaves(value).map((at, index): Edit => [at, `new ${index}`]);
        expect(JSON.stringify(together(value, edits))).toBe(JSON.stringify(oneByOne(value, edits)));
      }),
      { numRuns: 500 },
    );
  });

  it("leave the values that are set, and those beside the paths, as they are", () => {
    const beside = { c: 1 };
    const set = { d: 1 };
    const value = { a: { b: "x" }, beside };
    const made = together(value, [
      [["a"], set],
      [["a", "d"], 2],
    ]) as JsonObject;
    expect(made).toEqual({ a: { d: 2 }, beside });
    expect(made.beside).toBe(beside);
    expect(set).toEqual({ d: 1 });
  });
});

/** Every text of a body behind a mark. */
async function marked(text: string): Promise<string> {
  const document = documentOf(text);
  const edits = new Map<BodyText, string>();
  for (const one of bodyTexts(document.value, "chat").texts)
    if (one.isFixed !== true && one.parts === undefined) edits.set(one, `#${one.text}`);
  const made = await withTexts(document, edits, new LateSignal());
  // The value and the text of the made document say the same.
  expect(parseJson(String(made.bytes))).toEqual(made.value);
  return JSON.stringify(made.value);
}

describe("edited texts", () => {
  it("stand in members of every name, at the top too", async () => {
    const text = '{"z":"x","__proto__":{"__proto__":"x","10":"x","2":"x"},"a":["x",{"b":"x"}]}';
    const value = JSON.stringify(parseJson(text.replaceAll('"x"', '"#x"')));
    expect(await marked(text)).toBe(value);
  });

  it("take a time in proportion to the body, in one object and in one list", async () => {
    const members = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`k${at}`, "x"]));
    const messages = Array.from({ length: 40_000 }, () => ({ role: "user", content: "x" }));
    for (const body of [members, { metadata: members }, { messages }]) {
      const text = JSON.stringify(body);
      expect(await marked(text)).toBe(text.replaceAll('"x"', '"#x"'));
    }
  });

  it("are not set where the exchange ends between two stages", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, "x"]));
    const document = documentOf(JSON.stringify({ metadata }));
    const { texts } = bodyTexts(document.value, "chat");
    const ending = new LateSignal();
    const made = withTexts(document, new Map(texts.map((one) => [one, "y"])), ending);
    ending.abort(new Error("over"));
    await expect(made).rejects.toThrow("over");
  });
});
