import { describe, expect, it } from "vitest";
import { NO_USE, RequestShapes, SHAPE, type ShapeKey, type ShapeUse } from "./request-shapes.ts";

const CHAT = { method: "POST", path: "/v1/chat/completions" };
const key = (keyId: string, models: readonly string[] = []): ShapeKey => ({ kind: "key", keyId, models });

const use = (
  promptTokens: number | null,
  completionTokens: number | null = null,
  costNanoUsd: number | null = null,
): ShapeUse => ({
  promptTokens,
  completionTokens,
  costNanoUsd,
});
const NOTHING = { known: 0, promptTokens: 0, completionTokens: 0, costNanoUsd: 0 };

describe("request shapes", () => {
  it("are told as groups of equal ones, with the longest prompt of each", () => {
    const shapes = new RequestShapes(10);
    shapes.add(CHAT, "gpt", "", key("a"), SHAPE.stream, use(10));
    shapes.add(CHAT, "gpt", "", key("a"), SHAPE.stream, use(30));
    shapes.add(CHAT, "gpt", "", key("a"), SHAPE.stream, use(null));
    shapes.add(CHAT, "gpt", "", key("b"), SHAPE.stream | SHAPE.tools, use(null));
    expect(shapes.list()).toEqual([
      { ...CHAT, model: "gpt", provider: "", key: key("a"), flags: 1, promptTokens: 30, count: 3, bill: NOTHING },
      { ...CHAT, model: "gpt", provider: "", key: key("b"), flags: 3, promptTokens: undefined, count: 1, bill: NOTHING },
    ]);
  });

  it("add up what was used where its cost is known, and count how many that are", () => {
    const shapes = new RequestShapes(10);
    for (const tokens of [10, 30]) shapes.add(CHAT, "gpt", "", key("a"), 0, use(tokens, 5, 1_000));
    shapes.add(CHAT, "gpt", "", key("a"), 0, use(500, 5, null));
    shapes.add(CHAT, "gpt", "", key("a"), 0, NO_USE);
    const bill = { known: 2, promptTokens: 40, completionTokens: 10, costNanoUsd: 2_000 };
    expect(shapes.list()).toMatchObject([{ count: 4, promptTokens: 500, bill }]);
  });

  it("keep the newest, and what a key may use by its newest word", () => {
    const shapes = new RequestShapes(3);
    for (const model of ["one", "two", "three", "four"]) shapes.add(CHAT, model, "", key("a", [model]), 0, use(1));
    expect(shapes.size).toBe(3);
    expect(
      shapes
        .list()
        .map(({ model }) => model)
        .toSorted(),
    ).toEqual(["four", "three", "two"]);
    expect(shapes.list().every((shape) => shape.key.models[0] === "four")).toBe(true);
  });

  it("forget names that no request has any more, whatever clients make up", () => {
    const shapes = new RequestShapes(4);
    for (let count = 0; count < 10_000; count += 1) {
      shapes.add(CHAT, `${"x".repeat(300)}${count % 7}`, `made-up-${count}`, key(`key-${count}`), 0, use(count));
    }
    const kept = shapes.list();
    expect(kept.map(({ provider }) => provider).toSorted()).toEqual([9996, 9997, 9998, 9999].map((count) => `made-up-${count}`));
    expect(kept.map((shape) => shape.key.keyId).toSorted()).toEqual([9996, 9997, 9998, 9999].map((count) => `key-${count}`));
    // Longer names are cut, so those that differ behind the cut are one.
    expect(new Set(kept.map(({ model }) => model))).toEqual(new Set(["x".repeat(256)]));
  });
});
