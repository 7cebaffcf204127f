import type { EncodedCall, JsonObject, JsonValue } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { bodyText, FACE_CONTEXT, FACE_MEANS, requestOf } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { CLIENT, FACE, PROVIDER, TARGET } from "./face.fixture.ts";
import { messageOf } from "./reply/message.ts";
import { UNSIGNED } from "./unsigned.ts";

const CONTEXT = { ...FACE_CONTEXT, startedAtMs: 0 };

/** What Anthropic gets of a client's request by way of the reference dialect. */
function sent(request: JsonObject): JsonObject {
  const { body } = FACE.read(documentOf(JSON.stringify(request)), CLIENT, FACE_MEANS);
  const call = PROVIDER.encode(requestOf(body, { ...TARGET, stream: body.stream === true }));
  return JSON.parse(bodyText((call as EncodedCall).body)) as JsonObject;
}

const asked = (members: JsonObject): JsonObject => ({
  model: TARGET.model,
  max_tokens: 20_000,
  messages: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
  ...members,
});

const EPHEMERAL = { type: "ephemeral", ttl: "1h" };
const TOOL = {
  name: "get_weather",
  description: "The weather of a city.",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};
const THOUGHT = { type: "thinking", thinking: "A thought.", signature: "EqQBCgIYAhIM1gbcDa9GJ" };
const REDACTED = { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" };
const use = (id: string, input: JsonObject = {}): JsonObject => ({
  type: "tool_use",
  id,
  name: "get_weather",
  input,
});
const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: "tool_result",
  tool_use_id: id,
  content: [{ type: "text", text: "18 degrees" }],
  ...more,
});
const text = (value: string, more: JsonObject = {}): JsonObject => ({
  type: "text",
  text: value,
  ...more,
});
const conversation = (...answer: readonly JsonObject[]): JsonObject => {
  const results = answer.flatMap(({ type, id }) =>
    type === "tool_use" ? [result(String(id))] : [],
  );
  return asked({
    tools: [TOOL],
    messages: [
      { role: "user", content: [text("The weather?")] },
      { role: "assistant", content: answer },
      { role: "user", content: results.length === 0 ? [text("More.")] : results },
    ],
  });
};
const PIXEL = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
const PDF = { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK" };

const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "a question": asked({}),
  "a stream with instructions": asked({
    stream: true,
    system: [
      text("x-anthropic-billing-header: a"),
      text("Be brief.", { cache_control: EPHEMERAL }),
    ],
  }),
  parameters: asked({
    temperature: 0.5,
    top_k: 40,
    stop_sequences: ["END"],
    service_tier: "standard_only",
    metadata: { user_id: "u1" },
  }),
  "thinking with a budget": asked({ thinking: { type: "enabled", budget_tokens: 10_000 } }),
  "adaptive thinking with an effort": asked({
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "max" },
  }),
  "a schema": asked({
    output_config: {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { a: { type: "string" } },
          required: ["a"],
          additionalProperties: false,
        },
      },
    },
  }),
  "tools with a choice": asked({
    tools: [{ ...TOOL, strict: true, cache_control: EPHEMERAL }],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
  }),
  "a tool by name": asked({
    tools: [TOOL],
    tool_choice: { type: "tool", name: "get_weather" },
  }),
  "results with errors, pictures and markers": asked({
    tools: [TOOL],
    messages: [
      { role: "user", content: [text("The weather?")] },
      {
        role: "assistant",
        content: [text("I look."), use("toolu_1", { city: "Berlin" }), use("toolu_2")],
      },
      {
        role: "user",
        content: [
          result("toolu_1", { is_error: true, cache_control: EPHEMERAL }),
          {
            type: "tool_result",
            tool_use_id: "toolu_2",
            content: [text("A picture:"), { type: "image", source: PIXEL }],
          },
          text("Go on.", { cache_control: EPHEMERAL }),
        ],
      },
    ],
  }),
  media: asked({
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: PIXEL, cache_control: EPHEMERAL },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "image", source: { type: "file", file_id: "file_1" } },
          { type: "document", source: PDF },
          {
            type: "document",
            source: PDF,
            title: "a.pdf",
            context: "c",
            citations: { enabled: true },
          },
          { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "Words." },
            title: "t",
          },
        ],
      },
    ],
  }),
  "thoughts in the usual order": conversation(THOUGHT, REDACTED, text("I look."), use("toolu_1")),
  "thoughts between calls": conversation(
    THOUGHT,
    use("toolu_1", { city: "Berlin" }),
    { type: "thinking", thinking: "", signature: "QUJD" },
    REDACTED,
    use("toolu_2"),
  ),
  "texts between thoughts and calls": conversation(
    text("First."),
    THOUGHT,
    text("Then."),
    use("toolu_1"),
    text("And."),
    text("Also.", { cache_control: EPHEMERAL }),
    REDACTED,
    use("toolu_2"),
  ),
  "one text after a call": conversation(use("toolu_1"), text("Done.")),
};

describe("a request by way of the reference dialect", () => {
  it.each(Object.entries(REQUESTS))("reaches Anthropic as it was: %s", (_, request) => {
    expect(sent(request)).toEqual(request);
  });

  it("has texts as blocks, and results that are texts too", () => {
    const request = asked({
      system: "Be brief.",
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [use("toolu_1")] },
        { role: "user", content: [{ ...result("toolu_1"), content: "18" }] },
      ],
    });
    expect(sent({ ...request, tools: [TOOL] })).toEqual({
      ...request,
      tools: [TOOL],
      system: [text("Be brief.")],
      messages: [
        { role: "user", content: [text("Hi")] },
        { role: "assistant", content: [use("toolu_1")] },
        { role: "user", content: [{ ...result("toolu_1"), content: [text("18")] }] },
      ],
    });
  });

  it("has no thoughts that Anthropic did not sign", () => {
    const unsigned = { type: "thinking", thinking: "Other.", signature: UNSIGNED };
    const { messages: list } = sent(conversation(unsigned, text("Hm."), use("toolu_1")));
    expect((list as readonly JsonObject[])[1]?.content).toEqual([text("Hm."), use("toolu_1")]);
  });
});

describe("a reply by way of the reference dialect", () => {
  const reply = (...content: readonly JsonObject[]): JsonObject => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: TARGET.model,
    content,
    stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 },
  });
  const read = (message: JsonObject): JsonObject => {
    const request = requestOf(
      { model: "contract/model", messages: [] },
      { ...TARGET, stream: false },
    );
    const { document } = PROVIDER.decode(Buffer.from(JSON.stringify(message)), request);
    return messageOf(document.value, {}, CONTEXT);
  };

  it.each<[string, readonly JsonObject[]]>([
    ["a text", [text("Hi")]],
    ["the usual order", [THOUGHT, REDACTED, text("Hi"), use("toolu_1", { city: "Berlin" })]],
    ["thoughts between calls", [THOUGHT, use("toolu_1"), REDACTED, text("Now."), use("toolu_2")]],
    [
      "blocks of the API's tools",
      [
        text("I search."),
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
        text("Found."),
      ],
    ],
    ["texts between calls", [text("A"), use("toolu_1"), text("B"), use("toolu_2"), text("C")]],
  ])("has the blocks of Anthropic's: %s", (_, content) => {
    const written = read(reply(...content));
    expect(written).toMatchObject({
      content,
      stop_reason: reply(...content).stop_reason,
      usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 },
    });
    if (content.some(({ type }) => type === "server_tool_use")) return;
    // And the client returns them.
    const returned = Members.objectsOf(written.content as JsonValue);
    expect(sent(conversation(...returned))).toEqual(conversation(...content));
  });
});
