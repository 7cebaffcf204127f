import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import { hostileTexts, objectText } from "../json-text.fixture.ts";
import { readMembers, type ShapeLimits } from "../members.ts";
import { parseJson } from "../parse.ts";
import { parseInSlices, type Sliced } from "./parse.ts";

const UNBOUNDED: ShapeLimits = { maxDepth: Infinity, maxNodes: Infinity };
/** As much text as makes several pieces. */
const FILL = 70_000;

function parse(text: string, limits = UNBOUNDED): Sliced {
  const work = parseInSlices(text, limits);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** What `JSON.parse` says of a text: the same for both, with the order of members. */
function outcome(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return error instanceof SyntaxError ? "SyntaxError" : String(error);
  }
}

/** The values of an object that has members. */
function nodesIn({ members, nodes }: Pick<Sliced, "members" | "nodes">): number | undefined {
  return members.length === 0 ? undefined : nodes;
}

/** Texts that are longer than a piece, so that values are taken apart at every level. */
const filler = fc.constantFrom(
  "",
  `"${"x".repeat(FILL)}"`,
  `"${"\\u00e9\\\\\\n".repeat(FILL / 8)}"`,
  `[${"1,".repeat(FILL / 2)}2]`,
  `{${Array.from({ length: FILL / 8 }, (_, index) => `"k${index}":1`).join(",")}}`,
  `[${'{"a":[]},'.repeat(FILL / 8)}{}]`,
  " ".repeat(FILL),
);

const largeText = fc
  .tuple(objectText, filler, objectText, filler, fc.boolean(), fc.integer({ min: 0, max: 3 }))
  .map(([first, one, second, two, isList, depth]) => {
    const items = [first, one, second, two].filter((item) => item.trim() !== "" || item === "");
    const inner = isList
      ? `[${items.filter((item) => item !== "").join(",")}]`
      : `{${items.map((item, index) => `"__proto__${index % 2 === 0 ? "" : index}" : ${item === "" ? "null" : item}`).join(" , ")}}`;
    return `${'{"a":1,"b":['.repeat(depth)}${inner}${'],"b2":{}}'.repeat(depth)}`;
  });

describe("a text that is parsed in slices", () => {
  it.each([524_280, 524_286, 524_287, 524_288, 524_289, 524_290, 1_048_576, 1_048_580])(
    "has the value of a string of about %i characters",
    (length) => {
      for (const content of [
        "a".repeat(length),
        "\u6f22".repeat(length),
        "\ud83d\ude00".repeat(length / 2),
        `${"a".repeat(length - 2)}\\n`,
        `${"a".repeat(length - 2)}\\"b`,
        `\\\\${"a".repeat(length)}`,
        "\\u0061".repeat(length / 6),
      ]) {
        const text = `{"a":"x","b":["${content}","${content}"],"c":"\\t"}`;
        expect(outcome(() => parse(text).value) === outcome(() => parseJson(text))).toBe(true);
        expect(() => parse(text.slice(0, length))).toThrow(SyntaxError);
      }
    },
  );

  it.each<[string, (run: number) => string]>([
    ["white space before the body", (run) => `${" ".repeat(run)}{"a":1}`],
    ["white space before a member", (run) => `{"a":1,${"\n".repeat(run)}"b":2}`],
    ["white space before a colon", (run) => `{"a"${"\t".repeat(run)}:1}`],
    ["white space before a value", (run) => `{"a":[1,${" ".repeat(run)}{}]}`],
    ["white space before an end", (run) => `{"a":[1${" ".repeat(run)}]}`],
    ["digits", (run) => `{"a":${"1".repeat(run)},"b":2}`],
  ])("has at most 1 MiB of %s", (_what, textOf) => {
    expect(parse(textOf(1_000_000)).fault).toBeUndefined();
    expect(parse(textOf(1_200_000)).fault).toBe("run");
  });

  it("has the value that JSON.parse has, and the members of readMembers", () => {
    fc.assert(
      fc.property(fc.oneof(objectText, largeText), (text) => {
        const sliced = parse(text);
        expect(JSON.stringify(sliced.value)).toBe(JSON.stringify(parseJson(text)));
        expect(sliced.members).toEqual(readMembers(text).members);
        expect(nodesIn(sliced)).toBe(nodesIn(readMembers(text)));
        expect(sliced.fault).toBeUndefined();
      }),
      { numRuns: amount(30, 150) },
    );
  });

  it("is refused where JSON.parse refuses it: one character more, less or another", () => {
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      isNearEnd: fc.boolean(),
      removed: fc.integer({ min: 0, max: 1 }),
      added: fc.constantFrom(
        "",
        ",",
        "]",
        "}",
        "[",
        "{",
        '"',
        ":",
        "\\",
        "0",
        " ",
        "\n",
        "\u00a0",
        "x",
      ),
    });
    fc.assert(
      fc.property(
        fc.oneof(objectText, largeText),
        change,
        (text, { at, isNearEnd, removed, added }) => {
          const place = isNearEnd
            ? text.length - Math.floor(at * Math.min(8, text.length))
            : Math.floor(at * text.length);
          const changed = text.slice(0, place) + added + text.slice(place + removed);
          expect(outcome(() => parse(changed).value)).toBe(outcome(() => parseJson(changed)));
        },
      ),
      { numRuns: amount(80, 400) },
    );
  });

  it.each(
    [
      `"${"x".repeat(FILL)}"`,
      `[${"1,".repeat(FILL)}1]`,
      `{${'"k":1,'.repeat(FILL / 6)}"k":2}`,
    ].flatMap((large) => [
      `[${large},]`,
      `[,${large}]`,
      `[${large}${large}]`,
      `[${large},,1]`,
      `[1 ${large}]`,
      `[${large} 1]`,
      `{"a":${large},}`,
      `{"a" ${large}}`,
      `{"a":1 ${large}}`,
      `{"a":${large} "b":1}`,
      `{${large}}`,
      `{"a":${large}:1}`,
      `{"a":${large}]`,
      `[${large}`,
      `${large},1`,
      `[${large}]]`,
      `[${large}] x`,
      `{"a":1,"b":{"c":${large}},"a":3,"1":4}`,
      `{"__proto__":${large}}`,
      `[[[[${large}]]], {"b":[${large}]}]`,
    ]),
  )("is read as JSON.parse reads it: %#", (text) => {
    expect(outcome(() => parse(text).value)).toBe(outcome(() => parseJson(text)));
  });

  describe("with a string of several parts", () => {
    // Three units a time, so that parts end within pairs.
    const long = `"${"x\u{1f600}".repeat(450_000)}"`;
    it.each([
      ["alone", `{"a":${long}}`],
      ["between others", `{"a":[1,${long},"\\n",${long}],"b":"${long.slice(1)}}`],
      ["as a name", `{${long}:1,"b":2}`],
      ["without its end", `{"a":${long.slice(0, -1)}`],
      ["with a control character", `{"a":${long.slice(0, -1)}\n"}`],
    ])("%s is read as JSON.parse reads it", (_where, text) => {
      expect(outcome(() => parse(text).value) === outcome(() => parseJson(text))).toBe(true);
    });
  });

  it.each(Object.entries(hostileTexts))("takes linear time: %s", (_name, text) => {
    const startedMs = performance.now();
    outcome(() => parse(text).value);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });

  it("has the bounds of readMembers", () => {
    fc.assert(
      fc.property(
        objectText,
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 1, max: 12 }),
        (text, maxDepth, maxNodes) => {
          expect(parse(text, { maxDepth, maxNodes }).fault).toBe(
            readMembers(text, { maxDepth, maxNodes }).fault,
          );
        },
      ),
    );
    expect(parse(`{"a":${"[".repeat(4_000_000)}`, { maxDepth: 64, maxNodes: 200_000 }).fault).toBe(
      "depth",
    );
  });

  it("sets no prototype", () => {
    const { value } = parse(`{"__proto__":{"polluted":[${"1,".repeat(FILL)}1]}}`);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
  });
});
