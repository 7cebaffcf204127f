/** Streams that an upstream makes large or numbers wrongly. */

import type { JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { FACE_CONTEXT } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { folded } from "../fold.fixture.ts";
import { unpacked } from "../signatures.ts";
import { EventStream } from "./stream.ts";

function writer(): EventStream {
  return new EventStream(
    { action: "streamGenerateContent", includesThoughts: false },
    FACE_CONTEXT,
  );
}

function chunkOf(delta: JsonObject): JsonObject {
  return { choices: [{ index: 0, delta }] };
}

function pieceOf(index: number | undefined, name: string): JsonObject {
  const made = { id: `call_${name}`, function: { name, arguments: "{}" } };
  return index === undefined ? made : { index, ...made };
}

/** The names of the calls of a stream of these deltas. */
function namesOf(deltas: readonly JsonObject[]): readonly unknown[] {
  const stream = writer();
  const text = deltas.map((delta) => stream.chunk(chunkOf(delta))).join("") + stream.end();
  const [candidate] = Members.objectsOf(folded(text).candidates);
  const content = isObject(candidate?.content) ? candidate.content : {};
  expect(content.parts).not.toContain(null);
  return Members.objectsOf(content.parts).flatMap(({ functionCall: call }) =>
    isObject(call) ? [call.name] : [],
  );
}

describe("the calls of a stream", () => {
  it("have indexes of any size", () => {
    const far = pieceOf(4_294_967_294, "far");
    expect(namesOf([{ tool_calls: [far] }])).toEqual(["far"]);
    expect(namesOf([{ tool_calls: [far, pieceOf(7, "near")] }])).toEqual(["near", "far"]);
  });

  it("have indexes that are no place in a list", () => {
    const calls = [pieceOf(1.5, "half"), pieceOf(-1, "before"), pieceOf(Infinity, "last")];
    expect(namesOf([{ tool_calls: calls }])).toEqual(["before", "half", "last"]);
  });

  it("have the index of their place in the delta where they name none", () => {
    const calls = [pieceOf(undefined, "one"), pieceOf(undefined, "two")];
    expect(namesOf([{ tool_calls: calls }])).toEqual(["one", "two"]);
  });
});

describe("the log probabilities of a stream", () => {
  it("may be many in one chunk", () => {
    const content = Array.from({ length: 200_000 }, () => ({}));
    const stream = writer();
    stream.chunk({ choices: [{ index: 0, delta: {}, logprobs: { content } }] });
    expect(stream.end()).toContain('"chosenCandidates"');
  });
});

describe("what a provider needs back of a stream", () => {
  it("may arrive in many chunks, and be much in one", () => {
    const stream = writer();
    const block = { type: "thinking", thinking: "", signature: "s" };
    const one = chunkOf({ thinking_blocks: [block] });
    for (let place = 0; place < 40_000; place++) stream.chunk(one);
    stream.chunk(chunkOf({ thinking_blocks: Array.from({ length: 200_000 }, () => block) }));
    const [candidate] = Members.objectsOf(folded(stream.end()).candidates);
    const content = isObject(candidate?.content) ? candidate.content : {};
    const [part] = Members.objectsOf(content.parts);
    expect(unpacked(String(part?.thoughtSignature))?.thinking_blocks).toHaveLength(240_000);
  });

  it("leaves the lists of a chunk unchanged", () => {
    const stream = writer();
    const one = chunkOf({ thinking_blocks: [{ type: "thinking", thinking: "", signature: "s" }] });
    const before = structuredClone(one);
    stream.chunk(one);
    stream.chunk(one);
    expect(one).toEqual(before);
  });
});
