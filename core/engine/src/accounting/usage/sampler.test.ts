import { beginAttempt } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import type { Attempt, Exchange, TokenCounter } from "@sluice/contract";
import {
  fakeExchange,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  type FakeExchangeParts,
} from "@sluice/testing";
import { createFamilyFactors } from "../../counting/family-factor.ts";
import { createUsageSampler, type UsageSampler } from "./sampler.ts";

const messages = Array.from({ length: 4 }, () => ({ role: "user", content: "Hi" }));
const request = fakeRequest({ model: "m", messages });
const usage = { promptTokens: 190, completionTokens: 3, totalTokens: 193 };
const reported = { outcome: "success", usage, usageSource: "provider" } as const;

/** A sampler, its clock, and how many prompts it has counted: ten tokens for each text. */
class Sampling {
  readonly factors = createFamilyFactors();
  nowMs = 0;
  counted = 0;
  readonly #sample: UsageSampler;

  constructor() {
    const tokens: TokenCounter = {
      count: async (text) => {
        this.counted += 1;
        return { tokens: [text].flat().length * 10, exact: true };
      },
    };
    const clock = { monotonic: () => this.nowMs };
    this.#sample = createUsageSampler({ tokens, factors: this.factors }, clock);
  }

  async sample(
    model: string,
    count = 1,
    parts: Partial<Attempt> = reported,
    exchangeParts: FakeExchangeParts = {},
  ): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const exchange: Exchange = fakeExchange({ request, ...exchangeParts });
      Object.assign(beginAttempt(exchange, fakeTarget("p", model), "openai"), parts);
      this.#sample(exchange);
    }
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
}

describe("the sampler", () => {
  it("learns a family's factor from a reply with a reported usage", async () => {
    const sampling = new Sampling();
    await sampling.sample("claude-3-opus");
    // Eight texts and fifteen tokens of framing are 95.
    expect(sampling.factors.of("claude-3")).toBe(2);
  });

  it.each([
    ["gpt-4o", reported, {}],
    ["claude-3", { ...reported, outcome: "partial" }, {}],
    ["claude-3", { ...reported, usageSource: "estimated" }, {}],
    ["claude-3", reported, { operation: "passthrough" }],
  ] as const)("leaves out %s with %j, %j", async (model, parts, exchangeParts) => {
    const sampling = new Sampling();
    await sampling.sample(model, 1, parts, exchangeParts);
    expect(sampling.counted).toBe(0);
  });

  it("counts one exchange in thirty-two of a key with each model", async () => {
    const sampling = new Sampling();
    await sampling.sample("claude-3");
    await sampling.sample("gemini-2", 31);
    expect(sampling.counted).toBe(2);
    sampling.nowMs += 250;
    await sampling.sample("claude-3", 31);
    expect(sampling.counted).toBe(2);
    await sampling.sample("claude-3");
    await sampling.sample("gemini-2", 2);
    expect(sampling.counted).toBe(4);
  });

  it("counts a busy model four times a second at most", async () => {
    const sampling = new Sampling();
    for (; sampling.nowMs < 1_000; sampling.nowMs += 10) await sampling.sample("claude-3", 100);
    expect(sampling.counted).toBe(4);
  });

  it("counts a key with few requests beside one that floods the model", async () => {
    const sampling = new Sampling();
    const by = (keyId: string) => ({ identity: fakeIdentity({ keyId }) });
    const cheap = { ...reported, usage: { ...usage, promptTokens: 95 } };
    // The flood has a count of its own in each pause.
    for (; sampling.nowMs < 10_000; sampling.nowMs += 10) {
      await sampling.sample("claude-3", 32, reported, by("flood"));
      if (sampling.nowMs === 5_010) await sampling.sample("claude-3", 1, cheap, by("quiet"));
    }
    expect(sampling.counted).toBe(40);
    expect(sampling.factors.of("claude-3")).toBe(1);
  });

  it("counts eight prompts of new keys beyond four a second at most", async () => {
    const sampling = new Sampling();
    for (; sampling.nowMs < 10_000; sampling.nowMs += 10)
      await sampling.sample("claude-3", 1, reported, {
        identity: fakeIdentity({ keyId: `${sampling.nowMs}` }),
      });
    expect(sampling.counted).toBe(48);
  });
});
