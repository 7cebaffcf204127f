import { describe, expect, it } from "vitest";
import type { Frame, Guardrail } from "@sluice/contract";
import {
  blocking,
  deltaFrame,
  guardrailSetOf,
  instanceOf,
  masking,
  streamOf,
} from "@sluice/testing/guardrail-instances";
import { guardFrames } from "./guard-frames.ts";

/** A chunk with pieces of names, each of the call with its index. */
function named(...names: readonly (readonly [index: number, name: string])[]): Frame {
  const calls = names.map(([index, name]) => ({ index, function: { name, arguments: "" } }));
  return deltaFrame({ tool_calls: calls });
}

async function* from(frames: readonly Frame[]): AsyncGenerator<Frame, void, undefined> {
  yield* frames;
}

/** The frames that a client gets, what was reported, and the code of the error. */
async function guarded(guardrail: Guardrail, frames: readonly Frame[]) {
  const { set, outcomes } = guardrailSetOf([instanceOf("g", guardrail)]);
  const out: Frame[] = [];
  let code: unknown;
  try {
    for await (const frame of guardFrames(from(frames), streamOf(set), () => undefined))
      out.push(frame);
  } catch (error) {
    ({ code } = error as { readonly code?: unknown });
  }
  return { out, code, verdicts: outcomes.map(({ verdict }) => verdict), said: out.map(namesOf) };
}

/** The pieces of names in a frame. */
function namesOf(frame: Frame): string {
  return [...JSON.stringify(frame.chunk()).matchAll(/"name":"([^"]*)"/g)]
    .map(([, name]) => name)
    .join(" ");
}

const MASK = masking(/bad/g, 3, "***");

describe("a name in pieces", () => {
  it.each([
    ["masked", MASK],
    ["blocked", blocking(/bad/, 3)],
  ])("passes as it came where nothing is %s", async (_what, guardrail) => {
    const frames = [named([0, "get_"]), named([0, "weather"]), named([0, "_now"], [1, "f"])];
    const { out, code } = await guarded(guardrail, frames);
    expect([out, code]).toEqual([frames, undefined]);
    expect(out.every((frame, index) => frame === frames[index])).toBe(true);
  });

  it("is masked in the piece that has the word", async () => {
    const frames = [named([0, "get_"]), named([0, "bad_"]), named([0, "day"])];
    const { said, code, verdicts } = await guarded(MASK, frames);
    expect([said, code, verdicts]).toEqual([["get_", "***_", "day"], undefined, ["edit"]]);
  });

  it("is masked in each of its pieces, also in one chunk", async () => {
    const frames = [named([0, "bad"], [0, "_bad"], [1, "bad"]), named([0, "_bad"], [1, "_x"])];
    const { said, code, verdicts } = await guarded(MASK, frames);
    expect([said, code]).toEqual([["*** _*** ***", "_*** _x"], undefined]);
    expect(verdicts).toEqual(["edit", "edit", "edit", "edit"]);
  });

  it("is refused where a piece that was sent has a part of the word", async () => {
    const { said, code } = await guarded(MASK, [named([0, "get_ba"]), named([0, "d"])]);
    expect([said, code]).toEqual([["get_ba"], "guardrail_violation"]);
  });

  it("is refused where a word with an edited part is longer than the edit", async () => {
    const { said, code } = await guarded(masking(/bad(?:ge)?/g, 5, "***"), [
      named([0, "bad"]),
      named([0, "ge"]),
    ]);
    expect([said, code]).toEqual([["***"], "guardrail_violation"]);
  });
});

it("a name in very many pieces is refused", async () => {
  const pieces = Array.from({ length: 2_000 }, () => named([0, "a"]));
  const { out, code } = await guarded(MASK, pieces);
  expect([code, out.length]).toEqual(["upstream_invalid_response", 1_024]);
  const long = "a".repeat(2_000);
  expect((await guarded(MASK, [named([0, long])])).said).toEqual([long]);
});
