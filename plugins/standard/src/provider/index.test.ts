import { describe, expect, it } from "vitest";
import {
  type Exchange,
  GatewayError,
  type Host,
  type Model,
  type Provider,
  type ProviderInstance,
  type ProviderRequest,
} from "@sluice/contract";
import { createChatTranslator, decodeChat, readErrorReply } from "@sluice/kit/openai";
import { fakeExchange, fakeHost, fakeRequest, fakeTarget } from "@sluice/testing";
import { provider } from "./index.ts";

const WHOLE =
  '{"model":"upstream","choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}';
const STREAM = 'data: {"model":"alias","choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n';

/** A provider without a network, and the requests it was given. */
function fakeProvider(
  parts: Partial<Provider> = {},
  status = 200,
): { instance: ProviderInstance; requests: ProviderRequest[] } {
  const requests: ProviderRequest[] = [];
  const translation: Provider = {
    capabilities: { operations: ["chat"], streaming: true, tools: false },
    encode(request) {
      requests.push(request);
      const type = request.stream ? "text/event-stream" : "application/json";
      return {
        kind: "local",
        status,
        headers: { "content-type": type },
        body: [request.stream ? STREAM : WHOLE],
      };
    },
    decode: (body, { replyModel }) => decodeChat(body, replyModel),
    stream: ({ replyModel }) => createChatTranslator(replyModel),
    error: readErrorReply,
    ...parts,
  };
  const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000 };
  return {
    instance: { name: "mine", use: "fake", translation, timeouts, connections: 4 },
    requests,
  };
}

function hostOf(instance: ProviderInstance): Host {
  return fakeHost({
    providers: { find: (name) => (name === "mine" ? instance : undefined), names: () => ["mine"] },
  });
}

function exchangeOf(body: object, parts: Partial<Model> = {}): Exchange {
  const model: Model = {
    id: "alias",
    entry: "alias",
    mode: "chat",
    targets: [fakeTarget("mine", "upstream")],
    accessGroups: [],
    ownedBy: "mine",
    ...parts,
  };
  return fakeExchange({ model, request: fakeRequest({ model: "alias", messages: [], ...body }) });
}

async function run(exchange: Exchange, instance: ProviderInstance): Promise<void> {
  await provider
    .create({ drop_params: false }, hostOf(instance))
    .run({ exchange }, () => Promise.reject(new Error("next was called")));
}

describe("the provider step", () => {
  it("answers with the upstream's reply and fills in the attempt", async () => {
    const { instance, requests } = fakeProvider();
    const exchange = exchangeOf({});
    await run(exchange, instance);
    expect(exchange.reply).toMatchObject({
      kind: "whole",
      status: 200,
      document: { value: { model: "alias" } },
    });
    expect(requests).toMatchObject([
      {
        operation: "chat",
        target: { model: "upstream" },
        replyModel: "alias",
        stream: false,
        replyId: `chatcmpl-${exchange.id}`,
      },
    ]);
    expect(exchange.attempts).toMatchObject([
      {
        number: 1,
        provider: "fake",
        outcome: "success",
        usage: { totalTokens: 3 },
        usageSource: "provider",
        error: undefined,
      },
    ]);
  });

  it("answers a streaming request with frames", async () => {
    const { instance } = fakeProvider();
    const exchange = exchangeOf({ stream: true });
    await run(exchange, instance);
    const frames: unknown[] = [];
    if (exchange.reply?.kind === "stream")
      for await (const frame of exchange.reply.frames) frames.push(frame.chunk());
    expect(frames).toMatchObject([{ choices: [{ delta: { content: "hi" } }] }]);
    expect(exchange.attempts).toMatchObject([{ outcome: "success" }]);
  });

  it("records a refusal of the upstream as a failed attempt, and throws it", async () => {
    const { instance } = fakeProvider({}, 503);
    const exchange = exchangeOf({});
    await expect(run(exchange, instance)).rejects.toMatchObject({ code: "upstream_overloaded" });
    expect(exchange.attempts).toMatchObject([
      { outcome: "failure", error: { code: "upstream_overloaded" }, usage: undefined },
    ]);
    expect(exchange.attempts[0]?.endedAtMs).toBeDefined();
    expect(exchange.reply).toBeUndefined();
  });

  it("blames a plugin that throws something else", async () => {
    const { instance } = fakeProvider({ decode: () => JSON.parse("{") as never });
    const exchange = exchangeOf({});
    await expect(run(exchange, instance)).rejects.toMatchObject({ code: "plugin_failed" });
    expect(exchange.attempts).toMatchObject([
      { outcome: "failure", error: { code: "plugin_failed" } },
    ]);
  });

  it("makes no attempt of a request that cannot be encoded", async () => {
    const refusal = new GatewayError("unsupported_parameter", "no", { param: "tools" });
    const { instance } = fakeProvider({
      encode: () => {
        throw refusal;
      },
    });
    const exchange = exchangeOf({});
    await expect(run(exchange, instance)).rejects.toBe(refusal);
    expect(exchange.attempts).toEqual([]);
  });

  it("makes no attempt at an operation that the provider cannot do", async () => {
    const { instance } = fakeProvider({
      capabilities: { operations: ["embeddings"], streaming: false, tools: false },
    });
    const exchange = exchangeOf({});
    await expect(run(exchange, instance)).rejects.toMatchObject({ code: "unsupported_parameter" });
    expect(exchange.attempts).toEqual([]);
  });

  it.each([
    ["no target", []],
    ["a target without its provider", [fakeTarget("other", "x")]],
  ])("says that a model with %s has no credential", async (_what, targets) => {
    const { instance } = fakeProvider();
    await expect(run(exchangeOf({}, { targets }), instance)).rejects.toMatchObject({
      code: "provider_unavailable",
      status: 503,
    });
  });
});
