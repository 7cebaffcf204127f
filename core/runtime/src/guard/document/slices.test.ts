import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import type { Guardrail, TextContext } from "@sluice/contract";
import {
  blocking,
  CONTEXT,
  instanceOf,
  masking,
  guardrailSetOf,
} from "@sluice/testing/guardrail-instances";
import { checkInSlices, SLICE } from "./slices.ts";
import { applySpans, holderOf } from "@sluice/kit/internals";

const WHOLE: TextContext = { ...CONTEXT, part: "content", place: "p", isPartial: false, offset: 0 };
const GUARDRAILS: readonly Guardrail[] = [
  masking(/(?<!\d)\d{4}(?!\d)/g, 6, "[N]"),
  masking(/\bab{1,9}c\b/g, 13),
  masking(/aa/g, 2, "A"),
  blocking(/\bbad\b/, 5),
];
const texts = fc.array(fc.constantFrom("a", "b", "c", "1", "2", " ", "bad", "abc", "1234"), {
  maxLength: 80,
});

/** What became of a text: edited, or blocked at a place. */
async function outcomeOf(text: string, guardrail: Guardrail, size: number): Promise<string> {
  const { set } = guardrailSetOf([instanceOf("g", guardrail)]);
  const check = async (slice: string, context: TextContext) => {
    const { spans, block } = await set.check(slice, context);
    if (block !== undefined)
      return { kind: "block", reason: "r", start: block.start!, end: block.end!, spans } as const;
    return { kind: "edit", spans } as const;
  };
  const { signal } = new AbortController();
  const holder = holderOf(undefined);
  const verdict = await checkInSlices(text, {
    context: WHOLE,
    reach: guardrail.reach,
    check,
    signal,
    holder,
    size,
  });
  if (verdict.kind === "block") return `blocked at ${verdict.start} to ${verdict.end}`;
  return verdict.kind === "edit" ? applySpans(text, verdict.spans) : text;
}

describe("a text in slices", () => {
  it("is judged as it is at once", async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(...GUARDRAILS),
        async (words, size, guardrail) => {
          const text = words.join("");
          expect(await outcomeOf(text, guardrail, size)).toBe(
            await outcomeOf(text, guardrail, 1_000),
          );
        },
      ),
      { numRuns: amount(600, 3_000) },
    );
  });

  it("leaves turns of the event loop to others, and ends with its exchange", async () => {
    const { set } = guardrailSetOf([instanceOf("g", masking(/x/g, 3))]);
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    let slices = 0;
    const check = (slice: string, context: TextContext) => {
      slices++;
      expect(slice.length).toBeLessThanOrEqual(SLICE + 6);
      void set.check(slice, context);
      return { kind: "allow" } as const;
    };
    const text = "a".repeat(SLICE * 4);
    const controller = new AbortController();
    const { signal } = controller;
    const options = { context: WHOLE, reach: 3, check, signal, holder: holderOf(undefined) };
    expect(await checkInSlices(text, options)).toEqual({ kind: "allow" });
    expect([slices, turns >= 3]).toEqual([4, true]);
    controller.abort(new Error("over"));
    await expect(checkInSlices(text, options)).rejects.toThrow("over");
    clearImmediate(timer);
  });
});

describe("a check", () => {
  const long = `${"a".repeat(SLICE * 3)}1234`;

  it("has a long text judged in slices, at once where its guardrail works elsewhere", async () => {
    const sizes: number[] = [];
    const guardrail = { ...masking(/(?<!\d)\d{4}(?!\d)/g, 6, "[N]") };
    const seen: Guardrail = {
      ...guardrail,
      check: (text, ...more) => (sizes.push(text.length), guardrail.check(text, ...more)),
    };
    for (const isSliced of [true, false]) {
      const { set } = guardrailSetOf([{ ...instanceOf("g", seen), isSliced }]);
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const { spans } = await set.check(long, WHOLE);
      expect(applySpans(long, spans).slice(-4)).toBe("a[N]");
    }
    expect(sizes).toHaveLength(4);
    expect(sizes.at(-1)).toBe(long.length);
  });

  it("refuses a text with too many edits, and opens no guardrail's circuit for it", async () => {
    const { set } = guardrailSetOf([{ ...instanceOf("g", masking(/x/g, 3)), isSliced: true }]);
    for (let times = 0; times < 6; times++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      await expect(set.check("x".repeat(100_001), WHOLE)).rejects.toMatchObject({
        code: "guardrail_violation",
      });
    }
    expect((await set.check("x", WHOLE)).spans).toHaveLength(1);
  });

  it.each([
    ["fail", { code: "guardrail_violation" }],
    ["skip", { spans: [], block: undefined }],
  ] as const)(
    "is not asked about what is longer than it may check, with on_error: %s",
    async (onError, result) => {
      const { set, outcomes } = guardrailSetOf([
        instanceOf("g", masking(/x/g, Infinity), { maxText: 100, onError }),
      ]);
      const check = async (): Promise<unknown> => set.check("a".repeat(101), WHOLE);
      for (let times = 0; times < 10; times++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        expect(await check().catch((error: unknown) => error)).toMatchObject(result);
      }
      expect(outcomes.at(-1)).toMatchObject({ verdict: "error" });
      // No guardrail's circuit opens for it.
      expect((await set.check("x", WHOLE)).spans).toHaveLength(1);
    },
  );
});
