import { describe, expect, it } from "vitest";
import { CONTEXT, instanceOf, guardrailSetOf } from "@sluice/testing/guardrail-instances";
import { findPlaces, patternRule, reachOf, verdictOf } from "./find.ts";
import { foldText } from "./fold.ts";
import { applySpans } from "../document/spans.ts";
import { TextWindow } from "@sluice/runtime/guard";

const context = { ...CONTEXT, part: "content", place: "p", isPartial: false, offset: 0 } as const;
const edit = { kind: "edit", replace: (match: string) => ({ replacement: `<${match}>` }) } as const;

describe("finding", () => {
  it("tries every place, inside of a match too", () => {
    const places = findPlaces(foldText("aaa"), {
      rule: patternRule(/aa/g, 2),
      treatment: edit,
      context,
    });
    expect(places.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it("counts what a rule accepts of a match, and nothing longer than it may be", () => {
    const rule = patternRule(/\d+/g, 4, (match) => (match.startsWith("9") ? 0 : match.length));
    const places = findPlaces(foldText("123456"), { rule, treatment: edit, context });
    expect(places[0]).toMatchObject({ start: 0, end: 4 });
    const stretched = `1${"\u200b".repeat(8)}`.repeat(6);
    expect(findPlaces(foldText(stretched), { rule, treatment: edit, context })[0]).toMatchObject({
      start: 0,
      end: 28,
    });
    expect(findPlaces(foldText("9"), { rule, treatment: edit, context })).toEqual([]);
  });

  it("leaves alone what begins at the edge of a window", () => {
    const options = {
      rule: patternRule(/\bbad\b/g, 3),
      treatment: edit,
      context: { ...context, offset: 100 },
    };
    expect(findPlaces(foldText("bad, and much later again bad"), options)).toHaveLength(1);
  });
});

describe("a guardrail that blocks one thing and edits another", () => {
  const rules = [
    { rule: patternRule(/(?<!\d)\d{4}(?!\d)/g, 4), treatment: { kind: "block", reason: "four" } },
    { rule: patternRule(/mask/g, 4), treatment: edit },
  ] as const;
  const guardrail = {
    reach: reachOf(rules.map(({ rule }) => rule)),
    check: (text: string, _signal: AbortSignal, about: typeof context) =>
      verdictOf(
        rules.flatMap(({ rule, treatment }) =>
          findPlaces(foldText(text), { rule, treatment, context: about }),
        ),
      ),
  };

  it("edits also while an offence is not certain", async () => {
    const { set } = guardrailSetOf([instanceOf("both", guardrail as never)]);
    const window = new TextWindow({ set, reach: guardrail.reach, maxHeld: 10_000, context });
    const text = `mask ${"x".repeat(guardrail.reach)} 1234`;
    await window.push(text);
    expect(window.released).toBeGreaterThan(4);
    await window.push("5");
    await window.end();
    expect(applySpans(`${text}5`, window.takeSpans())).toBe(`<mask>${text.slice(4)}5`);
  });

  it("blocks once it is", async () => {
    const { set } = guardrailSetOf([instanceOf("both", guardrail as never)]);
    const window = new TextWindow({ set, reach: guardrail.reach, maxHeld: 10_000, context });
    await window.push("mask 1234");
    expect(() => window.end()).toThrow("blocked");
  });
});
