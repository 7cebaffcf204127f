import type {
  JsonDocument,
  JsonObject,
  NativeDocument,
  SealedItem,
  StreamSink,
} from "@sluice/contract";
import { requestOf } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { writtenDocument } from "../../json/document.ts";
import { isObject } from "../../json/narrow.ts";
import * as Responses from "./index.ts";

const REQUEST = requestOf(
  { messages: [] },
  { provider: "p", model: "gpt-5", operation: "chat", stream: true },
);
const THERE = "p/gpt-5";

function bodyOf(body: JsonObject, more: Partial<NativeDocument> = {}): JsonObject {
  const document = writtenDocument(body);
  const native = { dialect: "openai/responses", document, headers: {}, ...more };
  const { body: sent } = Responses.call(native, REQUEST, { url: "https://x.example", headers: {} });
  return parsed(sent as JsonDocument);
}

/** What the text of a document says. */
function parsed({ bytes }: JsonDocument): JsonObject {
  return JSON.parse(Buffer.from(bytes as Uint8Array).toString()) as JsonObject;
}

describe("the call of the lane", () => {
  const include = ["reasoning.encrypted_content"];

  it("asks an upstream to store nothing, and for reasoning where the reply is kept", () => {
    expect(bodyOf({ input: "Hi.", store: true })).toEqual({
      input: "Hi.",
      model: "gpt-5",
      store: false,
    });
    expect(bodyOf({ input: "Hi." }, { isKept: true }).include).toEqual(include);
    expect(bodyOf({ input: "Hi.", include }, { isKept: true }).include).toEqual(include);
    const plain = requestOf(
      { messages: [] },
      { provider: "p", model: "gpt-4o", operation: "chat", stream: false },
    );
    const document = writtenDocument({ input: "Hi." });
    const native = { dialect: "openai/responses", document, headers: {}, isKept: true } as const;
    const { body } = Responses.call(native, plain, { url: "https://x.example", headers: {} });
    // A model that does not reason refuses it.
    expect(parsed(body as JsonDocument)).not.toHaveProperty("include");
  });

  it("opens what is sealed for its deployment, and leaves other reasoning out", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" };
    const call = { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}" };
    const output = { type: "function_call_output", id: "fco_1", call_id: "c", output: "x" };
    const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "e" };
    const input = [reasoning, call, output, compaction];
    const sealed = (deployment: string): SealedItem[] => [
      { index: 0, text: "mine", deployment },
      { index: 3, text: "small", deployment },
    ];
    const opened = { ...compaction, encrypted_content: "small" };
    expect(bodyOf({ input }, { sealed: sealed(THERE) }).input).toEqual([
      { ...reasoning, encrypted_content: "mine" },
      call,
      output,
      opened,
    ]);
    const { id: _id, ...bare } = call;
    expect(bodyOf({ input }, { sealed: sealed("other/gpt-5") }).input).toEqual([
      bare,
      output,
      opened,
    ]);
    expect(bodyOf({ input }).input).toEqual([bare, output, compaction]);
  });

  it("is for models that have the API", () => {
    const { takesDialect } = Responses.lane;
    for (const model of ["gpt-5", "gpt-4o", "o4-mini", "my-deployment"])
      expect(takesDialect("openai/responses", model)).toBe(true);
    for (const model of ["gpt-4o-audio-preview", "gpt-4o-mini-search-preview", "gpt-35-turbo"])
      expect(takesDialect("openai/responses", model)).toBe(false);
  });
});

function translated(...events: readonly JsonObject[]) {
  const deltas: JsonObject[] = [];
  const logprobs: JsonObject[] = [];
  const seen = { usage: 0, dones: 0, finish: undefined as unknown };
  const sink: StreamSink = {
    committed: true,
    frame(frame) {
      const [choice] = frame.chunk().choices as JsonObject[];
      if (choice === undefined) return;
      deltas.push(choice.delta as JsonObject);
      if (isObject(choice.logprobs)) logprobs.push(choice.logprobs);
      seen.finish ??= choice.finish_reason ?? undefined;
    },
    usage: ({ totalTokens }) => void (seen.usage = totalTokens),
    done: () => void seen.dones++,
  };
  const translator = Responses.translate(REQUEST);
  for (const event of events)
    translator.event({ event: undefined, data: JSON.stringify(event) }, sink);
  return { deltas: deltas.slice(1), logprobs, ...seen };
}

const BEGIN = { type: "response.created", response: {} };

describe("the stream of the lane", () => {
  it.each([
    ["completed", {}, "stop"],
    ["incomplete", { reason: "max_output_tokens" }, "length"],
    ["incomplete", { reason: "content_filter" }, "content_filter"],
  ])("that is %s %o has the reason %s", (status, details, finish) => {
    const usage = { input_tokens: 2, output_tokens: 3 };
    const response = { status, incomplete_details: details, usage };
    expect(
      translated(
        BEGIN,
        { type: "response.output_text.delta", delta: "Hi" },
        { type: `response.${status}`, response },
      ),
    ).toMatchObject({ deltas: [{ content: "Hi" }, {}], usage: 5, dones: 1, finish });
  });

  it("has refusals, annotations, reasoning in parts, and items of servers", () => {
    const cited = {
      type: "url_citation",
      url: "https://a",
      title: "A",
      start_index: 0,
      end_index: 2,
    };
    const search = { type: "web_search_call", id: "ws_1" };
    const part = (summary_index: number) => ({
      type: "response.reasoning_summary_part.added",
      summary_index,
    });
    const thought = (delta: string) => ({ type: "response.reasoning_summary_text.delta", delta });
    const { type, ...annotation } = cited;
    expect(
      translated(
        BEGIN,
        part(0),
        thought("a"),
        part(1),
        thought("b"),
        { type: "response.output_item.done", item: search },
        { type: "response.refusal.delta", delta: "No." },
        { type: "response.output_text.annotation.added", annotation: cited },
      ).deltas,
    ).toEqual([
      { reasoning_content: "a" },
      { reasoning_content: "\n\n" },
      { reasoning_content: "b" },
      { provider_blocks: [search] },
      { refusal: "No." },
      { annotations: [{ type, url_citation: annotation }] },
    ]);
  });

  it("has the numbers of its items, as a whole reply has them", () => {
    const numbers = '{"id":1234567890123456789,"z":-0}';
    const items = [
      `{"type":"shell_call","call_id":"c","action":${numbers}}`,
      `{"type":"mcp_call","id":"m","output":${numbers}}`,
    ];
    const body = Buffer.from(`{"status":"completed","output":[${items.join(",")}]}`);
    const whole = String(Responses.decode(body, REQUEST).document.bytes);
    const frames: string[] = [];
    const translator = Responses.translate(REQUEST);
    for (const item of items)
      translator.event(
        { event: undefined, data: `{"type":"response.output_item.done","item":${item}}` },
        {
          committed: true,
          frame: ({ raw }) => void frames.push(raw ?? ""),
          usage: () => undefined,
          done: () => undefined,
        },
      );
    for (const text of [whole, frames.join("")])
      expect(text.replaceAll('\\"', '"').split(numbers)).toHaveLength(3);
  });

  it("has the log probabilities of its texts, as a whole reply has them", () => {
    const token = (text: string): JsonObject => ({
      token: text,
      bytes: [...Buffer.from(text)],
      logprob: -0.25,
      top_logprobs: [{ token: text, bytes: [...Buffer.from(text)], logprob: -0.25 }],
    });
    const piece = (delta: string, logprobs: JsonObject[]) => ({
      type: "response.output_text.delta",
      delta,
      logprobs,
    });
    const [hi, there] = [token("Hi"), token(" there")];
    const streamed = translated(BEGIN, piece("Hi", [hi]), piece(" there", [there]), piece("!", []));
    expect(streamed.deltas).toEqual([{ content: "Hi" }, { content: " there" }, { content: "!" }]);
    expect(streamed.logprobs).toEqual([
      { content: [hi], refusal: null },
      { content: [there], refusal: null },
    ]);
    const part = { type: "output_text", text: "Hi there", logprobs: [hi, there] };
    const body = { status: "completed", output: [{ type: "message", content: [part] }] };
    const { document } = Responses.decode(Buffer.from(JSON.stringify(body)), REQUEST);
    const [choice] = document.value.choices as JsonObject[];
    expect(choice?.logprobs).toEqual({ content: [hi, there], refusal: null });
  });

  it("has the input of a custom tool as a call with one text", () => {
    const item = { type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "patch" };
    const piece = (delta: string) => ({
      type: "response.custom_tool_call_input.delta",
      item_id: "ctc_1",
      delta,
    });
    const { deltas } = translated(
      BEGIN,
      { type: "response.output_item.added", item: { ...item, namespace: "files" } },
      piece('say "'),
      piece('hi"\n'),
      { type: "response.output_item.done", item },
    );
    const pieces = deltas.flatMap(({ tool_calls: calls }) => calls as JsonObject[]);
    const called = pieces.map((each) => each.function as JsonObject);
    expect(called[0]).toMatchObject({ name: "files__patch" });
    const given = called.map((each) => each.arguments ?? "").join("");
    expect(JSON.parse(given)).toEqual({ input: 'say "hi"\n' });
  });

  it.each<[string, JsonObject, string]>([
    [
      "response.failed",
      { response: { error: { code: "rate_limit_exceeded", message: "m" } } },
      "upstream_rate_limited",
    ],
    [
      "response.failed",
      { response: { error: { code: "server_error", message: "m" } } },
      "upstream_failed",
    ],
    ["error", { code: "context_length_exceeded", message: "m" }, "context_length_exceeded"],
    ["error", { error: { type: "insufficient_quota", message: "m" } }, "upstream_rate_limited"],
  ])("that fails with %s %o is %s", (type, rest, code) => {
    expect(() => translated(BEGIN, { type, ...rest })).toThrow(expect.objectContaining({ code }));
  });
});

describe("the whole reply of the lane", () => {
  const decode = (body: JsonObject) =>
    Responses.decode(Buffer.from(JSON.stringify(body)), REQUEST).document.value;

  it("is the same as the stream", () => {
    const reply = decode({
      status: "completed",
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
        { type: "message", content: [{ type: "output_text", text: "Hi." }] },
        { type: "custom_tool_call", call_id: "c", name: "patch", input: "x" },
        { type: "shell_call", call_id: "d", action: { commands: ["ls"] } },
        { type: "file_search_call", id: "fs_1" },
      ],
      usage: { input_tokens: 2, output_tokens: 3, input_tokens_details: { cached_tokens: 1 } },
    });
    expect(reply).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "Hi.",
            reasoning_content: "Hm.",
            tool_calls: [
              { id: "c", function: { name: "patch", arguments: '{"input":"x"}' } },
              { id: "d", function: { name: "shell", arguments: '{"commands":["ls"]}' } },
            ],
            provider_blocks: [{ type: "file_search_call" }],
          },
        },
      ],
      usage: {
        prompt_tokens: 2,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 1 },
      },
    });
  });

  it.each<[JsonObject, string]>([
    [
      { status: "failed", error: { code: "server_error", message: "m" }, output: [] },
      "upstream_failed",
    ],
    [{ error: { type: "invalid_request_error", message: "m" } }, "upstream_rejected"],
    [{ object: "response" }, "upstream_invalid_response"],
  ])("%o is an error", (body, code) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ code }));
  });
});
