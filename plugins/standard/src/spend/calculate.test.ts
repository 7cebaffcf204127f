import { describe, expect, it } from "vitest";
import type {
  Exchange,
  Host,
  JsonObject,
  Model,
  Price,
  ProviderInstance,
  Target,
} from "@sluice/contract";
import {
  fakeClient,
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeRequest,
  runStep,
} from "@sluice/testing";
import { cost } from "../cost/index.ts";
import { spend } from "./index.ts";

/** Dollars a million tokens are pico-dollars a token, times a million. */
const PRICES: Readonly<Record<string, Price>> = {
  "openai/gpt-4o": { input: 2_500_000, output: 10_000_000, cacheRead: 1_250_000, source: "table" },
  "openai/gpt-4o-2024-08-06": { input: 2_000_000, output: 8_000_000, source: "dated" },
  "openai/wild": { input: 1_000_000, output: 1_000_000, source: "table" },
  "openai/no-output": { input: 1_000_000, source: "table" },
  "echo/echo": { input: 0, output: 0, free: true, source: "prices.yaml (free)" },
};

const target = (provider: string, model: string, price?: Price): Target => ({
  id: `${provider}/${model}`,
  provider,
  model,
  ...(price === undefined ? {} : { price }),
});
const model = (id: string, ...targets: Target[]): Model => ({
  id,
  entry: id,
  mode: "chat",
  targets,
  accessGroups: [],
  ownedBy: "x",
});
const MODELS = [
  model("smart", target("main", "gpt-4o")),
  model(
    "agreed",
    target("main", "gpt-4o", { input: 1_000_000, output: 1_000_000, source: "gateway.yaml" }),
  ),
  model("unpriced", target("main", "unlisted")),
  model("second", target("main", "unlisted"), target("main", "wild")),
  model("no-output", target("main", "no-output")),
  model("free", target("echo", "echo")),
  model("any/*", target("main", "*")),
];
const PROVIDERS: Readonly<Record<string, string>> = { main: "openai", echo: "echo" };

function hostOf(): Host {
  return fakeHost({
    models: {
      find: (id) =>
        MODELS.find((one) => one.id === id && !id.endsWith("*")) ??
        (id.startsWith("any/")
          ? { ...model("any/*", target("main", id.slice(4))), id }
          : undefined),
      list: () => MODELS,
    },
    authority: {
      ...fakeHost().authority,
      mayUse: ({ models }, { entry }) => models.length === 0 || models.includes(entry),
    },
    providers: {
      find: (name) =>
        name in PROVIDERS ? ({ name, use: PROVIDERS[name] } as ProviderInstance) : undefined,
      names: () => Object.keys(PROVIDERS),
    },
    prices: { find: (provider, name) => PRICES[`${provider}/${name}`] },
  });
}

async function calculate(
  body: JsonObject,
  costOptions?: Parameters<typeof cost.create>[0],
  models: readonly string[] = [],
): Promise<JsonObject> {
  const exchange: Exchange = fakeExchange({
    operation: "spend",
    client: fakeClient({}, { path: "/spend/calculate" }),
    request: fakeRequest(body),
    identity: fakeIdentity({ models }),
  });
  const host = hostOf();
  const step = spend.create({}, host);
  const run = (): Promise<void> => runStep(step, { exchange }, async () => undefined);
  await (costOptions === undefined
    ? run()
    : runStep(cost.create(costOptions, host), { exchange }, run));
  const { reply } = exchange;
  return reply?.kind === "whole" ? reply.document.value : {};
}

const USAGE = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
const reply = (name: string, usage: JsonObject = USAGE, more: JsonObject = {}): JsonObject => ({
  completion_response: { id: "chatcmpl-1", object: "chat.completion", model: name, usage, ...more },
});
const MESSAGES = [{ role: "user", content: "one two three" }];

describe("a reply", () => {
  it("is priced by its usage, kind by kind", async () => {
    const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 400 } };
    expect(await calculate(reply("smart", usage))).toEqual({
      cost: 0.007,
      model: "smart",
      model_id: "main/gpt-4o",
      custom_llm_provider: "openai",
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
      usage_source: "provider",
      breakdown: [
        { kind: "input", tokens: 600, cost: 0.0015, cost_per_token: 0.0000025 },
        { kind: "cache_read", tokens: 400, cost: 0.0005, cost_per_token: 0.00000125 },
        { kind: "output", tokens: 500, cost: 0.005, cost_per_token: 0.00001 },
      ],
      price_source: "table",
    });
  });

  it.each([
    ["a provider's own name", "gpt-4o", "smart", 0.0075, "table"],
    ["a provider's dated name, at its own price", "gpt-4o-2024-08-06", "smart", 0.006, "dated"],
    ["a dated name without a price of its own", "gpt-4o-2030-01-01", "smart", 0.0075, "table"],
    ["a dated id of the catalogue", "smart-20300101", "smart", 0.0075, "table"],
    ["a name that a wildcard serves", "wild", "second", 0.0015, "table"],
    ["an id under a wildcard", "any/wild", "any/wild", 0.0015, "table"],
    ["a target with a price of its own", "agreed", "agreed", 0.0015, "gateway.yaml"],
    ["a model that costs nothing", "free", "free", 0, "prices.yaml (free)"],
    ["a model whose second target has a price", "second", "second", 0.0015, "table"],
  ])("may name %s", async (_what, name, id, expected, source) => {
    expect(await calculate(reply(name))).toMatchObject({
      model: id,
      cost: expected,
      price_source: source,
    });
  });

  it("is priced with the discount and margin of the step cost", async () => {
    const withTerms = await calculate(reply("smart"), {
      discount: { main: 0.5 },
      margin: { main: { fixed: 0.001 } },
    });
    expect(withTerms).toMatchObject({ cost: 0.00475 });
    const parts = withTerms.breakdown as readonly { kind: string; cost: number }[];
    expect(parts.map(({ kind }) => kind)).toEqual(["input", "output", "margin"]);
    expect(parts.reduce((sum, part) => sum + part.cost, 0)).toBeCloseTo(0.00475, 12);
  });

  it("is priced at its service tier, and not at all where that has no price", async () => {
    expect(await calculate(reply("smart", USAGE, { service_tier: "flex" }), {})).toMatchObject({
      cost: 0.00375,
    });
    expect(await calculate(reply("smart", USAGE, { service_tier: "default" }), {})).toMatchObject({
      cost: 0.0075,
    });
    const unknown = calculate(reply("smart", USAGE, { service_tier: "priority" }), {});
    await expect(unknown).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  it.each([
    ["unpriced", "not_found"],
    ["any/unlisted", "not_found"],
    ["no-output", "not_found"],
    ["secret-4o", "not_found"],
  ])("of %s is not found: %s", async (name, code) => {
    await expect(calculate(reply(name))).rejects.toMatchObject({ status: 404, code });
  });

  it.each(["agreed", "gpt-4o", "unlisted", "any/wild", "wild", "smart-2030"])(
    "of a model that the key may not use, %s, is as unknown",
    async (name) => {
      const asked = calculate(reply(name), undefined, ["free"]);
      await expect(asked).rejects.toMatchObject({
        status: 404,
        code: "model_not_found",
        param: "completion_response.model",
      });
      await expect(asked).rejects.toThrow(
        `The model "${name}" does not exist or you may not use it.`,
      );
    },
  );

  it.each([
    [{ usage: USAGE }, "completion_response.model"],
    [{ model: 7, usage: USAGE }, "completion_response.model"],
    [{ model: "smart" }, "completion_response.usage"],
    [
      { model: "smart", usage: { prompt_tokens: -1, completion_tokens: 1 } },
      "completion_response.usage",
    ],
    [
      { model: "smart", usage: { prompt_tokens: 1.5, completion_tokens: 1 } },
      "completion_response.usage",
    ],
  ])("without what a price needs is refused: %j", async (completion, param) => {
    const asked = calculate({ completion_response: completion });
    await expect(asked).rejects.toMatchObject({ code: "invalid_field", status: 400, param });
  });
});

describe("a prompt", () => {
  it("is priced by counting its tokens", async () => {
    const answer = await calculate({ model: "smart", messages: MESSAGES });
    // Three words of the fake counter and the role's, three tokens around the message, three before
    // the reply.
    const tokens = Number(answer.prompt_tokens);
    expect(tokens).toBeGreaterThanOrEqual(9);
    expect(answer).toEqual({
      cost: (tokens * 2.5) / 1e6,
      model: "smart",
      model_id: "main/gpt-4o",
      custom_llm_provider: "openai",
      prompt_tokens: tokens,
      completion_tokens: 0,
      total_tokens: tokens,
      usage_source: "estimated",
      breakdown: [{ kind: "input", tokens, cost: (tokens * 2.5) / 1e6, cost_per_token: 0.0000025 }],
      price_source: "table",
    });
  });

  it("costs more with tools", async () => {
    const tools = [
      {
        type: "function",
        function: { name: "weather", description: "The weather of a city somewhere" },
      },
    ];
    const plain = await calculate({ model: "smart", messages: MESSAGES });
    const withTools = await calculate({ model: "smart", messages: MESSAGES, tools });
    expect(Number(withTools.cost)).toBeGreaterThan(Number(plain.cost));
  });

  it.each([
    ["unlisted", "model_not_found"],
    ["gpt-4o", "model_not_found"],
    ["unpriced", "not_found"],
  ])("for %s is not found: %s", async (name, code) => {
    await expect(calculate({ model: name, messages: MESSAGES })).rejects.toMatchObject({
      status: 404,
      code,
      param: "model",
    });
  });
});

it("a prompt for a model that the key may not use is as unknown", async () => {
  const asked = calculate({ model: "smart", messages: MESSAGES }, undefined, ["free"]);
  await expect(asked).rejects.toThrow('The model "smart" does not exist or you may not use it.');
});
