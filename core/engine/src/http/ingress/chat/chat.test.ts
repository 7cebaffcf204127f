import { describe, expect, it } from "vitest";
import { documentOf } from "@sluice/kit";
import { fakeClient } from "@sluice/testing";
import { receiveChat } from "./chat.ts";

const messages = '"messages":[{"role":"user","content":"hi"}]';

function receive(text: string, headers: Readonly<Record<string, string>> = {}) {
  return receiveChat(documentOf(text), fakeClient(headers));
}

describe("a chat request", () => {
  it.each(["system", "developer", "user", "assistant", "tool", "function"])(
    "may have a %s with an empty list of blocks",
    (role) => {
      const more =
        role === "tool" ? ',"tool_call_id":"c"' : role === "function" ? ',"name":"f"' : "";
      const text = `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"${role}","content":[]${more}}]}`;
      expect(receive(text).document.bytes).toBe(text);
    },
  );

  it("keeps its document when it holds nothing of the gateway's", () => {
    const document = documentOf(`{"model":"m",${messages},"unknown":{"x":[1]}}`);
    const request = receiveChat(document, fakeClient());
    expect(request.document).toBe(document);
    expect(request).toMatchObject({
      model: "m",
      stream: false,
      includeUsage: false,
      endUser: null,
      tags: [],
      metadata: {},
      fields: {},
    });
  });

  it("loses the gateway's own fields on the way to the upstream", () => {
    const own =
      '"guardrails":[],"drop_params":true,"caching":true,"cache":{"ttl":5},"num_retries":2,"fallbacks":[],"context_window_fallback_dict":{},"timeout":3,"tags":["t"],"metadata":{"a":1}';
    const request = receive(`{"model":"m",${own},${messages},"seed":-9007199254740993}`);
    expect(request.document.bytes).toBe(`{"model":"m",${messages},"seed":-9007199254740993}`);
    expect(request.fields).toEqual({
      guardrails: [],
      drop_params: true,
      caching: true,
      cache: { ttl: 5 },
      num_retries: 2,
      fallbacks: [],
      context_window_fallback_dict: {},
      timeout: 3,
      tags: ["t"],
      metadata: { a: 1 },
    });
  });

  it("says whether it streams, and whether it wants usage", () => {
    expect(
      receive(
        `{"model":"m",${messages},"stream":true,"stream_options":{"include_usage":true},"user":"u"}`,
      ),
    ).toMatchObject({
      stream: true,
      includeUsage: true,
      endUser: "u",
    });
    expect(
      receive(
        `{"model":"m",${messages},"stream":null,"stream_options":null,"user":null,"metadata":null}`,
      ),
    ).toMatchObject({
      stream: false,
      includeUsage: false,
    });
  });

  it("joins the tags of body, metadata and header, without repeats", () => {
    const text = `{"model":"m",${messages},"tags":["a","b",""],"metadata":{"tags":["b","c"]}}`;
    expect(receive(text, { "x-sluice-tags": "c, d ,,a" }).tags).toEqual(["a", "b", "c", "d"]);
  });

  it("has the tags, the user and the notes of litellm_metadata, as an object or as text", () => {
    const notes = { tags: ["a"], user: "u", trace: "t", spend_logs_metadata: { b: 1 } };
    for (const said of [notes, JSON.stringify(notes)]) {
      const text = `{"model":"m",${messages},"metadata":{"tags":["c"],"trace":"mine"},"litellm_metadata":${JSON.stringify(said)}}`;
      const request = receive(text);
      expect(request).toMatchObject({
        endUser: "u",
        metadata: { trace: "mine", spend_logs_metadata: { b: 1 } },
      });
      expect(request.tags.toSorted()).toEqual(["a", "c"]);
      expect(request.document.bytes).toBe(`{"model":"m",${messages}}`);
    }
    expect(
      receive(`{"model":"m",${messages},"user":"v","litellm_metadata":{"user":"u"}}`).endUser,
    ).toBe("v");
  });

  it("loses what other gateways know, and keeps it among its fields", () => {
    const own =
      '"mock_response":"x","litellm_trace_id":"t","no-log":true,"api_key":"k","disable_fallbacks":true';
    const request = receive(`{"model":"m",${own},${messages},"priority":1}`);
    expect(request.document.bytes).toBe(`{"model":"m",${messages},"priority":1}`);
    expect(Object.keys(request.fields)).toEqual([
      "mock_response",
      "litellm_trace_id",
      "no-log",
      "api_key",
      "disable_fallbacks",
      "fallbacks",
    ]);
    expect(request.fields.fallbacks).toEqual([]);
  });

  it("reads headers where the body says nothing, and refuses what they may not say", () => {
    const said = { "x-sluice-timeout": "7", "x-sluice-num-retries": "1" };
    const request = receive(`{"model":"m",${messages}}`, said);
    expect([request.timeoutMs, request.fields.num_retries]).toEqual([7_000, 1]);
    const both = receive(`{"model":"m",${messages},"timeout":3,"num_retries":0}`, said);
    expect([both.timeoutMs, both.fields.num_retries]).toEqual([3_000, 0]);
    for (const [name, value] of [
      ["x-sluice-timeout", "0"],
      ["x-sluice-timeout", "1.5"],
      ["x-sluice-timeout", "soon"],
      ["x-sluice-num-retries", "-1"],
    ] as const) {
      expect(() => receive(`{"model":"m",${messages}}`, { [name]: value })).toThrow(
        expect.objectContaining({ param: name }),
      );
    }
  });

  it("records metadata, but not what steers the gateway", () => {
    const text = `{"model":"m",${messages},"metadata":{"a":1,"tags":["x"],"guardrails":[],"spend_logs_metadata":{"z":1}}}`;
    expect(receive(text, { "x-request-id": "mine" }).metadata).toEqual({
      a: 1,
      spend_logs_metadata: { z: 1 },
      client_request_id: "mine",
    });
  });

  it.each([
    '"max_tokens":0',
    '"max_completion_tokens":0',
    '"seed":-9007199254740991',
    '"seed":9223372036854775807',
    '"temperature":0',
    '"temperature":2',
    '"top_p":1',
    '"n":null',
    '"n":128',
    '"stop":"x"',
    '"stop":["a","b","c","d"]',
    '"stop":null',
    '"logprobs":true,"top_logprobs":20',
    '"top_logprobs":0',
    '"tools":[]',
    '"tools":null',
    '"tools":[{"type":"function","function":{"name":"f","parameters":{},"strict":null}}]',
    '"tools":[{"type":"custom","custom":{"name":"f"}},{"type":"web_search_20250305","name":"web_search"}]',
    '"tool_choice":"required"',
    '"tool_choice":{"type":"function","function":{"name":"f"}}',
    '"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}',
    '"functions":[{"name":"f"}],"function_call":{"name":"f"}',
    '"function_call":"none"',
    '"response_format":{"type":"text"}',
    '"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{},"strict":true}}',
    '"prediction":{"type":"content","content":[{"type":"text","text":"x"}]}',
    '"modalities":["text","audio"],"audio":{"voice":"alloy","format":"mp3"}',
    '"reasoning_effort":"minimal","verbosity":"low","service_tier":"flex","store":true',
    '"parallel_tool_calls":false,"logit_bias":{"50256":-100}',
    '"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}',
    '"metadata":null,"tags":null,"user":null,"timeout":null,"fallbacks":null,"cache":null',
    '"fallbacks":["a",{"model":"b","temperature":0}]',
    '"cache":{"ttl":60,"s-maxage":5,"no-cache":true,"no-store":false,"namespace":"x"}',

    '"timeout":1',
    '"timeout":900000000',
    '"litellm_metadata":{"tags":["a"],"user":"u","x":1}',
    '"litellm_metadata":"{\\"tags\\":[\\"a\\"]}"',
    '"disable_fallbacks":true,"mock_response":{"a":1},"no-log":true,"priority":1',
    '"unknown":{"a":1},"x":1e400',
    '"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"constructor":{},"__proto__":{}}}}}]',
    '"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"properties":{"prototype":{}}}}}',
    '"metadata":{"constructor":"x"}',
  ])("with %s is accepted", (field) => {
    expect(() => receive(`{"model":"m",${messages},${field}}`)).not.toThrow();
  });

  it.each([
    [`{${messages}}`, "model"],
    [`{"model":"",${messages}}`, "model"],
    [`{"model":null,${messages}}`, "model"],
    [`{"model":["m"],${messages}}`, "model"],
    [`{"model":"a\\u0000b",${messages}}`, "model"],
    ['{"model":"m"}', "messages"],
    ['{"model":"m","messages":null}', "messages"],
    ['{"model":"m","messages":[]}', "messages"],
    ['{"model":"m","messages":"hi"}', "messages"],
    ['{"model":"m","messages":{"role":"user"}}', "messages"],
    ['{"model":"m","messages":[{"role":"user","content":"x"},"hi"]}', "messages[1]"],
    ['{"model":"m","messages":[{"content":"hi"}]}', "messages[0]"],
    ['{"model":"m","messages":[null]}', "messages[0]"],
    ['{"model":"m","messages":[{"role":"robot","content":"hi"}]}', "messages[0]"],
    ...[
      ['"stream":"yes"', "stream"],
      ['"stream_options":[]', "stream_options"],
      ['"stream_options":{"include_usage":true}', "stream_options"],
      ['"stream":true,"stream_options":{"include_usage":1}', "stream_options.include_usage"],
      ['"metadata":"x"', "metadata"],
      ['"user":7', "user"],
      ['"temperature":"hot"', "temperature"],
      ['"temperature":2.1', "temperature"],
      ['"temperature":1e400', "temperature"],
      ['"top_p":-0.1', "top_p"],
      ['"max_tokens":-1', "max_tokens"],
      ['"max_tokens":1.5', "max_tokens"],
      ['"max_tokens":1e400', "max_tokens"],
      ['"n":0', "n"],
      ['"n":129', "n"],
      ['"stop":["a","b","c","d","e"]', "stop"],
      ['"stop":["a",1]', "stop[1]"],
      ['"stop":7', "stop"],
      ['"seed":1.5', "seed"],
      ['"presence_penalty":3', "presence_penalty"],
      ['"frequency_penalty":-3', "frequency_penalty"],
      ['"logit_bias":[]', "logit_bias"],
      ['"logit_bias":{"1":"x"}', "logit_bias.1"],
      ['"logit_bias":{"1":101}', "logit_bias.1"],
      ['"logprobs":1', "logprobs"],
      ['"logprobs":true,"top_logprobs":21', "top_logprobs"],
      ['"top_logprobs":2', "top_logprobs"],
      ['"tools":{}', "tools"],
      ['"tools":[{}]', "tools[0]"],
      ['"tools":[{"type":"function"}]', "tools[0].function"],
      ['"tools":[{"type":"function","function":{}}]', "tools[0].function.name"],
      ['"tools":[{"type":"function","function":{"name":"a b"}}]', "tools[0].function.name"],
      [
        '"tools":[{"type":"function","function":{"name":"f","parameters":"x"}}]',
        "tools[0].function.parameters",
      ],
      ['"tool_choice":"any"', "tool_choice"],
      ['"tool_choice":{"type":"function"}', "tool_choice.function"],
      ['"tool_choice":7', "tool_choice"],
      ['"parallel_tool_calls":"no"', "parallel_tool_calls"],
      ['"functions":[{}]', "functions[0].name"],
      ['"function_call":{}', "function_call.name"],
      ['"response_format":"json"', "response_format"],
      ['"response_format":{}', "response_format"],
      ['"response_format":{"type":"json_schema"}', "response_format.json_schema"],
      [
        '"response_format":{"type":"json_schema","json_schema":{}}',
        "response_format.json_schema.name",
      ],
      ['"prediction":{}', "prediction.type"],
      ['"modalities":"text"', "modalities"],
      ['"audio":[]', "audio"],
      ['"reasoning_effort":1', "reasoning_effort"],
      ['"service_tier":1', "service_tier"],
      ['"store":"x"', "store"],
      ['"guardrails":"pii"', "guardrails"],
      ['"caching":"yes"', "caching"],
      ['"cache":true', "cache"],
      ['"cache":{"ttl":"5"}', "cache.ttl"],
      ['"num_retries":-1', "num_retries"],
      ['"num_retries":1.5', "num_retries"],
      ['"fallbacks":"m"', "fallbacks"],
      ['"fallbacks":[{}]', "fallbacks[0].model"],
      ['"context_window_fallback_dict":{"a":1}', "context_window_fallback_dict.a"],
      ['"timeout":"600"', "timeout"],
      ['"timeout":0.5', "timeout"],
      ['"timeout":0', "timeout"],
      ['"timeout":-1', "timeout"],
      ['"timeout":1.2', "timeout"],
      ['"litellm_metadata":[]', "litellm_metadata"],
      ['"litellm_metadata":"no JSON"', "litellm_metadata"],
      ['"litellm_metadata":{"tags":"a"}', "litellm_metadata.tags"],
      ['"litellm_metadata":"{\\"tags\\":[1]}"', "litellm_metadata.tags[0]"],
      [`"litellm_metadata":{"a":"${"x".repeat(513)}"}`, "litellm_metadata.a"],
      ['"disable_fallbacks":"yes"', "disable_fallbacks"],
      ['"drop_params":"true"', "drop_params"],
      ['"tags":"a"', "tags"],
      ['"tags":["a",7]', "tags[1]"],
      ['"tags":["a\\u0000"]', "tags[0]"],
      [`"tags":["${"x".repeat(257)}"]`, "tags[0]"],
      [`"tags":[${Array.from({ length: 65 }, () => '"t"').join(",")}]`, "tags"],
      ['"metadata":{"tags":"x"}', "metadata.tags"],
      [`"metadata":{"a":"${"x".repeat(513)}"}`, "metadata.a"],
      [`"metadata":{"a":["${"x".repeat(3_000)}"]}`, "metadata.a"],
      [
        `"metadata":{"spend_logs_metadata":{"b":"${"x".repeat(513)}"}}`,
        "metadata.spend_logs_metadata.b",
      ],
      [
        `"metadata":{${Array.from({ length: 65 }, (_, index) => `"k${index}":1`).join(",")}}`,
        "metadata",
      ],
    ].map(([more, param]) => [`{"model":"m",${messages},${more}}`, param]),
  ])("%s is refused, with the field's name", (text, param) => {
    expect(() => receive(text ?? "")).toThrow(
      expect.objectContaining({ code: "invalid_field", status: 400, param }),
    );
  });
});

describe("a message", () => {
  const of = (message: unknown) => () =>
    receive(JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }, message] }));
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const blocks = [
    { type: "text", text: "" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } },
    { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "x" }, title: "t" },
    { type: "video_url", video_url: { url: "https://example.com/v.mp4" } },
    { type: "file", file: { file_id: "file-1" } },
  ];

  it.each([
    { role: "system", content: "x", name: "n" },
    {
      role: "developer",
      content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
    },
    { role: "user", content: blocks },
    { role: "assistant", content: null, tool_calls: [call] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "custom", custom: { name: "f", input: "x" } }],
    },
    { role: "assistant", refusal: "no", reasoning_content: "…", thinking_blocks: [{}] },
    { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    {
      role: "assistant",
      content: "",
      tool_calls: null,
      function_call: null,
      audio: { id: "audio-1" },
    },
    { role: "tool", tool_call_id: "c", content: "x" },
    { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "x" }] },
    { role: "function", name: "f", content: null },
  ])("such as %j is accepted", (message) => {
    expect(of(message)).not.toThrow();
  });

  it.each([
    [{ role: "user" }, "messages[1].content", "is missing"],
    [
      { role: "user", content: null },
      "messages[1].content",
      "must be a string or an array of content blocks",
    ],
    [
      { role: "user", content: 7 },
      "messages[1].content",
      "must be a string or an array of content blocks",
    ],
    [{ role: "user", content: ["x"] }, "messages[1].content[0]", "must be an object with a type"],
    [
      { role: "user", content: [{ text: "x" }] },
      "messages[1].content[0]",
      "must be an object with a type",
    ],
    [
      { role: "user", content: [blocks[0], { type: "hologram" }] },
      "messages[1].content[1]",
      'has the unknown type "hologram"',
    ],
    [
      { role: "user", content: [{ type: "refusal", refusal: "x" }] },
      "messages[1].content[0]",
      'has the unknown type "refusal"',
    ],
    [{ role: "user", content: [{ type: "text" }] }, "messages[1].content[0].text", "is missing"],
    [
      { role: "user", content: [{ type: "text", text: 7 }] },
      "messages[1].content[0].text",
      "must be a string",
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: "x" }] },
      "messages[1].content[0].image_url",
      "must be an object",
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: {} }] },
      "messages[1].content[0].image_url.url",
      "is missing",
    ],
    [
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "x" } }] },
      "messages[1].content[0].input_audio.format",
      "is missing",
    ],
    [
      { role: "user", content: [{ type: "document" }] },
      "messages[1].content[0].source",
      "is missing",
    ],
    [
      { role: "user", content: [{ type: "video_url", video_url: { url: 1 } }] },
      "messages[1].content[0].video_url.url",
      "must be a string",
    ],
    [
      { role: "user", content: [{ type: "file", file: "x" }] },
      "messages[1].content[0].file",
      "must be an object",
    ],
    [{ role: "tool", content: "x" }, "messages[1].tool_call_id", "is missing"],
    [
      { role: "tool", content: "x", tool_call_id: 7 },
      "messages[1].tool_call_id",
      "must be a string",
    ],
    [{ role: "tool", tool_call_id: "c" }, "messages[1].content", "is missing"],
    [{ role: "function", content: "x" }, "messages[1].name", "is missing"],
    [{ role: "assistant", tool_calls: {} }, "messages[1].tool_calls", "must be an array"],
    [
      { role: "assistant", tool_calls: [{ ...call, id: 1 }] },
      "messages[1].tool_calls[0].id",
      "must be a string",
    ],
    [
      { role: "assistant", tool_calls: [{ ...call, type: "x" }] },
      "messages[1].tool_calls[0]",
      'has the unknown type "x"',
    ],
    [
      { role: "assistant", tool_calls: [{ ...call, function: { name: "f", arguments: {} } }] },
      "messages[1].tool_calls[0].function.arguments",
      "must be a string",
    ],
    [
      { role: "assistant", content: 7 },
      "messages[1].content",
      "must be a string or an array of content blocks",
    ],
    [{ role: 7, content: "x" }, "messages[1]", "must be an object with a role"],
    [{ role: "robot", content: "x" }, "messages[1]", 'has the unknown role "robot"'],
  ])("such as %j is refused at %s: it %s", (message, param, problem) => {
    expect(of(message)).toThrow(
      expect.objectContaining({
        param,
        message: expect.stringContaining(`The field ${param} ${problem}`) as string,
      }),
    );
  });
});
