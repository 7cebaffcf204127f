/**
 * Replies and streams of every dialect around one fact: the native stop reason, or the native
 * usage. Data of tests.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";

/** What varies. */
export interface Fact {
  readonly stop?: string;
  readonly usage?: JsonValue;
  /** The reply holds a call of a tool. */
  readonly calls?: true;
}

/** One dialect's reply, whole, and as the events of a stream. */
export interface Dialect {
  whole(fact: Fact): JsonObject;
  events(fact: Fact): readonly (readonly [event: string | undefined, data: JsonValue])[];
}

const present = (name: string, value: JsonValue | undefined): JsonObject =>
  value === undefined ? {} : { [name]: value };

/**
 * The reference dialect, and the dialects close to it. A stream's usage has a chunk of its own, or
 * rides on the finish.
 */
function reference(usageOnFinish: boolean, place = "usage"): Dialect {
  const usageField = (usage: JsonValue | undefined): JsonObject =>
    usage === undefined ? {} : place === "usage" ? { usage } : { [place]: { usage } };
  const call = { id: "callA0001", type: "function", function: { name: "probe", arguments: "{}" } };
  const head = { id: "c1", created: 1, model: "m" };
  return {
    whole: ({ stop = "stop", usage, calls }) => {
      const message = {
        role: "assistant",
        content: "Hi",
        ...(calls === true ? { tool_calls: [call] } : {}),
      };
      return {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: stop }],
        ...usageField(usage),
      };
    },
    events: ({ stop = "stop", usage, calls }) => {
      const chunk = (
        delta: JsonObject,
        reason: string | null,
        more: JsonObject = {},
      ): [undefined, JsonValue] => [
        undefined,
        {
          ...head,
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta, finish_reason: reason }],
          ...more,
        },
      ];
      const own: [undefined, JsonValue] = [
        undefined,
        { ...head, object: "chat.completion.chunk", choices: [], ...usageField(usage) },
      ];
      return [
        chunk({ role: "assistant", content: "Hi" }, null),
        ...(calls === true ? [chunk({ tool_calls: [{ index: 0, ...call }] }, null)] : []),
        chunk({}, stop, usageOnFinish ? usageField(usage) : {}),
        ...(usage !== undefined && !usageOnFinish ? [own] : []),
        [undefined, "[DONE]"],
      ];
    },
  };
}

const anthropic: Dialect = {
  whole: ({ stop = "end_turn", usage, calls }) => ({
    type: "message",
    content: [
      { type: "text", text: "Hi" },
      ...(calls === true ? [{ type: "tool_use", id: "t1", name: "probe", input: {} }] : []),
    ],
    stop_reason: stop,
    ...present("usage", usage),
  }),
  events: ({ stop = "end_turn", usage, calls }) => {
    const block = (
      index: number,
      start: JsonObject,
      delta: JsonObject,
    ): readonly [string, JsonValue][] => [
      ["content_block_start", { type: "content_block_start", index, content_block: start }],
      ["content_block_delta", { type: "content_block_delta", index, delta }],
      ["content_block_stop", { type: "content_block_stop", index }],
    ];
    return [
      [
        "message_start",
        {
          type: "message_start",
          message: { type: "message", content: [], ...present("usage", usage) },
        },
      ],
      ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Hi" }),
      ...(calls === true
        ? block(
            1,
            { type: "tool_use", id: "t1", name: "probe", input: {} },
            { type: "input_json_delta", partial_json: "" },
          )
        : []),
      // The counts of the end are cumulative: they replace, and are never added.
      [
        "message_delta",
        { type: "message_delta", delta: { stop_reason: stop }, ...present("usage", usage) },
      ],
      ["message_stop", { type: "message_stop" }],
    ];
  },
};

const gemini: Dialect = {
  whole: ({ stop = "STOP", usage, calls }) => ({
    candidates: [{ content: { role: "model", parts: geminiParts(calls) }, finishReason: stop }],
    ...present("usageMetadata", usage),
  }),
  // Every event has the counts so far: the last word wins.
  events: ({ stop = "STOP", usage, calls }) => [
    [
      undefined,
      {
        candidates: [{ content: { role: "model", parts: geminiParts(calls) } }],
        ...present("usageMetadata", usage),
      },
    ],
    [undefined, { candidates: [{ finishReason: stop }], ...present("usageMetadata", usage) }],
  ],
};

function geminiParts(calls: true | undefined): JsonObject[] {
  return [
    { text: "Hi" },
    ...(calls === true ? [{ functionCall: { name: "probe", args: {} } }] : []),
  ];
}

const bedrock: Dialect = {
  whole: ({ stop = "end_turn", usage, calls }) => ({
    output: {
      message: {
        role: "assistant",
        content: [
          { text: "Hi" },
          ...(calls === true ? [{ toolUse: { toolUseId: "t1", name: "probe", input: {} } }] : []),
        ],
      },
    },
    stopReason: stop,
    ...present("usage", usage),
  }),
  events: ({ stop = "end_turn", usage, calls }) => [
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ...(calls === true
      ? ([
          [
            "contentBlockStart",
            { contentBlockIndex: 1, start: { toolUse: { toolUseId: "t1", name: "probe" } } },
          ],
          ["contentBlockStop", { contentBlockIndex: 1 }],
        ] as const)
      : []),
    ["messageStop", { stopReason: stop }],
    ["metadata", { metrics: { latencyMs: 1 }, ...present("usage", usage) }],
  ],
};

const cohere: Dialect = {
  whole: ({ stop = "COMPLETE", usage, calls }) => ({
    id: "c1",
    finish_reason: stop,
    message: {
      role: "assistant",
      content: [{ type: "text", text: "Hi" }],
      ...(calls === true
        ? {
            tool_calls: [
              { id: "t1", type: "function", function: { name: "probe", arguments: "{}" } },
            ],
          }
        : {}),
    },
    ...present("usage", usage),
  }),
  events: ({ stop = "COMPLETE", usage, calls }) => {
    const call = { id: "t1", type: "function", function: { name: "probe", arguments: "{}" } };
    const events: JsonObject[] = [
      { type: "message-start", delta: { message: { role: "assistant" } } },
      { type: "content-delta", index: 0, delta: { message: { content: { text: "Hi" } } } },
      ...(calls === true
        ? [
            { type: "tool-call-start", index: 0, delta: { message: { tool_calls: call } } },
            { type: "tool-call-end", index: 0 },
          ]
        : []),
      { type: "message-end", delta: { finish_reason: stop, ...present("usage", usage) } },
    ];
    return events.map((event) => [String(event.type), event]);
  },
};

/** By the name of a provider in `providers.ts`. */
export const REPLIES: Readonly<Record<string, Dialect>> = {
  openai: reference(false),
  azure: reference(false),
  mistral: reference(true),
  groq: reference(true, "x_groq"),
  deepseek: reference(true),
  xai: reference(false),
  together: reference(false),
  fireworks: reference(false),
  openrouter: reference(false),
  perplexity: reference(true),
  ollama: reference(false),
  vllm: reference(false),
  custom: reference(false),
  anthropic,
  "vertex-claude": anthropic,
  gemini,
  vertex: gemini,
  bedrock,
  cohere,
};
