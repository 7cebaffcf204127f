import { describe, expect, it } from "vitest";
import {
  type Capabilities,
  GatewayError,
  type JsonObject,
  type Provider,
  type ProviderRequest,
  type Target,
} from "@sluice/contract";
import { writtenDocument } from "@sluice/kit/internals";
import { readErrorReply } from "@sluice/kit/openai";
import { fakeExchange, fakeRequest, fakeTarget } from "@sluice/testing";
import { settleParameters } from "./parameters.ts";

const ALL: Capabilities = { operations: ["chat"], streaming: true, tools: true };

interface Case {
  readonly capabilities?: Partial<Capabilities>;
  readonly fields?: JsonObject;
  readonly target?: Partial<Target>;
  readonly mayDrop?: boolean;
  /** Parameters that `encode` refuses. */
  readonly refuses?: readonly string[];
}

function settle(
  body: JsonObject,
  { capabilities = {}, fields = {}, target = {}, mayDrop = false, refuses = [] }: Case = {},
) {
  const exchange = fakeExchange({ request: fakeRequest({}, { fields }) });
  const request: ProviderRequest = {
    operation: "chat",
    document: writtenDocument({ model: "m", messages: [], ...body }),
    target: { ...fakeTarget(), ...target },
    replyModel: "m",
    stream: false,
    replyId: "r",
    createdSeconds: 0,
  };
  const translation: Provider = {
    capabilities: { ...ALL, ...capabilities },
    encode({ document }) {
      const refused = refuses.find((name) => document.value[name] !== undefined);
      if (refused !== undefined)
        throw new GatewayError("unsupported_parameter", "no", { param: refused });
      return { kind: "local", status: 200, headers: {}, body: [] };
    },
    decode: () => ({ document: writtenDocument({}), usage: undefined }),
    stream: () => ({ event: () => undefined }),
    error: readErrorReply,
  };
  const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 };
  const instance = { name: "mine", use: "fake", translation, timeouts, connections: 1 };
  const made = settleParameters(request, instance, exchange, mayDrop);
  const { request: settled } = made.encode(made.request);
  const { model: _model, messages: _messages, ...rest } = settled.document.value;
  return { request, settled, rest, dropped: exchange.headers.get("x-sluice-dropped-params") };
}

describe("a provider that names no parameters", () => {
  it("is given the request as it is", () => {
    const { request, settled, dropped } = settle({ temperature: 0, x_new: 1 });
    expect(settled).toBe(request);
    expect(dropped).toBeUndefined();
  });
});

describe("a parameter that the provider cannot honour", () => {
  const capabilities = { parameters: ["temperature"] };

  it("is refused by its name, and so is every other one", () => {
    expect(() =>
      settle({ temperature: 1, stop: "x", seed: 7, logit_bias: { 1: 2 } }, { capabilities }),
    ).toThrow(
      expect.objectContaining({
        code: "unsupported_parameter",
        param: "stop",
        message: expect.stringContaining("stop, logit_bias") as string,
      }),
    );
  });

  it("is dropped and listed when it is a hint", () => {
    const { rest, dropped } = settle(
      { temperature: 1, seed: 7, user: "u", service_tier: "flex" },
      { capabilities },
    );
    expect(rest).toEqual({ temperature: 1 });
    expect(dropped).toBe("seed, user, service_tier");
  });

  it.each<[string, Case]>([
    ["the request", { fields: { drop_params: true } }],
    ["the target", { target: { dropParams: true } }],
    ["the step", { mayDrop: true }],
  ])("is dropped and listed where %s says so", (_who, more) => {
    const { rest, dropped } = settle(
      { temperature: 1, seed: 7, n: 2, x_new: 1, user: "u" },
      { capabilities, ...more },
    );
    expect(rest).toEqual({ temperature: 1, x_new: 1 });
    expect(dropped).toBe("seed, n, user");
  });

  it("is dropped without a word when it asks for nothing, or for what happens anyway", () => {
    const { rest, dropped } = settle({ n: 1, logprobs: false, seed: null }, { capabilities });
    expect(rest).toEqual({});
    expect(dropped).toBeUndefined();
  });
});

describe("tools", () => {
  const capabilities = { tools: false };
  const body = {
    tools: [{ type: "function", function: { name: "f" } }],
    tool_choice: "required",
    temperature: 1,
  };

  it("are refused by a provider that has none, or dropped", () => {
    expect(() => settle(body, { capabilities })).toThrow(
      expect.objectContaining({ param: "tools" }),
    );
    expect(settle(body, { capabilities, mayDrop: true })).toMatchObject({
      rest: { temperature: 1 },
      dropped: "tools, tool_choice",
    });
  });
});

describe("a parameter that the provider refuses by its value", () => {
  it("is dropped where client or operator allow it, one after the other", () => {
    const { rest, dropped } = settle(
      { seed: 1, stop: "x", top_p: 1 },
      { mayDrop: true, refuses: ["stop", "seed"] },
    );
    expect(rest).toEqual({ top_p: 1 });
    expect(dropped).toBe("stop, seed");
  });

  it("is left to the provider's own refusal where neither allows it, and when it is no parameter", () => {
    expect(() => settle({ stop: "x" }, { refuses: ["stop"] })).toThrow(
      expect.objectContaining({ param: "stop" }),
    );
    expect(() => settle({}, { mayDrop: true, refuses: ["messages"] })).toThrow(
      expect.objectContaining({ param: "messages" }),
    );
  });

  it("is dropped and listed without a word of the operator when it is a hint", () => {
    expect(settle({ seed: 1, top_p: 1 }, { refuses: ["seed"] })).toMatchObject({
      rest: { top_p: 1 },
      dropped: "seed",
    });
  });
});

describe("metadata", () => {
  const fields = {
    metadata: { a: "1", tags: ["t"], guardrails: [], spend_logs_metadata: { b: 1 } },
  };

  it("goes to a target that takes it, without what steers the gateway", () => {
    expect(settle({}, { fields, target: { forwardMetadata: true } }).rest).toEqual({
      metadata: { a: "1" },
    });
  });

  it("goes nowhere else, and never when nothing is left", () => {
    expect(settle({}, { fields }).rest).toEqual({});
    expect(
      settle({}, { fields: { metadata: { tags: ["t"] } }, target: { forwardMetadata: true } }).rest,
    ).toEqual({});
  });
});
