import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, LocalCall, ProviderRequest } from "@sluice/spec";
import { fakeHost, fakeRequest, fakeTarget } from "@sluice/kit/testing";
import echo from "./index.ts";

const provider = echo.create({}, fakeHost());

function request(body: JsonObject): ProviderRequest {
  const { document, stream } = fakeRequest(body);
  const target = fakeTarget("echo", "echo");
  return { operation: "chat", document, target, replyModel: "alias", stream, replyId: "chatcmpl-1", createdSeconds: 7 };
}

function user(content: JsonObject[string]): JsonObject {
  return {
    model: "alias",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: content ?? null },
    ],
  };
}

function call(asked: ProviderRequest): LocalCall {
  const made = provider.encode(asked);
  if (made.kind !== "local") throw new Error("The echo has no network.");
  return made;
}

/** The whole answer as a client reads it. */
function answer(body: JsonObject) {
  const asked = request(body);
  return provider.decode(Buffer.from([...call(asked).body].join("")), asked);
}

/** The chunks of the streamed answer. */
function chunks(body: JsonObject): JsonObject[] {
  const events = [...call(request({ ...body, stream: true })).body];
  expect(events.at(-1)).toBe("data: [DONE]\n\n");
  return events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)) as JsonObject);
}

const textOf = (chunk: JsonObject): string =>
  (chunk.choices as { delta: { content?: string } }[]).map(({ delta }) => delta.content ?? "").join("");

describe("the echo", () => {
  it("repeats the last user message, with true usage", () => {
    const { document, usage } = answer(user("Hello,  Sluice "));
    expect(document.value).toMatchObject({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 7,
      model: "alias",
      choices: [{ index: 0, message: { role: "assistant", content: "Hello,  Sluice " }, finish_reason: "stop" }],
    });
    expect(usage).toEqual({ promptTokens: 5, completionTokens: 3, totalTokens: 8 });
  });

  it.each<[string, JsonObject, string]>([
    [
      "the texts of blocks",
      user([
        { type: "text", text: "a " },
        { type: "image_url", image_url: { url: "x" } },
        { type: "text", text: "b" },
      ]),
      "a b",
    ],
    ["nothing for no text", user(null), ""],
    ["nothing without a user", { messages: [{ role: "system", content: "x" }] }, ""],
    [
      "the last of several",
      {
        messages: [
          { role: "user", content: "one" },
          { role: "user", content: "two" },
          { role: "assistant", content: "x" },
        ],
      },
      "two",
    ],
  ])("repeats %s", (_what, body, expected) => {
    expect(answer(body).document.value).toMatchObject({ choices: [{ message: { content: expected } }] });
  });

  it("streams a role, a word an event, a finish reason, the usage and the end mark", () => {
    const all = chunks(user("Hello, Sluice"));
    expect(all.map(({ choices }) => choices)).toMatchObject([
      [{ delta: { role: "assistant", content: "" }, finish_reason: null }],
      [{ delta: { content: "Hello," } }],
      [{ delta: { content: " Sluice" } }],
      [{ delta: {}, finish_reason: "stop" }],
      [],
    ]);
    expect(all.at(-1)?.usage).toEqual({ prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 });
    expect(new Set(all.map(({ id, created, model }) => `${String(id)} ${String(created)} ${String(model)}`)).size).toBe(1);
  });

  it("says the same whole and streamed, whatever it is told", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const { document, usage } = answer(user(text));
        const streamed = chunks(user(text));
        expect(document.value).toMatchObject({ choices: [{ message: { content: text } }] });
        expect(streamed.map(textOf).join("")).toBe(text);
        expect(streamed.at(-1)?.usage).toMatchObject({ total_tokens: usage?.totalTokens });
      }),
    );
  });
});
