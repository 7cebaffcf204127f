import { describe, expect, it } from "vitest";
import type { Attempt, Price } from "@sluice/spec";
import { fakeAttempt, fakeExchange, fakeHost, fakeTarget } from "@sluice/kit/testing";
import { cost } from "./cost.ts";

const usage = { promptTokens: 1_000, completionTokens: 500, totalTokens: 1_500 };
const prices: Readonly<Record<string, Price>> = {
  "openai gpt": { input: 150_000, output: 600_000, source: "test" },
  "openai gift": { input: 0, output: 0, source: "test" },
  "openai tiny": { input: 1, output: 0, source: "test" },
};

async function priced(parts: Partial<Attempt>) {
  const exchange = fakeExchange();
  const step = cost.create({}, fakeHost({ prices: { find: (provider, model) => prices[`${provider} ${model}`] } }));
  let passed = 0;
  await step.run({ exchange }, async () => void passed++);
  expect(passed).toBe(1);
  return exchange.pricer?.(fakeAttempt(parts));
}

const target = (model: string) => fakeTarget("my-openai", model);

describe("the price of an attempt", () => {
  it("is found by the plugin's name and the upstream's model", async () => {
    expect(await priced({ target: target("gpt"), usage, outcome: "success" })).toEqual({ status: "priced", nanoUsd: 450_000 });
  });

  it("is unpriced, never 0, when the model is unknown", async () => {
    expect(await priced({ target: target("unknown"), usage, outcome: "success" })).toEqual({
      status: "unpriced",
      nanoUsd: undefined,
    });
  });

  it.each(["success", "partial"] as const)("is unpriced, never 0, for a %s without usage", async (outcome) => {
    expect(await priced({ target: target("gpt"), outcome })).toEqual({ status: "unpriced", nanoUsd: undefined });
  });

  it("is free for a failure that used nothing", async () => {
    expect(await priced({ target: target("gpt"), outcome: "failure" })).toEqual({ status: "free", nanoUsd: 0 });
  });

  it("is paid for a failure that used something", async () => {
    expect(await priced({ target: target("gpt"), usage, outcome: "failure" })).toMatchObject({ status: "priced" });
  });

  it("is free where the price is nothing, and priced where it only rounds to nothing", async () => {
    expect(await priced({ target: target("gift"), usage })).toEqual({ status: "free", nanoUsd: 0 });
    const one = { promptTokens: 1, completionTokens: 0, totalTokens: 1 };
    expect(await priced({ target: target("tiny"), usage: one })).toEqual({ status: "priced", nanoUsd: 0 });
  });
});
