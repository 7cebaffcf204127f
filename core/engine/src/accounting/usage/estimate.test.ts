import { beginAttempt, type Billing, isAbandoned, isAmbiguous } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import {
  type Attempt,
  type Exchange,
  GatewayError,
  type JsonObject,
  type JsonValue,
  type TokenCounter,
} from "@sluice/contract";
import {
  fakeExchange,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  type FakeExchangeParts,
} from "@sluice/testing";
import { createFamilyFactors } from "../../counting/family-factor.ts";
import { writtenDocument } from "@sluice/kit/internals";
import { type Counted, estimateUsage, hasUnreportedUsage, withEstimatedUsage } from "./estimate.ts";

/** Ten tokens for each text. It remembers how long it was given. */
function fakeCounter(): TokenCounter & { readonly waits: (number | undefined)[] } {
  const waits: (number | undefined)[] = [];
  return {
    waits,
    count(text, options) {
      waits.push(options?.maxWaitMs);
      return Promise.resolve({ tokens: [text].flat().length * 10, exact: true });
    },
  };
}

function open(parts: FakeExchangeParts = {}): Counted {
  const request = fakeRequest({ model: "m", messages: [{ role: "user", content: "Hi" }] });
  return fakeExchange({ identity: fakeIdentity(), request, ...parts }) as Counted;
}

type AbortBilling = "observed" | "estimate_output" | "input_only" | "free";

/** The estimates that the rules of the step `cost` come to. */
function billingOf({
  abort,
  ambiguous,
}: {
  abort?: AbortBilling;
  ambiguous?: "input_only" | "free" | undefined;
}): Billing {
  return {
    price: () => ({ status: "unpriced", nanoUsd: undefined }),
    estimate(attempt, exchange) {
      if (abort === "input_only" && isAbandoned(exchange, attempt)) return "observed";
      if (abort === "estimate_output" && isAbandoned(exchange, attempt)) return "longest_output";
      return ambiguous === "input_only" && isAmbiguous(attempt) ? "observed" : undefined;
    },
  };
}

function attempt(exchange: Exchange, parts: Partial<Attempt> = {}, model = "gpt-4o"): Attempt {
  return Object.assign(beginAttempt(exchange, fakeTarget("p", model), "openai"), {
    outcome: "success",
    ...parts,
  });
}

const USAGE = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
const estimate = (exchange: Counted, tokens = fakeCounter(), factors = createFamilyFactors()) =>
  estimateUsage(exchange, { tokens, factors });

describe("an attempt without a reported usage", () => {
  it.each([
    ["succeeded", {}, true],
    ["was cut", { outcome: "partial" }, true],
    ["is still open after content", { outcome: undefined, firstContentAtMs: 1 }, true],
    ["is still open without content", { outcome: undefined }, false],
    ["failed", { outcome: "failure" }, false],
    [
      "lost to another attempt",
      { outcome: "failure", error: new GatewayError("hedge_lost", "lost") },
      true,
    ],
    [
      "failed while it was held back with content",
      { outcome: "failure", firstContentAtMs: 1 },
      true,
    ],
    ["has a reported usage", { usage: USAGE }, false],
  ] as const)("is one that %s: %j, %s", (_what, parts, hasNoReport) => {
    const exchange = open();
    attempt(exchange, parts);
    expect(hasUnreportedUsage(exchange)).toBe(hasNoReport);
  });

  it.each([
    ["input_only", true],
    ["free", false],
    [undefined, false],
  ] as const)(
    "is one that was sent and lost, where such calls are billed: %s, %s",
    async (ambiguousBilling, hasNoReport) => {
      const exchange = open({ billing: billingOf({ ambiguous: ambiguousBilling }) });
      const error = new GatewayError("upstream_timeout", "silent");
      const lost = attempt(exchange, { outcome: "failure", error, isUnanswered: true });
      expect(hasUnreportedUsage(exchange)).toBe(hasNoReport);
      await estimate(exchange);
      expect([lost.usage?.promptTokens !== undefined, lost.usage?.completionTokens]).toEqual(
        hasNoReport ? [true, 0] : [false, undefined],
      );
    },
  );

  it("with a large prompt is believed without writing its request", () => {
    const request = fakeRequest({
      model: "m",
      messages: [{ role: "user", content: "word ".repeat(40_000) }],
    });
    const { value } = request.document;
    const document = {
      value,
      get bytes(): string {
        throw new Error("the document is written");
      },
      with: () => document,
    };
    const exchange = open({ request: { ...request, document } });
    const usage = { promptTokens: 45_000, completionTokens: 1, totalTokens: 45_001 };
    attempt(exchange, { usage, usageSource: "provider" });
    expect(hasUnreportedUsage(exchange)).toBe(false);
  });

  it("gets the tokens of what it was asked itself, where that is a part of the request", async () => {
    const request = fakeRequest({ model: "m", input: ["a", "b", "c"] });
    const exchange = open({ operation: "embeddings", request });
    const parts = [["a"], ["b", "c"]].map((input) =>
      attempt(exchange, { document: request.document.with({ input }) }),
    );
    await estimate(exchange);
    expect(parts.map(({ usage }) => usage?.promptTokens)).toEqual([10, 20]);
  });

  it.each([
    { operation: "images" },
    { operation: "passthrough" },
    { identity: undefined },
  ] as const)("is none of an exchange that is not counted: %j", (parts) => {
    const exchange = open(parts);
    attempt(exchange);
    expect(hasUnreportedUsage(exchange)).toBe(false);
  });

  it("gets the prompt and what its own reply said, marked as estimated; others keep what they have", async () => {
    const exchange = open();
    const failed = attempt(exchange, { outcome: "failure" });
    const reported = attempt(exchange, { usage: USAGE, usageSource: "provider" });
    const unreported = attempt(exchange, { replyText: { texts: () => ["a", "b"], scale: 1 } });
    await estimate(exchange);
    // Two texts and six tokens of framing; two texts of the reply.
    expect(unreported.usage).toEqual({ promptTokens: 26, completionTokens: 20, totalTokens: 46 });
    expect(unreported.usageSource).toBe("estimated");
    expect([failed.usage, reported.usage, reported.usageSource]).toEqual([
      undefined,
      USAGE,
      "provider",
    ]);
  });

  it("is multiplied by what is known of its family", async () => {
    const factors = createFamilyFactors();
    factors.observe("claude-3-opus", "key", { reported: 150, counted: 100 });
    const exchange = open();
    const unreported = attempt(
      exchange,
      { replyText: { texts: () => ["a"], scale: 1 } },
      "claude-3-haiku",
    );
    await estimate(exchange, undefined, factors);
    expect(unreported.usage).toEqual({ promptTokens: 39, completionTokens: 15, totalTokens: 54 });
  });

  it("delays a client by a quarter of a second at most, and delays none for the next two seconds", async () => {
    const tokens = fakeCounter();
    const exchange = open();
    attempt(exchange);
    await estimate(exchange, tokens);
    const gone = open({ signal: AbortSignal.abort(new GatewayError("client_closed", "gone")) });
    attempt(gone);
    await estimate(gone, tokens);
    expect(tokens.waits).toEqual([250, 250, 2_000, 2_000]);
  });
});

describe("an attempt that the client has left", () => {
  const GONE = new GatewayError("client_closed", "gone");
  const early = { outcome: "failure", error: GONE } as const;
  const said = {
    outcome: "partial",
    error: GONE,
    replyText: { texts: () => ["a", "b"], scale: 1 },
  } as const;
  const left = (body: JsonObject, abort: AbortBilling, parts: FakeExchangeParts = {}): Counted => {
    const request = fakeRequest({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      ...body,
    });
    return open({
      request,
      billing: billingOf({ abort }),
      signal: AbortSignal.abort(GONE),
      ...parts,
    });
  };

  it.each<[AbortBilling, JsonObject, number | undefined, number]>([
    ["observed", { max_tokens: 500 }, undefined, 20],
    ["free", { max_tokens: 500 }, undefined, 20],
    ["input_only", { max_tokens: 500 }, 0, 20],
    ["estimate_output", { max_tokens: 500 }, 500, 500],
    ["estimate_output", { max_tokens: 500, max_completion_tokens: 300, n: 2 }, 1000, 1000],
    ["estimate_output", { max_tokens: 5 }, 5, 20],
    ["estimate_output", {}, 0, 20],
  ])(
    "has, with %s and %j, %s tokens before content and %i after it",
    async (billing, body, before, after) => {
      const exchange = left(body, billing);
      const first = attempt(exchange, early);
      const second = attempt(exchange, said);
      await estimate(exchange);
      expect(first.usage?.completionTokens).toBe(before);
      expect(first.usage?.promptTokens).toBe(before === undefined ? undefined : 26);
      expect(second).toMatchObject({
        usage: { completionTokens: after },
        usageSource: "estimated",
      });
    },
  );

  it("has at most the model's longest output", async () => {
    const info = { maxOutputTokens: 100, supports: {} };
    const model = {
      id: "m",
      entry: "m",
      mode: "chat",
      targets: [],
      accessGroups: [],
      ownedBy: "p",
      info,
    } as const;
    const attempts = [{ max_tokens: 1_000_000 }, {}].map(async (body) => {
      const exchange = left(body, "estimate_output", { model });
      const only = attempt(exchange, early);
      await estimate(exchange);
      return only.usage?.completionTokens;
    });
    expect(await Promise.all(attempts)).toEqual([100, 100]);
  });

  it("is neither one that failed by itself nor one with a reported usage", () => {
    const failed = left({}, "estimate_output");
    attempt(failed, { outcome: "failure", error: new GatewayError("upstream_failed", "no") });
    attempt(failed, { ...said, usage: USAGE });
    expect(hasUnreportedUsage(failed)).toBe(false);
    const late = left({}, "estimate_output", {
      signal: AbortSignal.abort(new GatewayError("deadline_exceeded", "late")),
    });
    attempt(late, early);
    expect(hasUnreportedUsage(late)).toBe(false);
  });
});

describe("a whole reply whose usage is an estimate", () => {
  const estimated = { usage: USAGE, usageSource: "estimated" } as const;
  const shown = (usage: JsonValue | undefined): JsonValue | undefined => {
    const exchange = open();
    attempt(exchange, estimated);
    const document = writtenDocument({ choices: [], ...(usage !== undefined && { usage }) });
    return withEstimatedUsage(exchange, { kind: "whole", status: 200, document }).document.value
      .usage;
  };

  it.each([[undefined], [null], [{}], [{ prompt_tokens: -5, completion_tokens: 2 }], ["many"]])(
    "shows it in place of %j",
    (usage) => {
      expect(shown(usage)).toMatchObject({ prompt_tokens: USAGE.promptTokens, estimated: true });
    },
  );

  it("keeps one that can be read", () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2 };
    expect(shown(usage)).toEqual(usage);
  });
});
