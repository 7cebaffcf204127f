import { BILLING, priceAttempt } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import { type Attempt, GatewayError, type Price } from "@sluice/contract";
import { fakeAttempt, fakeExchange, fakeHost, fakeTarget, runStep } from "@sluice/testing";
import { cost } from "./index.ts";
import type { AbortBilling } from "./rules.ts";

const PRICE: Price = { input: 1_000_000, output: 3_000_000, reasoning: 5_000_000, source: "test" };
const USAGE = { promptTokens: 10, completionTokens: 20, totalTokens: 30, reasoningTokens: 4 };
const GONE = new GatewayError("client_closed", "gone");

async function costOf(
  on_abort: AbortBilling | undefined,
  parts: Partial<Attempt>,
  reason: GatewayError | null = GONE,
) {
  const controller = new AbortController();
  const exchange = fakeExchange({ signal: controller.signal });
  const host = fakeHost({
    prices: { find: (_provider, model) => (model === "known" ? PRICE : undefined) },
  });
  await runStep(
    cost.create(on_abort === undefined ? {} : { on_abort }, host),
    { exchange },
    async () => undefined,
  );
  if (reason !== null) controller.abort(reason);
  const priced = priceAttempt(
    exchange,
    fakeAttempt({ target: fakeTarget("p", "known"), ...parts }),
  );
  return {
    billing: BILLING.get(exchange)?.describe?.(fakeAttempt(cut), exchange)?.["on_abort"],
    ...priced,
  };
}

/** What is counted of an attempt that failed before its first content. */
async function estimateOf(on_abort: AbortBilling | undefined) {
  const exchange = fakeExchange({ signal: AbortSignal.abort(GONE) });
  const step = cost.create(on_abort === undefined ? {} : { on_abort }, fakeHost());
  await runStep(step, { exchange }, async () => undefined);
  return BILLING.get(exchange)?.estimate?.(fakeAttempt(early), exchange);
}

const cut: Partial<Attempt> = { outcome: "partial", error: GONE, usage: USAGE };
const early: Partial<Attempt> = { outcome: "failure", error: GONE };
/** 10 × 1 + 16 × 3 + 4 × 5 thousands. */
const WHOLE = { status: "priced", nanoUsd: 78_000 };
const PROMPT = { status: "priced", nanoUsd: 10_000 };
const FREE = { status: "free", nanoUsd: 0 };
const UNPRICED = { status: "unpriced", nanoUsd: undefined };

describe("an attempt that was sent and lost", () => {
  const error = new GatewayError("upstream_timeout", "silent");
  const lost = fakeAttempt({
    target: fakeTarget("p", "known"),
    outcome: "failure",
    error,
    isUnanswered: true,
  });
  const prompt = { promptTokens: 10, completionTokens: 0, totalTokens: 10 };

  it.each([
    [undefined, "input_only", UNPRICED],
    ["input_only", "input_only", UNPRICED],
    ["free", "free", FREE],
  ] as const)(
    "is billed by on_ambiguous %s, and tells the ledger so: %s",
    async (on_ambiguous, billing, uncounted) => {
      const exchange = fakeExchange();
      const host = fakeHost({ prices: { find: () => PRICE } });
      await runStep(
        cost.create(on_ambiguous === undefined ? {} : { on_ambiguous }, host),
        { exchange },
        async () => undefined,
      );
      expect(BILLING.get(exchange)?.describe?.(lost, exchange)).toEqual({ on_ambiguous: billing });
      expect(BILLING.get(exchange)?.estimate?.(lost, exchange)).toBe(
        billing === "free" ? undefined : "observed",
      );
      expect(priceAttempt(exchange, lost)).toEqual(uncounted);
      expect(priceAttempt(exchange, { ...lost, usage: prompt })).toEqual(PROMPT);
      expect(priceAttempt(exchange, { ...lost, isUnanswered: false })).toEqual(FREE);
    },
  );
});

describe("an attempt that the client has left", () => {
  it.each<[AbortBilling | undefined, object, object, object]>([
    [undefined, WHOLE, FREE, UNPRICED],
    ["observed", WHOLE, FREE, UNPRICED],
    ["estimate_output", WHOLE, UNPRICED, UNPRICED],
    ["input_only", PROMPT, UNPRICED, UNPRICED],
    ["free", FREE, FREE, FREE],
  ])("is billed as %s", async (billing, ofCut, ofEarly, ofUnknown) => {
    expect(await costOf(billing, cut)).toEqual({ billing: billing ?? "observed", ...ofCut });
    expect(await costOf(billing, early)).toMatchObject(ofEarly);
    expect(await estimateOf(billing)).toBe(
      billing === "estimate_output"
        ? "longest_output"
        : billing === "input_only"
          ? "observed"
          : undefined,
    );
    expect(await costOf(billing, { ...cut, target: fakeTarget("p", "unknown") })).toMatchObject(
      ofUnknown,
    );
  });

  it.each(["input_only", "free"] as const)(
    "is nothing that %s is about when the upstream, a deadline or a step cut it",
    async (billing) => {
      expect(
        await costOf(billing, { ...cut, error: new GatewayError("stream_truncated", "cut") }),
      ).toMatchObject(WHOLE);
      expect(
        await costOf(billing, cut, new GatewayError("deadline_exceeded", "late")),
      ).toMatchObject(WHOLE);
      expect(await costOf(billing, cut, null)).toMatchObject(WHOLE);
      expect(await costOf(billing, { ...cut, outcome: "success", error: undefined })).toMatchObject(
        WHOLE,
      );
    },
  );
});
