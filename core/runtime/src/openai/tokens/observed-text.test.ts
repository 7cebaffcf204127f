import fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { ObservedText } from "./observed-text.ts";
import { chunkFrame, rawFrame } from "@sluice/kit/internals";

const frame = (delta: object, indent?: number) =>
  rawFrame(JSON.stringify({ choices: [{ index: 0, delta }] }, undefined, indent));

function observe(deltas: readonly object[], indent?: number): string {
  const observed = new ObservedText();
  for (const delta of deltas) observed.add(frame(delta, indent));
  return observed.texts().join("");
}

describe("the text of a stream", () => {
  it.each([undefined, 1])("is that of its deltas, whatever they hold (indent %s)", (indent) => {
    const pieces = fastCheck.array(
      fastCheck.string({ unit: "binary", minLength: 1, maxLength: 20 }),
      { maxLength: 30 },
    );
    fastCheck.assert(
      fastCheck.property(pieces, (contents) => {
        expect(
          observe(
            contents.map((content) => ({ content })),
            indent,
          ),
        ).toBe(contents.join(""));
      }),
    );
  });

  it("joins escapes that were cut between frames", () => {
    expect(
      observe([
        { content: 'a "quote" \\' },
        { content: "\\n\n" },
        { content: "\ud83d" },
        { content: "\udc4b" },
      ]),
    ).toBe('a "quote" \\\\n\n👋');
  });

  it("holds reasoning, refusals and calls", () => {
    expect(observe([{ reasoning_content: "think" }, { reasoning_content: "ing" }])).toBe(
      "thinking",
    );
    expect(observe([{ refusal: "No." }])).toBe("No.");
    const call = (name: string | undefined, args: string) => ({
      tool_calls: [{ index: 0, function: { name, arguments: args } }],
    });
    const text = observe([
      call("weather", ""),
      call(undefined, '{"city":'),
      call(undefined, '"Köln"}'),
    ]);
    expect(text).toContain('{"city":"Köln"}');
    expect(text).toContain("weather");
  });

  it("holds what made frames and empty ones say, and nothing of frames that say nothing", () => {
    const observed = new ObservedText();
    observed.add(chunkFrame({ choices: [{ index: 0, delta: { content: "made" } }] }));
    observed.add(frame({ content: "", reasoning_content: "thought" }));
    observed.add(rawFrame('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'));
    observed.add(rawFrame("not JSON"));
    expect(observed.texts().join("")).toBe("madethought");
    expect(new ObservedText().texts()).toEqual([]);
  });

  it("may be asked in between", () => {
    const observed = new ObservedText();
    observed.add(frame({ content: "one " }));
    expect(observed.texts()).toEqual(["one "]);
    observed.add(frame({ content: "two" }));
    expect([observed.texts(), observed.scale]).toEqual([["one two"], 1]);
    expect(new ObservedText().scale).toBe(1);
  });

  it.each([
    ["short events", 12, 400_000],
    ["long events", 5_000, 900],
    ["enormous events", 100_000, 60],
  ])(
    "is a sample when it is long, of %s, and the scale says of how much",
    (_what, characters, frames) => {
      const observed = new ObservedText();
      for (let index = 0; index < frames; index++)
        observed.add(frame({ content: "x".repeat(characters) }));
      const kept = observed.texts().join("").length;
      expect(kept).toBeGreaterThanOrEqual(16_384);
      expect(kept).toBeLessThanOrEqual(32_768);
      expect(kept * observed.scale).toBeCloseTo(characters * frames, 0);
    },
  );

  it("is sampled over its whole length", () => {
    const observed = new ObservedText();
    for (let index = 0; index < 100_000; index++)
      observed.add(frame({ content: index < 50_000 ? "a" : "b" }));
    const text = observed.texts().join("");
    const early = text.replaceAll("b", "").length / text.length;
    expect(early).toBeGreaterThan(0.4);
    expect(early).toBeLessThan(0.6);
  });
});
