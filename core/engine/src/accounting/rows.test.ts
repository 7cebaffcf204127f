import {
  beginAttempt,
  BILLING,
  type Billing,
  isAmbiguous,
  receiveBody,
  recordGuardrail,
  SERVED,
} from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import { GatewayError, type Model, type SpendRow } from "@sluice/contract";
import {
  fakeAttempt,
  fakeClient,
  fakeClock,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
} from "@sluice/testing";
import { LiveExchange } from "../pipeline/exchange.ts";
import { closeAttempts, spendRows } from "./rows.ts";

const clock = fakeClock(1_000_000);

function open(parts: Partial<LiveExchange> = {}, billing?: Partial<Billing>): LiveExchange {
  const exchange = new LiveExchange({
    id: "request-1",
    operation: "chat",
    client: fakeClient(),
    generation: 3,
    deadlineMs: 60_000,
    clock,
    read: async () => undefined,
  });
  exchange.end();
  exchange.identity = fakeIdentity({
    keyId: "key-7",
    alias: "ci",
    userId: "u",
    teamId: "t",
    organizationId: "o",
    tags: ["a", "b"],
  });
  exchange.request = fakeRequest(
    { model: "asked" },
    { endUser: "end", tags: ["b", "c"], metadata: { x: 1 } },
  );
  if (billing !== undefined)
    BILLING.set(exchange, {
      price: () => ({ status: "unpriced", nanoUsd: undefined }),
      ...billing,
    });
  return Object.assign(exchange, parts);
}

/** The rows as the settlement makes them. */
function settledRows(exchange: LiveExchange, at: typeof clock): SpendRow[] {
  closeAttempts(exchange, at);
  return spendRows(exchange, at);
}

describe("the rows of an exchange", () => {
  it("of a refused request have no notes, few tags and a short model (F11)", () => {
    const long = Array.from({ length: 64 }, (_, index) => `${index}`.padEnd(200, "t"));
    const metadata = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`n${index}`, "v".repeat(2_000)]),
    );
    const request = fakeRequest({ model: "m".repeat(100_000) }, { tags: long, metadata });
    const [row] = settledRows(
      open({ request, failure: new GatewayError("rate_limited", "no") }),
      clock,
    );
    expect(row?.metadata).toEqual({});
    expect(row?.tags.slice(0, 3)).toEqual(["a", "b", long[0]]);
    expect(JSON.stringify(row).length).toBeLessThan(3_000);
  });

  it("of a call keep notes up to 16 KiB and say that there were more", () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`n${index}`, "v".repeat(2_000)]),
    );
    const exchange = open({ request: fakeRequest({ model: "asked" }, { tags: ["b"], metadata }) });
    Object.assign(beginAttempt(exchange, fakeTarget("one"), "openai"), { outcome: "success" });
    const [row] = settledRows(exchange, clock);
    expect(Object.keys(row?.metadata ?? {})).toEqual([
      ...Array.from({ length: 8 }, (_, index) => `n${index}`),
      "truncated",
    ]);
    expect(JSON.stringify(row).length).toBeLessThan(18_000);
  });

  it("say how an attempt was billed that the client left, and say it of no other", () => {
    const exchange = open(
      {},
      {
        describe: ({ error }) =>
          error?.code === "client_closed" ? { on_abort: "input_only" } : undefined,
      },
    );
    const failed = beginAttempt(exchange, fakeTarget("one"), "openai");
    Object.assign(failed, { outcome: "failure", error: new GatewayError("upstream_failed", "no") });
    beginAttempt(exchange, fakeTarget("two"), "openai");
    exchange.abort(new GatewayError("client_closed", "gone"));
    expect(
      settledRows(exchange, clock).map(({ errorCode, metadata }) => [errorCode, metadata]),
    ).toEqual([
      ["upstream_failed", { x: 1 }],
      ["client_closed", { x: 1, on_abort: "input_only" }],
    ]);
  });

  it("mark a call that was sent and lost, with the rule by which it was billed where there is one", () => {
    for (const [ambiguousBilling, expected] of [
      ["input_only", { on_ambiguous: "input_only" }],
      ["free", { on_ambiguous: "free" }],
      [undefined, {}],
    ] as const) {
      const exchange = open(
        {},
        ambiguousBilling === undefined
          ? undefined
          : {
              describe: (attempt) =>
                isAmbiguous(attempt) ? { on_ambiguous: ambiguousBilling } : undefined,
            },
      );
      const lost = {
        outcome: "failure",
        error: new GatewayError("upstream_timeout", "no"),
      } as const;
      Object.assign(beginAttempt(exchange, fakeTarget("one"), "openai"), {
        ...lost,
        isUnanswered: true,
      });
      Object.assign(beginAttempt(exchange, fakeTarget("two"), "openai"), lost);
      const metadata = settledRows(exchange, clock).map((row) => row.metadata);
      expect(metadata).toEqual([{ x: 1, ambiguous: true, ...expected }, { x: 1 }]);
    }
  });

  it("tell what guardrails did also where the client left", () => {
    const exchange = open({}, { describe: () => ({ on_abort: "observed" }) });
    const outcome = {
      guardrail: "pii",
      direction: "output",
      verdict: "edit",
      mode: "enforce",
    } as const;
    recordGuardrail(exchange, outcome);
    beginAttempt(exchange, fakeTarget("one"), "openai");
    exchange.abort(new GatewayError("client_closed", "gone"));
    expect(settledRows(exchange, clock)[0]?.metadata).toEqual({
      x: 1,
      guardrails: [outcome],
      on_abort: "observed",
    });
  });

  it("are one more for what was served without a call: for nothing, with its tokens", () => {
    const exchange = open({}, { price: () => ({ status: "priced", nanoUsd: 42 }) });
    const usage = { promptTokens: 5, completionTokens: 2, totalTokens: 7 };
    const served = fakeAttempt({
      number: 0,
      target: fakeTarget("one"),
      outcome: "success",
      usage,
      usageSource: "provider",
    });
    SERVED.set(exchange, served);
    const free = {
      attempt: 0,
      cacheHit: true,
      costNanoUsd: 0,
      costStatus: "free",
      totalTokens: 7,
      status: "success",
    };
    expect(settledRows(exchange, clock)).toMatchObject([free]);
    beginAttempt(exchange, fakeTarget("two"), "openai").succeed(1_000_009);
    expect(settledRows(exchange, clock)).toMatchObject([
      { attempt: 1, cacheHit: false, costNanoUsd: 42 },
      free,
    ]);
  });

  it("are one for each attempt, each with its own outcome and cost", () => {
    const exchange = open();
    const failed = beginAttempt(exchange, fakeTarget("one"), "openai");
    failed.fail(new GatewayError("upstream_failed", "no"), 1_000_001);
    const good = beginAttempt(exchange, fakeTarget("two"), "openai");
    good.firstContent(1_000_005);
    good.report({
      promptTokens: 5,
      completionTokens: 2,
      totalTokens: 7,
      cachedTokens: 1,
      reasoningTokens: 2,
    });
    good.succeed(1_000_009);
    BILLING.set(exchange, {
      price: ({ outcome }) =>
        outcome === "success" ? { status: "priced", nanoUsd: 42 } : { status: "free", nanoUsd: 0 },
    });
    expect(settledRows(exchange, clock)).toMatchObject([
      {
        attempt: 1,
        targetId: "one/gpt-4o-mini",
        status: "failure",
        errorCode: "upstream_failed",
        costNanoUsd: 0,
        costStatus: "free",
        totalTokens: null,
        usageSource: null,
      },
      {
        requestId: "request-1",
        callType: "chat",
        attempt: 2,
        keyId: "key-7",
        keyAlias: "ci",
        userId: "u",
        teamId: "t",
        organizationId: "o",
        endUser: "end",
        model: "asked",
        targetId: "two/gpt-4o-mini",
        provider: "openai",
        status: "success",
        errorCode: null,
        promptTokens: 5,
        completionTokens: 2,
        totalTokens: 7,
        cachedTokens: 1,
        reasoningTokens: 2,
        usageSource: "provider",
        costNanoUsd: 42,
        costStatus: "priced",
        firstContentAtMs: 1_000_005,
        endedAtMs: 1_000_009,
        generation: 3,
        metadata: { x: 1 },
        clientAddress: "127.0.0.1",
        upstreamRequestId: null,
        completionId: null,
      },
    ]);
  });

  it("name the model of each attempt: the one asked for in the client's word, a stand-in by its own id", () => {
    const model = (id: string, entry: string): Model => ({
      id,
      entry,
      mode: "chat",
      targets: [],
      accessGroups: [],
      ownedBy: "",
    });
    const exchange = open({
      request: fakeRequest({ model: "asked" }, { otherModels: ["openai/asked"] }),
    });
    for (const called of [model("openai/asked", "openai/*"), model("spare", "spare")]) {
      exchange.model = called;
      beginAttempt(exchange, fakeTarget(), "openai");
    }
    expect(settledRows(exchange, clock)).toMatchObject([
      { model: "asked", modelGroup: "openai/*" },
      { model: "spare", modelGroup: "spare" },
    ]);
  });

  it("join the tags of key and request without repeats", () => {
    expect(settledRows(open(), clock)[0]?.tags).toEqual(["a", "b", "c"]);
  });

  it("are unpriced, not free, when no step set a price", () => {
    const exchange = open();
    beginAttempt(exchange, fakeTarget(), "openai").succeed(1_000_009);
    expect(settledRows(exchange, clock)).toMatchObject([
      { costStatus: "unpriced", costNanoUsd: null, totalTokens: null },
    ]);
  });

  it("are one, of attempt 0, for a refusal after authentication", () => {
    const exchange = open({ failure: new GatewayError("model_not_found", "no") });
    expect(settledRows(exchange, clock)).toMatchObject([
      {
        attempt: 0,
        status: "failure",
        errorCode: "model_not_found",
        targetId: null,
        costNanoUsd: 0,
        costStatus: "free",
      },
    ]);
  });

  it("are none without an identity", () => {
    expect(
      settledRows(
        open({ identity: undefined, failure: new GatewayError("authentication_failed", "no") }),
        clock,
      ),
    ).toEqual([]);
  });

  it("are written without a charge before the settlement, and say afterwards what was charged", () => {
    const exchange = open(
      {},
      { price: ({ usage }) => ({ status: "priced", nanoUsd: usage?.totalTokens ?? 0 }) },
    );
    const attempt = beginAttempt(exchange, fakeTarget(), "openai");
    attempt.succeed(1_000_009);
    expect(spendRows(exchange, clock)).toMatchObject([{ costNanoUsd: 0 }]);
    attempt.estimate({ promptTokens: 5, completionTokens: 2, totalTokens: 7 });
    expect(settledRows(exchange, clock)).toMatchObject([{ costNanoUsd: 7 }]);
    attempt.report({ promptTokens: 50, completionTokens: 20, totalTokens: 70 });
    expect(settledRows(exchange, clock)).toMatchObject([{ costNanoUsd: 7, totalTokens: 7 }]);
  });

  it.each(["models", "spend"] as const)("are none for the operation %s", (operation) => {
    expect(settledRows(open({ operation }), clock)).toEqual([]);
  });

  it.each([
    [undefined, "failure"],
    [1_000_001, "partial"],
  ] as const)(
    "close an attempt that is still open, with what ended the exchange: content at %s",
    (firstContentAtMs, status) => {
      const exchange = open();
      const attempt = beginAttempt(exchange, fakeTarget(), "openai");
      if (firstContentAtMs !== undefined) attempt.firstContent(firstContentAtMs);
      exchange.abort(new GatewayError("deadline_exceeded", "late"));
      expect(settledRows(exchange, clock)).toMatchObject([
        { status, errorCode: "deadline_exceeded", endedAtMs: clock.now() },
      ]);
    },
  );
});

describe("a live exchange", () => {
  it("reads its body once, however often it is asked", async () => {
    let reads = 0;
    const request = fakeRequest({ model: "m" });
    const exchange = new LiveExchange({
      id: "request-1",
      operation: "chat",
      client: fakeClient(),
      generation: 1,
      deadlineMs: 60_000,
      clock,
      read: async () => (reads++, request),
    });
    await Promise.all([receiveBody(exchange), receiveBody(exchange)]);
    await receiveBody(exchange);
    exchange.end();
    expect(reads).toBe(1);
    expect(exchange.request).toBe(request);
  });

  it("keeps the first reason of its end", () => {
    const exchange = open();
    exchange.abort(new GatewayError("client_closed", "first"));
    exchange.abort(new GatewayError("deadline_exceeded", "second"));
    expect(exchange.signal.reason).toMatchObject({ code: "client_closed" });
  });
});
