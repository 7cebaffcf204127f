import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame, JsonObject } from "@sluice/contract";
import { guardrailSetOf, instanceOf, masking, streamOf } from "@sluice/testing/guardrail-instances";
import { rawFrame } from "@sluice/kit/internals";
import { guardFrames } from "./guard-frames.ts";

const TEXTS = ["content", "reasoning_content", "refusal"] as const;
const COUNT = 2;

interface Choice extends JsonObject {
  readonly index: number;
  readonly delta: Readonly<Partial<Record<(typeof TEXTS)[number], string>>>;
  readonly finish_reason: string | null;
}

const delta = fc.record(
  Object.fromEntries(TEXTS.map((name) => [name, fc.constantFrom("b", "bad ", " day, a ", "")])),
  { requiredKeys: [] },
) as fc.Arbitrary<Choice["delta"]>;

/** The choices of a reply, each with its deltas; the last one has the finish. */
const reply = fc.array(fc.array(delta, { minLength: 1, maxLength: 5 }), {
  minLength: COUNT,
  maxLength: COUNT,
});

const choicesOf = (deltas: readonly Choice["delta"][], index: number): Choice[] =>
  deltas.map((each, at) => ({
    index,
    delta: each,
    finish_reason: at === deltas.length - 1 ? "stop" : null,
  }));

/** Chunks with a choice each, or with several. */
function framesOf(said: readonly Choice["delta"][][], isJoint: boolean): Frame[] {
  const lists = said.map(choicesOf);
  const length = Math.max(...lists.map((list) => list.length));
  const rounds = Array.from({ length }, (_, at) => lists.flatMap((list) => list[at] ?? []));
  const chunks = isJoint ? rounds : rounds.flatMap((round) => round.map((choice) => [choice]));
  return chunks.map((choices) => rawFrame(JSON.stringify({ id: "c", choices })));
}

const textOf = (choices: readonly Choice[], index: number, name: (typeof TEXTS)[number]): string =>
  choices
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta[name] ?? "")
    .join("");

describe("the end of a choice", () => {
  it("comes once, after all of its texts, and ends no other choice", async () => {
    await fc.assert(
      fc.asyncProperty(
        reply,
        fc.boolean(),
        fc.constantFrom(3, 30),
        async (said, isJoint, reach) => {
          const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, reach))]);
          const options = streamOf(set);
          const got: Choice[] = [];
          async function* inner(): AsyncGenerator<Frame, void, undefined> {
            yield* framesOf(said, isJoint);
          }
          for await (const frame of guardFrames(inner(), options, () => undefined))
            got.push(...(frame.chunk().choices as unknown as Choice[]));
          for (const index of said.keys()) {
            const own = got.filter((choice) => choice.index === index);
            const ends = own.filter(({ finish_reason: finish }) => finish === "stop");
            expect(ends).toEqual([own.at(-1)]);
            for (const name of TEXTS)
              expect(textOf(got, index, name)).toBe(
                textOf(said.flatMap(choicesOf), index, name).replaceAll("bad", "*"),
              );
          }
        },
      ),
    );
  });
});
