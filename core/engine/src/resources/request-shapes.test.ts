import { describe, expect, it } from "vitest";
import { RequestShapes, SHAPE, type ShapeKey } from "./request-shapes.ts";

const CHAT = { method: "POST", path: "/v1/chat/completions" };
const key = (keyId: string, models: readonly string[] = []): ShapeKey => ({ kind: "key", keyId, models });

describe("request shapes", () => {
  it("are told as groups of equal ones, with the longest prompt of each", () => {
    const shapes = new RequestShapes(10);
    shapes.add(CHAT, "gpt", "", key("a"), SHAPE.stream, 10);
    shapes.add(CHAT, "gpt", "", key("a"), SHAPE.stream, 30);
    shapes.add(CHAT, "gpt", "", key("a"), SHAPE.stream, null);
    shapes.add(CHAT, "gpt", "", key("b"), SHAPE.stream | SHAPE.tools, undefined);
    expect(shapes.list()).toEqual([
      { ...CHAT, model: "gpt", provider: "", key: key("a"), flags: 1, promptTokens: 30, count: 3 },
      { ...CHAT, model: "gpt", provider: "", key: key("b"), flags: 3, promptTokens: undefined, count: 1 },
    ]);
  });

  it("keep the newest, and what a key may use by its newest word", () => {
    const shapes = new RequestShapes(3);
    for (const model of ["one", "two", "three", "four"]) shapes.add(CHAT, model, "", key("a", [model]), 0, 1);
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
      shapes.add(CHAT, `${"x".repeat(300)}${count % 7}`, `made-up-${count}`, key(`key-${count}`), 0, count);
    }
    const kept = shapes.list();
    expect(kept.map(({ provider }) => provider).toSorted()).toEqual([9996, 9997, 9998, 9999].map((count) => `made-up-${count}`));
    expect(kept.map((shape) => shape.key.keyId).toSorted()).toEqual([9996, 9997, 9998, 9999].map((count) => `key-${count}`));
    // Longer names are cut, so those that differ behind the cut are one.
    expect(new Set(kept.map(({ model }) => model))).toEqual(new Set(["x".repeat(256)]));
  });
});
