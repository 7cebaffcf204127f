import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Frame, FrameRole, JsonObject, StreamSink, Usage } from "@sluice/contract";
import { chunkFrame, createChatTranslator, hasContent } from "./stream.ts";

const folder = join(import.meta.dirname, "../../../../test/fixtures/openai");
const golden = readdirSync(folder).filter(
  (name) => name.endsWith(".sse") && name !== "stream-error.sse",
);

/** A sink that keeps everything, committed by the first content. */
function openSink() {
  const frames: { raw: string | undefined; role: FrameRole; chunk: () => JsonObject }[] = [];
  const kept: { usage: Usage | undefined; isDone: boolean } = { usage: undefined, isDone: false };
  const sink: StreamSink & { committed: boolean } = {
    committed: false,
    frame(frame: Frame, role) {
      if (role === "content") sink.committed = true;
      frames.push({ raw: frame.raw, role, chunk: () => frame.chunk() });
    },
    usage: (usage) => void (kept.usage = usage),
    done: () => void (kept.isDone = true),
  };
  return { sink, frames, kept };
}

function translate(model: string, ...data: readonly string[]) {
  const opened = openSink();
  const translator = createChatTranslator(model);
  for (const text of data) translator.event({ event: undefined, data: text }, opened.sink);
  return opened;
}

describe.each(golden)("%s", (name) => {
  const data = readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6));
  const events = data.filter((text) => text !== "[DONE]");
  const { model } = JSON.parse(events[0] ?? "") as { model: string };

  it("keeps the text of every event when the model has the same name", () => {
    const { frames, kept } = translate(model, ...data);
    expect(frames.map(({ raw }) => raw)).toEqual(events);
    expect(kept.isDone).toBe(data.includes("[DONE]"));
  });

  it("changes the model and nothing else", () => {
    const { frames } = translate("alias", ...data);
    expect(frames.map(({ raw }) => raw)).toEqual(
      events.map((text) => text.replace(`"model":"${model}"`, '"model":"alias"')),
    );
  });

  it("begins with a preamble, and goes on with content", () => {
    const roles = translate(model, ...data).frames.map(({ role }) => role);
    expect(roles.slice(0, 2)).toEqual(["preamble", "content"]);
  });
});

describe("the translator", () => {
  const usage =
    '{"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}';
  const content = '{"model":"m","choices":[{"delta":{"content":"x"}}]}';

  it("tells a usage chunk from content that brings usage along", () => {
    const both = content.replace(
      "]}",
      '],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
    );
    const { frames, kept } = translate("m", content, both, usage);
    expect(frames.map(({ role }) => role)).toEqual(["content", "content", "usage"]);
    expect(kept.usage?.totalTokens).toBe(3);
  });

  it("lets the last usage count, also before any content", () => {
    const { frames, kept } = translate("m", usage, content);
    expect(frames.map(({ role }) => role)).toEqual(["usage", "content"]);
    expect(kept.usage?.totalTokens).toBe(3);
  });

  it("throws an error event before and after content", () => {
    const error = '{"error":{"message":"m","type":"overloaded_error"}}';
    expect(() => translate("m", error)).toThrow(
      expect.objectContaining({ code: "upstream_overloaded" }),
    );
    expect(() => translate("m", content, error)).toThrow(
      expect.objectContaining({ code: "upstream_overloaded" }),
    );
  });

  it("is not misled by text that looks like an error or a usage", () => {
    const text = JSON.stringify({
      model: "m",
      choices: [{ delta: { content: '{"error":{"message":"x"},"usage":{"prompt_tokens":9}}' } }],
    });
    const { frames, kept } = translate("m", content, text);
    expect(frames.map(({ role }) => role)).toEqual(["content", "content"]);
    expect(kept.usage).toBeUndefined();
  });

  it.each(["ping", "null", "[]", "7", '{"choices":'])(
    "leaves out the event %j, and refuses the fourth of them",
    (text) => {
      expect(translate("m", text, content, text, text).frames).toHaveLength(1);
      expect(() => translate("m", text, content, text, text, text)).toThrow(
        expect.objectContaining({ code: "upstream_invalid_response" }),
      );
    },
  );

  it("minds no empty events", () => {
    expect(translate("m", "", "", "", "", "", content).frames).toHaveLength(1);
  });

  it("throws for an error in the event's name, or as a bare text", () => {
    const event = (data: string, name?: string) => () =>
      createChatTranslator("m").event({ event: name, data }, openSink().sink);
    expect(event('{"message":"full","type":"overloaded_error"}', "error")).toThrow(
      expect.objectContaining({ code: "upstream_overloaded" }),
    );
    expect(event('{"error":"boom"}')).toThrow(
      expect.objectContaining({ code: "upstream_failed", message: "boom" }),
    );
  });

  it("parses a frame once, on demand", () => {
    const frame = translate("m", content, content).frames[1];
    expect(frame?.chunk()).toBe(frame?.chunk());
    expect(frame?.chunk()).toEqual(JSON.parse(content));
    const chunk = { a: 1 };
    expect(chunkFrame(chunk)).toMatchObject({ raw: undefined });
    expect(chunkFrame(chunk).chunk()).toBe(chunk);
  });
});

describe("hasContent", () => {
  it.each([
    [{ delta: { role: "assistant" } }, false],
    [{ delta: { role: "assistant", content: "" } }, false],
    [{ delta: { content: null, refusal: null, tool_calls: [] } }, false],
    [{ delta: {}, finish_reason: null }, false],
    [{ content_filter_results: { hate: { filtered: false } } }, false],
    [{ delta: { content: " " } }, true],
    [{ delta: { tool_calls: [{ index: 0 }] } }, true],
    [{ delta: {}, finish_reason: "stop" }, true],
  ])("reads %j", (choice, expected) => {
    expect(hasContent({ choices: [choice] })).toBe(expected);
  });

  it.each([{}, { choices: null }, { choices: [] }, { choices: [null] }])(
    "is false for %j",
    (chunk) => {
      expect(hasContent(chunk)).toBe(false);
    },
  );
});
