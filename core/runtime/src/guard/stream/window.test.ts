import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import type { EditSpan, GuardrailInstance } from "@sluice/contract";
import {
  blocking,
  CONTEXT,
  instanceOf,
  masking,
  guardrailSetOf,
} from "@sluice/testing/guardrail-instances";
import { applySpans } from "@sluice/kit/internals";
import { TextWindow } from "./window.ts";

/** Random texts. Ten thousand take half a second. */
const RUNS = Number(process.env.SLUICE_GUARD_RUNS ?? amount(2_000, 10_000));

const GUARDRAILS: readonly (readonly GuardrailInstance[])[] = [
  [instanceOf("word", masking(/\bab+c\b/gu, 12))].map((instance) => withBound(instance)),
  [instanceOf("digits", masking(/(?<!\d)\d{4}(?!\d)/g, 6, "[N]"))],
  [instanceOf("same", masking(/aa/g, 2, "A"))],
  [
    instanceOf("a", masking(/abc/g, 3, "x")),
    instanceOf("b", masking(/cab/g, 3, "")),
    instanceOf("c", masking(/b\u{1F600}/gu, 3, "smile")),
  ],
  [instanceOf("none", blocking(/\bbad\b/, 5)), instanceOf("mask", masking(/a1/g, 2))],
];

function withBound(instance: GuardrailInstance): GuardrailInstance {
  return { ...instance, guardrail: masking(/\bab{1,9}c\b/gu, 13) };
}

const texts = fc.array(
  fc.constantFrom("a", "b", "c", "1", "2", " ", "d", "\u{1F600}", "é", "bad", "abc", "1234"),
  {
    maxLength: 60,
  },
);
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });

const choices = fc.integer({ min: 0, max: GUARDRAILS.length - 1 });

interface Outcome {
  readonly text: string;
  readonly code: string | undefined;
}

async function run(
  instances: readonly GuardrailInstance[],
  pieces: readonly string[],
  isHeld: boolean,
  batch = 0,
): Promise<Outcome> {
  const { set } = guardrailSetOf(instances);
  const context = {
    ...CONTEXT,
    part: "content",
    place: "0/content",
    isPartial: true,
    offset: 0,
  } as const;
  const window = new TextWindow({
    set,
    reach: isHeld ? Infinity : set.reach,
    maxHeld: 100_000,
    context,
  });
  window.batch = batch;
  const whole = pieces.join("");
  const spans: EditSpan[] = [];
  const push = async (): Promise<void> => {
    for (const piece of pieces) {
      await window.push(piece);
      // Now and then the text has waited long enough.
      if (piece.length % 4 === 3) await window.decide();
      spans.push(...window.takeSpans());
    }
    await window.end();
    spans.push(...window.takeSpans());
  };
  const code = await push().then(
    () => undefined,
    (error: { readonly code: string }) => error.code,
  );
  spans.push(...window.takeSpans());
  if (code === undefined && window.released !== whole.length)
    throw new Error("a text was left undecided");
  return { text: applySpans(whole.slice(0, window.released), spans), code };
}

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, index = 0; at < text.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

describe("a window over a text in pieces", () => {
  it(`says of ${RUNS} random texts, cut anywhere, what is said of the whole`, async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        cuts,
        choices,
        fc.constantFrom(0, 5, 40),
        async (words, sizes, chosen, batch) => {
          const pieces = cut(words.join(""), sizes);
          const instances = GUARDRAILS[chosen]!;
          const [window, hold] = [
            await run(instances, pieces, false, batch),
            await run(instances, pieces, true),
          ];
          expect(window.code).toBe(hold.code);
          // Of what is blocked nothing is released that the offence is a part of.
          const allowed =
            hold.code === undefined
              ? hold.text
              : words.join("").slice(0, words.join("").search(/\bbad\b/));
          expect(hold.code === undefined ? window.text : allowed.replaceAll("a1", "*")).toBe(
            hold.code === undefined
              ? hold.text
              : window.text + allowed.replaceAll("a1", "*").slice(window.text.length),
          );
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("holds back the reach and no more", async () => {
    const { set } = guardrailSetOf([instanceOf("n", masking(/1234/g, 4))]);
    const context = {
      ...CONTEXT,
      part: "content",
      place: "p",
      isPartial: true,
      offset: 0,
    } as const;
    const window = new TextWindow({ set, reach: 4, maxHeld: 100, context });
    await window.push("abcdefgh");
    expect(window.released).toBe(4);
  });

  it("leaves what comes to `decide` until there is a batch of it", async () => {
    let judged = 0;
    const counting = { reach: 4, check: () => ({ kind: "allow", judged: ++judged }) as const };
    const { set } = guardrailSetOf([instanceOf("n", counting)]);
    const context = {
      ...CONTEXT,
      part: "content",
      place: "p",
      isPartial: true,
      offset: 0,
    } as const;
    const window = new TextWindow({ set, reach: 4, maxHeld: 100, context });
    await window.push("abcdefgh");
    window.batch = 10;
    await window.push("ijk");
    expect([window.released, window.isWaiting, judged]).toEqual([4, true, 1]);
    await window.decide();
    expect([window.released, window.isWaiting, judged]).toEqual([7, false, 2]);
    await window.push("0123456789");
    expect([window.released, window.isWaiting, judged]).toEqual([17, false, 3]);
  });

  it("has what stands before an offence decided, however much came at once", async () => {
    const { set } = guardrailSetOf([
      instanceOf("n", blocking(/bad/, 3)),
      instanceOf("m", masking(/me/g, 2)),
    ]);
    const context = {
      ...CONTEXT,
      part: "content",
      place: "p",
      isPartial: true,
      offset: 0,
    } as const;
    const window = new TextWindow({ set, reach: 3, maxHeld: 100, context });
    const push = async (text: string): Promise<void> => window.push(text);
    await push("abcdef");
    expect(window.released).toBe(3);
    window.batch = 50;
    await push("gh me bad ijkl");
    await expect(async () => window.decide()).rejects.toMatchObject({
      code: "guardrail_violation",
    });
    expect(window.released).toBe("abcdefgh me ".length);
    expect(window.takeSpans()).toMatchObject([{ start: 9, end: 11 }]);
  });

  it("ends a reply that would have to be held beyond the bound", () => {
    const { set } = guardrailSetOf([instanceOf("n", masking(/x/g, 4))]);
    const context = {
      ...CONTEXT,
      part: "content",
      place: "p",
      isPartial: true,
      offset: 0,
    } as const;
    const window = new TextWindow({ set, reach: Infinity, maxHeld: 10, context });
    expect(() => window.push("12345678901")).toThrow(/longer than the 10 characters/);
  });
});
