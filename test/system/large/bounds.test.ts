/**
 * What takes an upstream's bytes too long for one turn of the event loop is refused by the name of
 * its bound. Just below a bound it is served.
 */

import type { JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fourProviders, PROVIDER_ENVIRONMENT, PROVIDERS } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      ...fourProviders(upstream.url),
      providers: [
        ...(fourProviders(upstream.url).providers ?? []),
        `groq: { use: compatible, preset: groq, api_key: "\${env:NATIVE_KEY}", base_url: ${upstream.url}/v1 }`,
        `mistral: { use: mistral, api_key: "\${env:NATIVE_KEY}", base_url: ${upstream.url}/v1 }`,
      ],
      models: [
        ...fourProviders(upstream.url).models,
        ...["groq", "mistral"].map(
          (name) => `{ id: ${name}, targets: [{ provider: ${name}, model: any }] }`,
        ),
      ],
    },
    PROVIDER_ENVIRONMENT,
  );
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number): JsonObject =>
  Object.fromEntries(times(count, (index) => [`member-${index}`, index]));

const messages = [{ role: "user", content: "Say something." }];
const FACES: Readonly<Record<string, (model: string) => readonly [path: string, body: object]>> = {
  chat: (model) => ["chat/completions", { model, messages }],
  messages: (model) => ["messages", { model, max_tokens: 9, messages }],
  responses: (model) => ["responses", { model, store: false, input: messages }],
};

async function ask(face: string, model: string, stream: boolean): Promise<string> {
  const [path, body] = FACES[face]?.(model) ?? ["", {}];
  const response = await fetch(`${gateway.publicUrl}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream }),
  });
  return response.text();
}

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (index: number, text = "{}"): JsonObject => ({
  index,
  id: `call-${index}`,
  type: "function",
  function: { name: "f", arguments: text },
});

/** Streams a text between the first content and the end. */
function stream(middle: string): void {
  const event = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
  const text = event(chunk({ role: "assistant", content: "First." }));
  const end = `${event(chunk({}, "stop"))}data: [DONE]\n\n`;
  upstream.reply(200, "text/event-stream", text + middle + end);
}

const eventOf = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;

describe("an event of a stream", () => {
  const EVENTS: readonly (readonly [what: string, event: JsonObject, refusal: string])[] = [
    [
      "8,000 choices",
      {
        ...chunk({}),
        choices: times(8_000, (index) => ({ index, delta: { content: "x" }, finish_reason: null })),
      },
      "more than 128 choices",
    ],
    [
      "8,000 calls",
      chunk({ tool_calls: times(8_000, (index) => call(index)) }),
      "more than 1024 items of tool_calls",
    ],
    [
      "60,000 names",
      chunk({ content: "x", odd: named(60_000) }),
      "50000 different names of members",
    ],
    [
      "500,000 lists",
      chunk({ content: "x", odd: times(500_000, () => []) }),
      "400000 lists and objects",
    ],
    ["two million characters", chunk({ content: "ab ".repeat(700_000) }), "1048576 characters"],
    ["a million escapes", chunk({ content: "\n".repeat(1_000_000) }), "524288 escapes"],
  ];

  it.each(EVENTS)("with %s is refused on every face", async (_what, event, refusal) => {
    for (const model of ["openai", "groq", "mistral"]) {
      for (const face of Object.keys(FACES)) {
        stream(eventOf(event));
        const text = await ask(face, model, true);
        expect([face, model, text.includes("First."), text.includes(refusal)]).toEqual([
          face,
          model,
          true,
          true,
        ]);
      }
    }
  });

  it("with an image of four megabytes, 500 calls, or many log probabilities is served", async () => {
    const images = [
      { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4_000_000)}` } },
    ];
    const token = { token: "word", logprob: -0.5, bytes: [119, 111, 114, 100] };
    const content = times(2_000, () => ({ ...token, top_logprobs: times(20, () => token) }));
    const [choice] = chunk({ content: "word" })["choices"] as JsonObject[];
    for (const event of [
      chunk({ images }),
      chunk({ tool_calls: times(500, (index) => call(index)) }),
      { ...chunk({}), choices: [{ ...choice, logprobs: { content } }] },
    ]) {
      stream(eventOf(event));
      const text = await ask("chat", "openai", true);
      expect([text.includes("error"), text.endsWith("data: [DONE]\n\n")]).toEqual([false, true]);
    }
  });
});

describe("the lines of a stream", () => {
  it("may have unknown fields without end, which are ignored", async () => {
    stream("x\n".repeat(300_000));
    const text = await ask("chat", "openai", true);
    expect([text.includes("error"), text.endsWith("data: [DONE]\n\n")]).toEqual([false, true]);
  });

  it("are refused when one event has too many", async () => {
    stream(`data: {"choices":[\n${"data:\n".repeat(150_000)}data: ]}\n\n`);
    expect(await ask("chat", "openai", true)).toContain("more than 100000 lines");
  });
});

describe("calls that a stream leaves open", () => {
  it.each(["messages", "responses"])("are refused beyond 4,096 for %s", async (face) => {
    stream(times(4_200, (index) => eventOf(chunk({ tool_calls: [call(index, "{")] }))).join(""));
    expect(await ask(face, "openai", true)).toContain("more than 4096 calls");
  });
});

describe("a whole reply", () => {
  const whole = (message: JsonObject): JsonObject => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "x", ...message } }],
  });
  const input = (value: JsonObject): Readonly<Record<string, JsonObject>> => ({
    anthropic: {
      type: "message",
      content: [{ type: "tool_use", id: "t", name: "f", input: value }],
      stop_reason: "tool_use",
    },
    gemini: {
      candidates: [
        { content: { role: "model", parts: [{ functionCall: { name: "f", args: value } }] } },
      ],
    },
    bedrock: {
      output: {
        message: {
          role: "assistant",
          content: [{ toolUse: { toolUseId: "t", name: "f", input: value } }],
        },
      },
      stopReason: "tool_use",
    },
  });

  it.each([
    ["8,000 calls", whole({ tool_calls: times(8_000, (at) => call(at)) }), "4096 items"],
    ["an object of 12,000 members", whole({ odd: named(12_000) }), "more than 10000 members"],
    ["200 levels", whole({ odd: nested(200), long: "x".repeat(200_000) }), "deeper than 128"],
  ])("with %s is refused", async (_what, reply, refusal) => {
    for (const face of Object.keys(FACES)) {
      upstream.reply(200, "application/json", JSON.stringify(reply));
      expect(await ask(face, "openai", false)).toContain(refusal);
    }
  });

  it("with 200,000 arguments of a call is refused by each dialect that has them as values", async () => {
    const value = { many: times(200_000, () => 1) };
    for (const model of PROVIDERS.filter((name) => name !== "openai")) {
      upstream.reply(200, "application/json", JSON.stringify(input(value)[model]));
      expect(await ask("chat", model, false)).toContain("The arguments of the upstream's calls");
    }
    const text = JSON.stringify(value);
    upstream.reply(200, "application/json", JSON.stringify(whole({ tool_calls: [call(0, text)] })));
    expect(await ask("messages", "openai", false)).toContain("more than 100000 values");
    expect(JSON.parse(await ask("chat", "openai", false))).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { arguments: text } }] } }],
    });
  });

  it("keeps the digits of one argument among many", async () => {
    const many = times(40_000, (index) => index).join(",");
    const text = `{"id":1234567890123456789,"many":[${many}],"x":"1e400, -0"}`;
    for (const model of PROVIDERS.filter((name) => name !== "openai")) {
      const body = JSON.stringify(input({ at: "here" })[model]).replace('{"at":"here"}', text);
      upstream.reply(200, "application/json", body);
      const reply = JSON.parse(await ask("chat", model, false)) as {
        choices: readonly { message: { tool_calls: readonly { function: JsonObject }[] } }[];
      };
      expect(reply.choices[0]?.message.tool_calls[0]?.function["arguments"]).toBe(text);
    }
  });
});

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < depth; level++) value = { in: value };
  return value;
}
