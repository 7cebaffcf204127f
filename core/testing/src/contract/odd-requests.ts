/** Requests that clients send and that providers stumble over. Data. */

import type { JsonObject, JsonValue } from "@sluice/contract";

const CALL = (text: JsonValue, id = "call_1", name = "get_weather"): JsonObject => ({
  id,
  type: "function",
  function: { name, arguments: text },
});
const ANSWER = (id = "call_1"): JsonObject => ({
  role: "tool",
  tool_call_id: id,
  content: "18 degrees",
});
const ASK: JsonObject = { role: "user", content: "What is the weather?" };

/** A tool with one argument, as most tests offer it. */
export const WEATHER_TOOL: JsonObject = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** A second tool. */
export const OTHER_TOOL: JsonObject = {
  type: "function",
  function: { name: "get_time", parameters: { type: "object" } },
};

/** One transparent pixel. */
export const PIXEL_URL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const withCall = (call: JsonObject): readonly JsonObject[] => [
  ASK,
  { role: "assistant", content: null, tool_calls: [call] },
  ANSWER(),
];

/**
 * Conversations by what is odd about them. Each is encoded, or refused with a 400; never anything
 * else.
 */
export const ODD_MESSAGES: Readonly<Record<string, readonly JsonObject[]>> = {
  "arguments that are an empty text": withCall(CALL("")),
  "arguments that are an empty object": withCall(CALL("{}")),
  "arguments that are no JSON": withCall(CALL("{city: Berlin")),
  "arguments that are a JSON array": withCall(CALL("[1]")),
  "arguments that are a JSON null": withCall(CALL("null")),
  "arguments with a 64-bit integer": withCall(CALL('{"id":9007199254740993}')),
  "arguments with odd characters": withCall(CALL('{"city":"\\u0000\\ud800 \u2028 😀"}')),
  "a content that is null": [{ role: "user", content: null }, ASK],
  "a content that is an empty text": [{ role: "user", content: "" }, ASK],
  "a content that is an empty list": [{ role: "user", content: [] }, ASK],
  "a content that is white space": [{ role: "user", content: " \n\t" }, ASK],
  "a block that is an empty text": [
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "text", text: "Hi" },
      ],
    },
  ],
  "an assistant with nothing but calls": withCall(CALL('{"city":"Berlin"}')),
  "an assistant with an empty text and calls": [
    ASK,
    { role: "assistant", content: "", tool_calls: [CALL("{}")] },
    ANSWER(),
  ],
  "an assistant that said nothing": [
    ASK,
    { role: "assistant", content: "" },
    { role: "user", content: "Well?" },
  ],
  "an assistant that refused": [
    ASK,
    { role: "assistant", content: null, refusal: "No." },
    { role: "user", content: "Why?" },
  ],
  "an empty list of calls": [
    ASK,
    { role: "assistant", content: "Hm.", tool_calls: [] },
    { role: "user", content: "Well?" },
  ],
  "a result that is empty": [
    ASK,
    { role: "assistant", content: null, tool_calls: [CALL("{}")] },
    { role: "tool", tool_call_id: "call_1", content: "" },
  ],
  "results in another order than their calls": [
    ASK,
    {
      role: "assistant",
      content: null,
      tool_calls: [CALL("{}", "call_a"), CALL("{}", "call_b"), CALL("{}", "call_c")],
    },
    ANSWER("call_c"),
    ANSWER("call_a"),
    ANSWER("call_b"),
  ],
  "an image between results": [
    ASK,
    { role: "assistant", content: null, tool_calls: [CALL("{}", "call_a"), CALL("{}", "call_b")] },
    ANSWER("call_a"),
    ANSWER("call_b"),
    { role: "user", content: [{ type: "image_url", image_url: { url: PIXEL_URL } }] },
  ],
  "a result without a call": [ASK, ANSWER("call_never")],
  "a call without a result": [
    ASK,
    { role: "assistant", content: null, tool_calls: [CALL("{}")] },
    ASK,
  ],
  "history of tools in a request without tools": [...withCall(CALL("{}")), ASK],
  "a name of 64 characters and more": withCall(CALL("{}", "call_1", "a".repeat(80))),
  "a name in another script": withCall(CALL("{}", "call_1", "wetter.abfragen/für Köln")),
  "an id in another charset": [
    ASK,
    { role: "assistant", content: null, tool_calls: [CALL("{}", "call:1/ü")] },
    ANSWER("call:1/ü"),
  ],
  "an id that is very long": [
    ASK,
    { role: "assistant", content: null, tool_calls: [CALL("{}", "c".repeat(300))] },
    ANSWER("c".repeat(300)),
  ],
  "a developer's instructions": [{ role: "developer", content: "Be brief." }, ASK],
  "instructions in blocks": [
    {
      role: "system",
      content: [
        { type: "text", text: "One." },
        { type: "text", text: "Two." },
      ],
    },
    ASK,
  ],
  "several instructions at several places": [
    { role: "system", content: "One." },
    ASK,
    { role: "system", content: "Two." },
    ASK,
  ],
  "instructions alone": [{ role: "system", content: "Be brief." }],
  "two turns of one side": [
    ASK,
    ASK,
    { role: "assistant", content: "A" },
    { role: "assistant", content: "B" },
    ASK,
  ],
  "an assistant who begins": [{ role: "assistant", content: "Hello." }, ASK],
  "an assistant who ends": [ASK, { role: "assistant", content: "The answer is" }],
  "a legacy call": [
    ASK,
    { role: "assistant", content: null, function_call: { name: "get_weather", arguments: "{}" } },
    { role: "function", name: "get_weather", content: "18" },
  ],
  "a name of a participant": [{ role: "user", name: "Ada", content: "Hi." }],
  "thoughts without a signature": [
    ASK,
    { role: "assistant", content: "A", reasoning_content: "Hm." },
    ASK,
  ],
  "thoughts with a signature": [
    ASK,
    {
      role: "assistant",
      content: "A",
      reasoning_content: "Hm.",
      thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }],
    },
    ASK,
  ],
  "members that replies carry": [
    ASK,
    {
      role: "assistant",
      content: "A",
      refusal: null,
      audio: null,
      function_call: null,
      annotations: [],
    },
    ASK,
  ],
  "no message": [],
};

/** Blocks by their type: each is translated, or refused with its path. */
export const BLOCKS: Readonly<Record<string, JsonObject>> = {
  "image (data)": { type: "image_url", image_url: { url: PIXEL_URL } },
  "image (https)": {
    type: "image_url",
    image_url: { url: "https://example.com/cat.png", detail: "low" },
  },
  audio: { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
  "PDF (data)": {
    type: "file",
    file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQK" },
  },
  "file by id": { type: "file", file: { file_id: "file-abc123" } },
  document: {
    type: "document",
    source: { type: "text", media_type: "text/plain", data: "A text." },
    title: "T",
  },
  video: { type: "video_url", video_url: { url: "https://example.com/a.mp4" } },
  "unknown block": { type: "x_hologram", x_hologram: { data: "AAAA" } },
};

/** A value for each parameter of the reference dialect, one that asks for something. */
export const PARAMETER_VALUES: Readonly<Record<string, JsonValue>> = {
  temperature: 0.3,
  top_p: 0.7,
  max_tokens: 77,
  max_completion_tokens: 78,
  n: 2,
  stop: ["END", "FIN"],
  seed: 7,
  presence_penalty: 0.4,
  frequency_penalty: 0.6,
  logit_bias: { "50256": -100 },
  logprobs: true,
  top_logprobs: 3,
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "answer",
      strict: true,
      schema: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
    },
  },
  prediction: { type: "content", content: "Hello" },
  modalities: ["text", "audio"],
  audio: { voice: "alloy", format: "mp3" },
  reasoning_effort: "high",
  verbosity: "low",
  service_tier: "default",
  store: true,
  web_search_options: {},
  thinking: { type: "enabled", budget_tokens: 2_000 },
  safety_identifier: "hash-of-a-user",
  prompt_cache_key: "prefix-1",
  prompt_cache_retention: "24h",
};

/** What a request with tools may say of their use. */
export const TOOL_CHOICES: Readonly<Record<string, JsonObject>> = {
  "tool_choice auto": { tool_choice: "auto" },
  "tool_choice none": { tool_choice: "none" },
  "tool_choice required": { tool_choice: "required" },
  "tool_choice named": { tool_choice: { type: "function", function: { name: "get_weather" } } },
  "tool_choice allowed_tools": {
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "auto",
        tools: [{ type: "function", function: { name: "get_weather" } }],
      },
    },
  },
  "parallel_tool_calls false": { parallel_tool_calls: false },
};

/** Bodies that are no reply at all. */
export const ODD_BODIES: Readonly<Record<string, string>> = {
  nothing: "",
  "white space": "\n\n",
  "no JSON": "<html>502 Bad Gateway</html>",
  "half a JSON": '{"id":"x","choices":[{',
  "a null": "null",
  "a list": "[]",
  "a text": '"ok"',
  "an empty object": "{}",
};
