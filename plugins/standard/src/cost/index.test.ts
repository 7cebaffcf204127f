import { priceAttempt } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import type { Attempt, Price, ProviderInstance } from "@sluice/contract";
import { fakeAttempt, fakeExchange, fakeHost, fakeTarget, runStep } from "@sluice/testing";
import { cost } from "./index.ts";
import type { CostConfig } from "./terms.ts";

const usage = { promptTokens: 1_000, completionTokens: 500, totalTokens: 1_500 };
const prices: Readonly<Record<string, Price>> = {
  "openai gpt": { input: 150_000, output: 600_000, source: "test" },
  "openai gift": { input: 0, output: 0, source: "test" },
  "openai tiny": { input: 1, output: 0, source: "test" },
};

async function priced(parts: Partial<Attempt>) {
  const exchange = fakeExchange();
  const step = cost.create(
    {},
    fakeHost({ prices: { find: (provider, model) => prices[`${provider} ${model}`] } }),
  );
  let passed = 0;
  await runStep(step, { exchange }, async () => void passed++);
  expect(passed).toBe(1);
  return priceAttempt(exchange, fakeAttempt(parts));
}

const target = (model: string) => fakeTarget("my-openai", model);

describe("the price of an attempt", () => {
  it("is found by the plugin's name and the upstream's model", async () => {
    expect(await priced({ target: target("gpt"), usage, outcome: "success" })).toEqual({
      status: "priced",
      nanoUsd: 450_000,
    });
  });

  it("is unpriced, never 0, when the model is unknown", async () => {
    expect(await priced({ target: target("unknown"), usage, outcome: "success" })).toEqual({
      status: "unpriced",
      nanoUsd: undefined,
    });
  });

  it.each(["success", "partial"] as const)(
    "is unpriced, never 0, for a %s without usage",
    async (outcome) => {
      expect(await priced({ target: target("gpt"), outcome })).toEqual({
        status: "unpriced",
        nanoUsd: undefined,
      });
    },
  );

  it("is free for a failure that used nothing", async () => {
    expect(await priced({ target: target("gpt"), outcome: "failure" })).toEqual({
      status: "free",
      nanoUsd: 0,
    });
  });

  it("is paid for a failure that used something", async () => {
    expect(await priced({ target: target("gpt"), usage, outcome: "failure" })).toMatchObject({
      status: "priced",
    });
  });

  it("is free where the price is nothing, and priced where it only rounds to nothing", async () => {
    expect(await priced({ target: target("gift"), usage })).toEqual({ status: "free", nanoUsd: 0 });
    const one = { promptTokens: 1, completionTokens: 0, totalTokens: 1 };
    expect(await priced({ target: target("tiny"), usage: one })).toEqual({
      status: "priced",
      nanoUsd: 0,
    });
  });
});

describe("terms", () => {
  const provider = (name: string): ProviderInstance => ({ name }) as unknown as ProviderInstance;
  const providers = { names: () => ["cheap", "dear"], find: provider };
  const table = { find: () => prices["openai gpt"] };

  async function costOf(config: CostConfig, name: string, parts: Partial<Attempt> = {}) {
    const host = fakeHost({ prices: table, providers });
    const exchange = fakeExchange();
    await runStep(cost.create(config, host), { exchange }, async () => undefined);
    const priced = priceAttempt(
      exchange,
      fakeAttempt({ target: fakeTarget(name, "gpt"), usage, outcome: "success", ...parts }),
    );
    return {
      nanoUsd: priced?.nanoUsd,
      warned: host.lines.map(({ fields }) => fields?.["provider"]),
    };
  }

  // 450,000 nano-dollars by the list.
  it.each<[string, CostConfig, string, number]>([
    ["a discount of one provider", { discount: { cheap: 0.05 } }, "cheap", 427_500],
    ["and not of another", { discount: { cheap: 0.05 } }, "dear", 450_000],
    [
      "a margin of all others",
      { margin: { "*": { fraction: 0.1 }, cheap: { fraction: 0 } } },
      "dear",
      495_000,
    ],
    [
      "its own before that of all others",
      { margin: { "*": { fraction: 0.1 }, cheap: { fraction: 0.2 } } },
      "cheap",
      540_000,
    ],
    [
      "a fixed margin after everything",
      { discount: { "*": 0.5 }, margin: { dear: { fraction: 1, fixed: 0.000001 } } },
      "dear",
      451_000,
    ],
  ])("%s", async (_what, config, name, expected) => {
    expect((await costOf(config, name)).nanoUsd).toBe(expected);
  });

  it("price a service tier: half for flex by default, a provider's own first, others not at all", async () => {
    const tier = (serviceTier: string) => ({ usage: { ...usage, serviceTier } });
    expect((await costOf({}, "dear", tier("flex"))).nanoUsd).toBe(225_000);
    const config = { service_tiers: { priority: 2, "cheap/priority": 1.5 } };
    expect((await costOf(config, "cheap", tier("priority"))).nanoUsd).toBe(675_000);
    expect((await costOf(config, "dear", tier("priority"))).nanoUsd).toBe(900_000);
    expect((await costOf(config, "dear", tier("flex"))).nanoUsd).toBeUndefined();
  });

  it("yield to the price of a target", async () => {
    const target = {
      ...fakeTarget("dear", "gpt"),
      price: { input: 1_000_000, output: 0, source: "test" },
    };
    expect((await costOf({}, "dear", { target })).nanoUsd).toBe(1_000_000);
  });

  it("warn of a provider that is not there", async () => {
    const config = {
      discount: { chep: 0.1, "*": 0.2 },
      service_tiers: { "daer/flex": 1, flex: 0.5 },
      margin: { cheap: { fraction: 1 } },
    };
    expect((await costOf(config, "cheap")).warned).toEqual(["daer", "chep"]);
  });
});
