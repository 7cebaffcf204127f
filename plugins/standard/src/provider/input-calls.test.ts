import { describe, expect, it } from "vitest";
import { writtenDocument } from "@sluice/kit/internals";
import { fakeRequest, fakeTarget } from "@sluice/testing";
import type { JsonObject, JsonValue, ProviderRequest, Reply } from "@sluice/contract";
import { callForInputs } from "./input-calls.ts";

function request(input: JsonValue): ProviderRequest {
  const { document } = fakeRequest({ model: "m", input });
  const target = fakeTarget("bedrock", "amazon.titan-embed-text-v2:0");
  return {
    operation: "embeddings",
    document,
    target,
    replyModel: "m",
    stream: false,
    replyId: "x",
    createdSeconds: 7,
  };
}

/** An upstream that remembers its inputs and answers the later calls first. */
function upstream({ fails, untold }: { readonly fails?: string; readonly untold?: string } = {}) {
  const asked: JsonValue[] = [];
  let underWay = 0;
  let most = 0;
  const attempt = async ({ document }: ProviderRequest): Promise<Reply> => {
    const input = document.value.input as readonly string[];
    asked.push(input as JsonValue);
    most = Math.max(most, ++underWay);
    for (let turns = 20 - asked.length; turns > 0; turns--) await Promise.resolve();
    underWay--;
    if (input.includes(fails ?? "-")) throw new Error("refused");
    const data = input.map((text, index): JsonObject => ({
      object: "embedding",
      index,
      embedding: [text.length],
    }));
    const usage = input.includes(untold ?? "-")
      ? {}
      : { usage: { prompt_tokens: 2, total_tokens: 2 } };
    return {
      kind: "whole",
      status: 200,
      document: writtenDocument({ object: "list", data, model: "m", ...usage }),
    };
  };
  return { asked, caller: { attempt }, most: () => most };
}

const value = async (reply: Promise<Reply>) => {
  const made = await reply;
  return made.kind === "whole" ? made.document.value : undefined;
};

describe("an embeddings request", () => {
  it.each<[JsonValue, number]>([
    [["a", "bb"], Infinity],
    [["a", "bb"], 2],
    [["a"], 1],
  ])("of %j is one call of a provider that takes %d", async (input, inputsPerCall) => {
    const { asked, caller } = upstream();
    await callForInputs(request(input), inputsPerCall, caller);
    expect(asked).toEqual([input]);
  });

  it("becomes several calls, and one reply with every vector at its place", async () => {
    const { asked, caller } = upstream();
    expect(
      await value(callForInputs(request(["a", "bb", "ccc", "dddd", "eeeee"]), 2, caller)),
    ).toEqual({
      object: "list",
      model: "m",
      data: [1, 2, 3, 4, 5].map((length, index) => ({
        object: "embedding",
        index,
        embedding: [length],
      })),
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
    expect(asked).toEqual([["a", "bb"], ["ccc", "dddd"], ["eeeee"]]);
  });

  it("has eight calls under way at most", async () => {
    const { caller, most } = upstream();
    const input = Array.from({ length: 40 }, (_, index) => "x".repeat(index + 1));
    const reply = await value(callForInputs(request(input), 1, caller));
    expect(reply?.data).toMatchObject(
      input.map(({ length }, index) => ({ index, embedding: [length] })),
    );
    expect(most()).toBe(8);
  });

  it("tells no tokens when one of its calls tells none", async () => {
    const { caller } = upstream({ untold: "bb" });
    expect(await value(callForInputs(request(["a", "bb"]), 1, caller))).not.toHaveProperty("usage");
  });

  it("fails with the call that fails, and begins no other one", async () => {
    const { asked, caller } = upstream({ fails: "x" });
    const input = ["x", ...Array.from({ length: 99 }, () => "y")];
    await expect(callForInputs(request(input), 1, caller)).rejects.toThrow("refused");
    expect(asked.length).toBeLessThan(99);
  });

  it("is refused when it would take more than 256 calls", async () => {
    const { asked, caller } = upstream();
    const input = Array.from({ length: 257 }, () => "a");
    await expect(callForInputs(request(input), 1, caller)).rejects.toMatchObject({
      code: "invalid_field",
      param: "input",
    });
    expect(asked).toEqual([]);
  });
});
