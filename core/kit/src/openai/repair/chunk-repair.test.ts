import { describe, expect, it } from "vitest";
import type { Frame, FrameRole, JsonObject } from "@sluice/contract";
import { createChatTranslator } from "../stream.ts";

const IDENTITY = { replyId: "chatcmpl-own", createdSeconds: 1_800_000_000 };
const delta = (content: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: "chatcmpl-up",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "m",
  choices: [{ index: 0, delta: content, finish_reason: null }],
  ...more,
});
const without = (chunk: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(chunk).filter(([name]) => !names.includes(name)));

/** What the client reads of these events, as text. */
function shown(...chunks: readonly (JsonObject | string)[]): string[] {
  const frames: Frame[] = [];
  const sink = {
    committed: false,
    frame(frame: Frame, role: FrameRole) {
      if (role === "content") sink.committed = true;
      frames.push(frame);
    },
    usage: () => undefined,
    done: () => undefined,
  };
  const translator = createChatTranslator("m", IDENTITY);
  for (const chunk of chunks) {
    translator.event(
      { event: undefined, data: typeof chunk === "string" ? chunk : JSON.stringify(chunk) },
      sink,
    );
  }
  return frames.map((frame) => frame.raw ?? JSON.stringify(frame.chunk()));
}

const parsed = (...chunks: readonly (JsonObject | string)[]) =>
  shown(...chunks).map((text) => JSON.parse(text) as JsonObject);

describe("a stream that lacks nothing", () => {
  it("keeps every character, also with spaces and escapes of its own", () => {
    const chunks = [
      JSON.stringify(delta({ role: "assistant", content: "" })),
      JSON.stringify(delta({ content: "é" })).replace("é", "\\u00e9"),
      JSON.stringify(delta({ content: "a" })).replaceAll('":', '": '),
      JSON.stringify(
        delta({
          tool_calls: [
            { index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } },
          ],
        }),
      ),
    ];
    expect(shown(...chunks)).toEqual(chunks);
  });
});

describe("a stream", () => {
  it.each(["id", "object", "created", "model"])(
    "whose chunks have no %s gets one, the same in all of them",
    (name) => {
      const chunks = parsed(
        ...["", "a", "b"].map((content) => without(delta({ role: "assistant", content }), name)),
      );
      const values = new Set(chunks.map((chunk) => chunk[name]));
      expect(values.size).toBe(1);
      expect([...values][0]).toBe(
        { id: "chatcmpl-own", object: "chat.completion.chunk", created: 1_800_000_000, model: "m" }[
          name
        ],
      );
      expect(chunks.map(({ choices }) => (choices as JsonObject[])[0]?.delta)).toMatchObject(
        ["", "a", "b"].map((content) => ({ content })),
      );
    },
  );

  it("whose id and time change keeps the first", () => {
    const chunks = parsed(
      delta({ role: "assistant", content: "a" }),
      delta({ content: "b" }, { id: "chatcmpl-2", created: 1_700_000_009 }),
      delta({ content: "c" }, { id: "chatcmpl-3" }),
    );
    expect(new Set(chunks.map(({ id, created }) => `${String(id)} ${String(created)}`))).toEqual(
      new Set(["chatcmpl-up 1700000000"]),
    );
  });

  it("that begins with an empty id, as a filter report does, has one id from the start", () => {
    const chunks = parsed(
      { id: "", object: "", created: 0, model: "", choices: [] },
      delta({ content: "a" }),
      delta({ content: "b" }),
    );
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(["chatcmpl-own"]));
  });

  it("that says no role says it in the first delta of each choice", () => {
    const choices = [0, 1].map((index) => ({ index, delta: { content: "a" } }));
    const [first, second] = parsed(delta({}, { choices }), delta({ content: "b" }));
    expect(first?.choices).toMatchObject([
      { delta: { role: "assistant", content: "a" } },
      { delta: { role: "assistant" } },
    ]);
    expect(JSON.stringify(second)).not.toContain("role");
  });

  it("whose tool deltas have no index gets one for each call", () => {
    const call = (more: JsonObject) => delta({ tool_calls: [more] });
    const chunks = parsed(
      delta({ role: "assistant", content: null }),
      call({ id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call({ function: { arguments: "{}" } }),
      call({ id: "b", type: "function", function: { name: "g", arguments: "{}" } }),
    );
    const indexes = chunks
      .slice(1)
      .map(({ choices }) => (choices as { delta: JsonObject }[])[0]?.delta.tool_calls);
    expect(indexes).toMatchObject([
      [{ index: 0, id: "a" }],
      [{ index: 0 }],
      [{ index: 1, id: "b" }],
    ]);
  });
});
