import { describe, expect, it } from "vitest";
import { GatewayError, type JsonObject, type ProviderRequest, type Usage } from "@sluice/contract";
import { documentOf, writtenDocument } from "../../json/document.ts";
import { createRepairedTranslator } from "./repaired-stream.ts";
import { ChunkRepairer } from "./chunk-repairs.ts";

const REQUEST: ProviderRequest = {
  operation: "chat",
  document: documentOf("{}"),
  target: { id: "p/m", provider: "p", model: "m" },
  replyModel: "alias",
  stream: true,
  replyId: "chatcmpl-reply",
  createdSeconds: 1,
};
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function chunk(choice: JsonObject, more: JsonObject = {}): string {
  return JSON.stringify({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "alias",
    choices: [{ index: 0, ...choice }],
    ...more,
  });
}

function play(events: readonly string[], reasons = {}) {
  const frames: { role: string; text: string }[] = [];
  const usages: Usage[] = [];
  let dones = 0;
  const translator = createRepairedTranslator(REQUEST, reasons);
  for (const data of events) {
    translator.event(
      { event: undefined, data },
      {
        committed: true,
        frame: (frame, role) =>
          void frames.push({ role, text: frame.raw ?? JSON.stringify(frame.chunk()) }),
        usage: (usage) => void usages.push(usage),
        done: () => void dones++,
      },
    );
  }
  return { frames, usages, dones };
}

describe("a repaired stream", () => {
  it("keeps the text of a chunk that is well, also of words that look odd", () => {
    const text = chunk({
      delta: { content: 'He said "reasoning": "tool_calls":[' },
      finish_reason: null,
    });
    expect(play([text]).frames).toEqual([{ role: "content", text }]);
  });

  it("tells a growing usage once, behind the finish", () => {
    const { frames, usages } = play([
      chunk(
        { delta: { content: "a" } },
        { usage: { ...USAGE, completion_tokens: 1, total_tokens: 4 } },
      ),
      chunk({ delta: {}, finish_reason: "stop" }, { usage: USAGE }),
      "[DONE]",
    ]);
    expect(frames.map(({ role, text }) => [role, text.includes("usage")])).toEqual([
      ["content", false],
      ["content", false],
      ["usage", true],
    ]);
    expect(usages).toEqual([{ promptTokens: 3, completionTokens: 2, totalTokens: 5 }]);
  });

  it("tells nothing of a usage while the reply has not finished", () => {
    expect(play([chunk({ delta: { content: "a" } }, { usage: USAGE })]).usages).toEqual([]);
  });

  it("tells what was held back at the end mark, where no finish came", () => {
    const { frames, usages, dones } = play([
      chunk({ delta: { content: "a" } }, { usage: USAGE }),
      "[DONE]",
    ]);
    // The text, the usage, and the finish reason that is inferred.
    expect([frames.length, usages.length, dones]).toEqual([3, 1, 1]);
  });

  it("fails by a finish reason that is a failure, and by the error of a choice", () => {
    expect(() =>
      play([chunk({ delta: {}, finish_reason: "busy" })], { busy: "overloaded" }),
    ).toThrow(GatewayError);
    expect(() =>
      play([chunk({ delta: {}, finish_reason: "error", error: { code: 429, message: "No." } })]),
    ).toThrow("No.");
  });
});

describe("a repairer", () => {
  it("counts the calls of each choice for itself", () => {
    const call = (name: string): JsonObject => ({ function: { name, arguments: "{}" } });
    const reply = {
      choices: [
        { index: 0, message: { tool_calls: [call("a"), call("b")] }, finish_reason: "stop" },
        { index: 1, message: { content: "x" }, finish_reason: "stop" },
      ],
    };
    const made = new ChunkRepairer({}, "chatcmpl-reply").repair(writtenDocument(reply));
    const [first, second] = made.choices as [JsonObject, JsonObject];
    expect(first).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: [{ id: "call_chatcmplreply_0" }, { id: "call_chatcmplreply_1" }] },
    });
    expect(second.finish_reason).toBe("stop");
  });

  it("gives back the same object when all is well", () => {
    const reply = {
      choices: [{ index: 0, message: { content: "x" }, finish_reason: "stop" }],
      usage: USAGE,
    };
    expect(new ChunkRepairer({}, "r").repair(writtenDocument(reply))).toBe(reply);
  });

  it("reads the text of many such calls once", () => {
    const calls = Array.from(
      { length: 5_000 },
      (_, at) => `{"id":"c${at}","function":{"name":"f","arguments":{"id":1234567890123456789}}}`,
    );
    const whole = `{"choices":[{"index":0,"message":{"tool_calls":[${calls.join(",")}]}}]}`;
    const repaired = new ChunkRepairer({}, "r").repair(documentOf(whole));
    expect(JSON.stringify(repaired).match(/1234567890123456789/g)).toHaveLength(5_000);
  });

  it("keeps the numbers of arguments that are an object", () => {
    const given = '{"id":1234567890123456789,"x":[1e400,-0]}';
    const said = `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":${given}}}]}`;
    const whole = documentOf(`{"choices":[{"index":0,"message":${said},"finish_reason":"stop"}]}`);
    const written = JSON.stringify(given);
    expect(JSON.stringify(new ChunkRepairer({}, "r").repair(whole))).toContain(written);
    const { frames } = play([`{"choices":[{"index":0,"delta":${said},"finish_reason":null}]}`]);
    expect(frames[0]?.text).toContain(written);
  });
});

describe("the index of a call", () => {
  const call = (index: number | undefined, id?: string): string =>
    chunk({
      delta: {
        tool_calls: [
          {
            ...(index === undefined ? {} : { index }),
            ...(id === undefined ? {} : { id, type: "function" }),
            function: { ...(id === undefined ? {} : { name: "f" }), arguments: "{}" },
          },
        ],
      },
    });
  const indexes = (events: readonly string[]): unknown[] =>
    play(events).frames.flatMap(({ text }) =>
      [...text.matchAll(/"index":(-?[\d.]+),"(?:id|function)"/g)].map(([, index]) => Number(index)),
    );

  it.each([[-1], [0.5], [4_294_967_294], [4_294_967_295], [9_007_199_254_740_000]])(
    "may be any number: %d",
    (index) => {
      const finish = chunk({ delta: {}, finish_reason: "stop" });
      const { frames } = play([call(index, "a"), call(index), finish]);
      expect(frames.at(-1)?.text).toContain('"finish_reason":"tool_calls"');
      const [first, second, third] = indexes([call(index, "a"), call(index), call(undefined, "b")]);
      expect([first, second]).toEqual([index, index]);
      expect(third).not.toBe(index);
      expect(Number.isInteger(third) && Number(third) >= 0).toBe(true);
    },
  );
});
