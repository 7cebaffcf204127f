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

/** A piece of a text, the beginning of a call, or a piece of its arguments. */
const part = fc.constantFrom("text", "thought", "call", "arguments", "both");

/** Deltas of these parts; each call has an index of its own. */
function deltasOf(parts: readonly string[]): JsonObject[] {
  let calls = 0;
  return parts.map((kind, at): JsonObject => {
    const call = (index: number, name: string): JsonObject => ({
      tool_calls: [{ index, function: { name, arguments: `<a${at}>` } }],
    });
    switch (kind) {
      case "text":
        return { content: `<t${at}>` };
      case "thought":
        return { reasoning_content: `<r${at}>` };
      case "both":
        return { content: `<t${at}>`, ...call(calls++, `f${at}`) };
      case "arguments":
        return calls === 0 ? { content: `<t${at}>` } : call(calls - 1, "");
      default:
        return call(calls++, `f${at}`);
    }
  });
}

/** The texts and the names, in their order, without what may come before or behind a name. */
const orderOf = (deltas: readonly unknown[]): string[] =>
  deltas
    .flatMap((each) => [...JSON.stringify(each).matchAll(/"(f\d+)"|<([tr]\d+)>/g)])
    .map(([, name, text]) => name ?? text ?? "");

describe("the beginning of a call", () => {
  it("comes behind the texts before it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const { set } = guardrailSetOf([instanceOf("m", masking(/bad/g, 30))]);
        const deltas = deltasOf(parts);
        async function* inner(): AsyncGenerator<Frame, void, undefined> {
          for (const each of deltas) yield rawFrame(chunkText([{ index: 0, delta: each }]));
          yield rawFrame(chunkText([{ index: 0, delta: {}, finish_reason: "stop" }]));
        }
        const got: unknown[] = [];
        for await (const frame of guardFrames(inner(), streamOf(set), () => undefined))
          got.push(...(frame.chunk().choices as unknown as Choice[]).map((each) => each.delta));
        const order = orderOf(got);
        const before = (list: readonly string[], name: string): string[] =>
          list.slice(0, list.indexOf(name)).filter((each) => !each.startsWith("f"));
        for (const name of orderOf(deltas).filter((each) => each.startsWith("f")))
          expect(before(order, name)).toEqual(
            expect.arrayContaining(before(orderOf(deltas), name)),
          );
        expect(order.toSorted()).toEqual(orderOf(deltas).toSorted());
        const text = JSON.stringify(got);
        for (const [, at] of JSON.stringify(deltas).matchAll(/<(a\d+)>/g))
          expect(text).toContain(`<${at}>`);
      }),
    );
  });
});

function chunkText(choices: readonly object[]): string {
  return JSON.stringify({ id: "c", choices });
}
