import { beginAttempt, recordGuardrail, SERVED } from "@sluice/runtime";
import { jsonReply, withholdReply } from "@sluice/kit";
import { describe, expect, it } from "vitest";
import {
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type GuardrailOutcome,
  type Identity,
  type Model,
  type SharedValue,
  type StepContext,
} from "@sluice/contract";
import {
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  runStep,
  type FakeExchangeParts,
} from "@sluice/testing";
import { cache } from "./index.ts";
import type { CacheConfig } from "./config.ts";
import { idempotency } from "../idempotency/index.ts";

const CONFIG: CacheConfig = {
  mode: "always",
  ttl: "10m",
  max_ttl: "24h",
  scope: "key",
  max_entry: "1mb",
  collapse: true,
};
const MODEL: Model = {
  id: "m",
  entry: "m",
  mode: "chat",
  targets: [fakeTarget()],
  accessGroups: [],
  ownedBy: "openai",
};

/** What a call does: answers after `gate`, as the model that is named, or fails. */
interface Act {
  readonly gate?: Promise<unknown>;
  readonly fails?: GatewayError;
  readonly model?: Model;
  /** Keeps its reply out of caches. */
  readonly withholds?: boolean;
  /** What a guardrail did meanwhile. */
  readonly outcome?: GuardrailOutcome;
}

function setUp(config: Partial<CacheConfig> = {}, parts: Parameters<typeof fakeHost>[0] = {}) {
  const held = new Map<string, SharedValue>();
  const host = fakeHost({
    ...parts,
    shared: <T extends SharedValue>(key: string, make: () => T): T => {
      const value = (held.get(key) as T | undefined) ?? make();
      held.set(key, value);
      return value;
    },
  });
  const step = cache.create({ ...CONFIG, ...config }, host);
  let calls = 0;
  /** Runs one exchange to its end. */
  const run = async (
    act: Act = {},
    parts: FakeExchangeParts = {},
    request: Partial<GatewayRequest> = {},
  ): Promise<Exchange> => {
    const settled: (() => void)[] = [];
    const exchange = fakeExchange({
      identity: fakeIdentity(),
      model: MODEL,
      request: fakeRequest({ model: "m", messages: [] }, request),
      onSettle: (tell) => void settled.push(tell),
      ...parts,
    });
    const next = async ({ exchange: inner }: StepContext = { exchange }): Promise<void> => {
      calls += 1;
      if (act.withholds === true) withholdReply(inner);
      if (act.outcome !== undefined) recordGuardrail(inner, act.outcome);
      const attempt = beginAttempt(inner, fakeTarget(), "openai");
      const aborted = new Promise((_resolve, reject) => {
        inner.signal.addEventListener("abort", () => reject(inner.signal.reason as Error));
      });
      try {
        await Promise.race([act.gate, aborted]);
        if (act.fails !== undefined) throw act.fails;
      } catch (error) {
        attempt.fail(error as GatewayError, 1);
        throw error;
      }
      Object.assign(attempt, { outcome: "success", model: act.model ?? MODEL });
      inner.reply = jsonReply({ id: `reply ${calls}`, choices: [] });
    };
    try {
      await runStep(step, { exchange }, next);
    } finally {
      for (const tell of settled) tell();
    }
    return exchange;
  };
  return { run, calls: () => calls };
}

/** Lets every pending call reach its wait. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const idOf = ({ reply }: Exchange): unknown =>
  reply?.kind === "whole" ? reply.document.value.id : undefined;

describe("the step cache", () => {
  it("keeps a reply, and says so", async () => {
    const { run, calls } = setUp();
    const exchanges = [await run(), await run()];
    expect(exchanges.map(idOf)).toEqual(["reply 1", "reply 1"]);
    expect(exchanges.map(({ headers }) => headers.get("x-sluice-cache"))).toEqual(["miss", "hit"]);
    expect([
      calls(),
      exchanges[1] && SERVED.get(exchanges[1])?.number,
      exchanges[1]?.attempts,
    ]).toEqual([1, 0, []]);
  });

  it.each<[string, () => Promise<boolean>]>([
    [
      "throws",
      () => {
        throw new Error("full");
      },
    ],
    ["rejects", () => Promise.reject(new Error("away"))],
  ])("answers, and lets the next one call, when the cache %s", async (_how, set) => {
    const { state } = fakeHost();
    const { run, calls } = setUp({}, { state: { ...state, cache: { ...state.cache, set } } });
    const first = await run();
    await turn();
    expect([idOf(first), idOf(await run()), calls()]).toEqual(["reply 1", "reply 2", 2]);
  });

  it("refuses a time to live that would keep no reply", () => {
    expect(cache.check?.({ ...CONFIG, ttl: "24h" })).toEqual([]);
    expect(cache.check?.({ ...CONFIG, ttl: "48h" }).map(({ path, fix }) => [path, fix])).toEqual([
      [["ttl"], "write 24h or less, or raise `max_ttl`"],
    ]);
  });

  it.each<[string, Act, FakeExchangeParts]>([
    ["the reply of a stand-in", { model: { ...MODEL, id: "other" } }, {}],
    ["what a guardrail objects to", { withholds: true }, {}],
    [
      "anything of a key that keeps nothing",
      {},
      { identity: fakeIdentity({ metadata: { no_store: true } }) },
    ],
  ])("does not keep %s", async (_what, act, parts) => {
    const { run, calls } = setUp();
    await run(act, parts);
    await run(act, parts);
    expect(calls()).toBe(2);
  });

  it.each([
    ["enforce", 2],
    ["shadow", 1],
    ["observe", 1],
  ] as const)("heeds what a guardrail says in the mode %s: %i calls", async (mode, expected) => {
    const { run, calls } = setUp();
    const outcome = { guardrail: "words", direction: "input", verdict: "block", mode } as const;
    await run({ outcome });
    await run({ outcome });
    expect(calls()).toBe(expected);
  });

  it("tells the tokens of kept and new vectors, also where another attempt lost to the one that answered", async () => {
    const step = cache.create(CONFIG, fakeHost());
    const ask = async (input: string[], hasLoser: boolean): Promise<unknown> => {
      const settled: (() => void)[] = [];
      const exchange = fakeExchange({
        operation: "embeddings",
        identity: fakeIdentity(),
        model: { ...MODEL, mode: "embedding" },
        request: fakeRequest({ model: "m", input }),
        onSettle: (tell) => void settled.push(tell),
      });
      await step.run({ exchange }, async ({ exchange: inner }: StepContext = { exchange }) => {
        const usage = { promptTokens: 3, completionTokens: 0, totalTokens: 3 };
        Object.assign(beginAttempt(inner, fakeTarget(), "openai"), {
          outcome: "success",
          usage,
          usageSource: "provider",
        });
        const error = new GatewayError("hedge_lost", "lost");
        if (hasLoser)
          Object.assign(beginAttempt(inner, fakeTarget("two"), "openai"), {
            outcome: "failure",
            error,
          });
        inner.reply = jsonReply({
          object: "list",
          data: [{ object: "embedding", index: 0, embedding: [1, 2] }],
          model: "m",
        });
      });
      for (const tell of settled) tell();
      await turn();
      return exchange.reply?.kind === "whole" ? exchange.reply.document.value.usage : undefined;
    };
    await ask(["a"], false);
    expect(await ask(["a", "b"], true)).toEqual({ prompt_tokens: 6, total_tokens: 6 });
  });

  it("does not keep a reply that a step withholds while it is sent", async () => {
    const slots: unknown[] = [];
    const { run, calls } = setUp();
    await run(
      {},
      {
        slots,
        onSettle: (tell) =>
          queueMicrotask(() => {
            withholdReply({ slots });
            tell();
          }),
      },
    );
    await turn();
    await run();
    expect(calls()).toBe(2);
  });

  it("makes one call for equal requests, and gives all of them the upstream's error", async () => {
    const { run, calls } = setUp();
    const fails = new GatewayError("upstream_failed", "No.");
    const gate = Promise.withResolvers<void>();
    const twins = [run({ gate: gate.promise, fails }), run(), run()];
    const ended = Promise.allSettled(twins);
    await turn();
    gate.resolve();
    const ends = await ended;
    expect(ends.map((end) => (end.status === "rejected" ? (end.reason as unknown) : end))).toEqual([
      fails,
      fails,
      fails,
    ]);
    expect(calls()).toBe(1);
  });

  it("gives the reply of a stand-in to those alone who may use that model", async () => {
    const other = { ...MODEL, id: "other" };
    const mayUse = ({ keyId }: Identity, { id }: Model): boolean =>
      id !== "other" || keyId !== "narrow";
    const { run, calls } = setUp(
      { scope: "global" },
      { authority: { ...fakeHost().authority, mayUse } },
    );
    const gate = Promise.withResolvers<void>();
    const asking = ["wide", "narrow", "wide too"].map((keyId) =>
      run(
        { gate: gate.promise, model: keyId === "narrow" ? MODEL : other },
        { identity: fakeIdentity({ keyId }) },
      ),
    );
    await turn();
    gate.resolve();
    const replies = await Promise.all(asking);
    expect(replies.map(idOf)).toEqual(["reply 1", "reply 2", "reply 1"]);
    expect(replies.map(({ headers }) => headers.get("x-sluice-cache"))).toEqual([
      "miss",
      "miss",
      "hit",
    ]);
    expect(calls()).toBe(2);
  });

  it("lets another equal request call when the first one's time is up", async () => {
    const { run, calls } = setUp();
    const clock = new AbortController();
    const first = run({ gate: new Promise(() => undefined) }, { signal: clock.signal });
    const ended = Promise.allSettled([first]);
    const others = [run(), run()];
    await turn();
    clock.abort(new GatewayError("deadline_exceeded", "Late."));
    expect(await ended).toMatchObject([
      { status: "rejected", reason: { code: "deadline_exceeded" } },
    ]);
    expect((await Promise.all(others)).map(idOf)).toEqual(["reply 2", "reply 2"]);
    expect(calls()).toBe(2);
  });

  const GONE = ["client_closed", "client_stalled"] as const;

  it.each(GONE)("goes on without the first client, and ends with the last: %s", async (code) => {
    const { run, calls } = setUp();
    const gate = Promise.withResolvers<void>();
    const clients = [new AbortController(), new AbortController(), new AbortController()] as const;
    const gone = new GatewayError(code, "Gone.");
    const first = run({ gate: gate.promise }, { signal: clients[0].signal });
    const second = run({}, { signal: clients[1].signal });
    await turn();
    clients[0].abort(gone);
    await turn();
    gate.resolve();
    expect([idOf(await second), idOf(await first), calls()]).toEqual(["reply 1", "reply 1", 1]);
    const alone = run(
      { gate: new Promise(() => undefined) },
      { signal: clients[2].signal },
      { fields: { cache: { namespace: "n" } } },
    );
    const ended = Promise.allSettled([alone]);
    await turn();
    clients[2].abort(gone);
    expect(await ended).toMatchObject([{ status: "rejected", reason: { code } }]);
  });

  it.each(GONE)("lets another equal request call when the first one ends by %s", async (code) => {
    const { run, calls } = setUp();
    const gate = Promise.withResolvers<void>();
    const first = run({ gate: gate.promise, fails: new GatewayError(code, "Gone.") });
    const ended = Promise.allSettled([first]);
    const second = run();
    await turn();
    gate.resolve();
    expect(await ended).toMatchObject([{ status: "rejected", reason: { code } }]);
    expect([idOf(await second), calls()]).toEqual(["reply 2", 2]);
  });

  it.each<[string, Partial<CacheConfig>, Partial<GatewayRequest>]>([
    ["collapse is off", { collapse: false }, {}],
    ["it asks for no entry", {}, { fields: { cache: { "no-cache": true } } }],
    ["its own rules for failures differ", {}, { fields: { fallbacks: [] } }],
  ])("does not share a call when %s", async (_what, config, request) => {
    const { run, calls } = setUp(config);
    const gate = Promise.withResolvers<void>();
    const first = run({ gate: gate.promise });
    await turn();
    const second = run({ gate: gate.promise }, {}, request);
    await turn();
    gate.resolve();
    await Promise.all([first, second]);
    expect(calls()).toBe(2);
  });
});

describe("its options", () => {
  it.each([
    [{ ttl: "0s" }, ["ttl"]],
    [{ ttl: "0s", max_ttl: "0s" }, ["ttl"]],
    [{ ttl: "2d" }, ["ttl"]],
    [{ max_entry: "0b" }, ["max_entry"]],
    [{ ttl: "1s", max_entry: "1b" }, undefined],
  ] as const)("%j: a fault where nothing would be kept", (config, path) => {
    expect(cache.check?.({ ...CONFIG, ...config }).map((fault) => fault.path)).toEqual(
      path === undefined ? [] : [path],
    );
  });

  it("says how large an entry may be", () => {
    expect(cache.inspect?.({ ...CONFIG, max_entry: "64kb" })).toEqual({ largestEntry: 65_536 });
  });

  it("of idempotency: a fault where no result would be kept", () => {
    expect(["0s", "1s"].map((ttl) => idempotency.check?.({ ttl }).length)).toEqual([1, 0]);
  });
});
