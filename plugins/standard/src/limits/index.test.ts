import { describe, expect, it } from "vitest";
import {
  fakeClient,
  fakeClock,
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  runStep,
  type FakeExchangeParts,
} from "@sluice/testing";
import { admit, beginAttempt } from "@sluice/runtime";
import {
  type Amounts,
  type Attempt,
  GatewayError,
  type Cost,
  type Exchange,
  type Host,
  type Identity,
  type LedgerSumFilter,
  type Model,
  type LimitScope,
  type SharedState,
  type Target,
} from "@sluice/contract";
import { limits } from "./index.ts";
import type { LimitsConfig } from "./config.ts";
import { resetText } from "./refusal.ts";

const CONFIG: LimitsConfig = {
  windows: [],
  parallel: [],
  budgets: [],
  unpriced: "refuse",
  default_max_tokens: 100,
  max_in_flight: 10,
  in_flight_share: "50%",
  reserved_share: "25%",
  max_n: 8,
  max_images: 10,
  on_max_cost: "refuse",
  limit_master: false,
  budget_metrics: [],
};
const NONE: Amounts = {
  maxBudgetNanoUsd: null,
  softBudgetNanoUsd: null,
  budgetDuration: null,
  rpm: null,
  tpm: null,
  maxParallelRequests: null,
};
const START_MS = Date.UTC(2026, 10, 20, 17);

const target = fakeTarget();
const MODEL: Model = {
  id: "m",
  entry: "m",
  mode: "chat",
  targets: [target],
  accessGroups: [],
  ownedBy: "openai",
};
/** A thousand nano-dollars for each token of the completion. */
const pricer = ({ usage, target: { model } }: { usage: unknown; target: Target }): Cost =>
  model === "unknown"
    ? { status: "unpriced", nanoUsd: undefined }
    : {
        status: "priced",
        nanoUsd: (usage as { completionTokens: number } | undefined)?.completionTokens ?? 0,
      };

interface Parts {
  readonly config?: Partial<LimitsConfig>;
  readonly host?: Partial<Host>;
}

/** A living step, and exchanges that go through it. */
function stage({ config = {}, host: parts = {} }: Parts = {}) {
  const clock = fakeClock(START_MS);
  const kept = new Map<string, unknown>();
  const host = fakeHost({
    clock,
    shared: (key, make) => {
      if (!kept.has(key)) kept.set(key, make());
      return kept.get(key) as never;
    },
    ...parts,
  });
  const step = limits.create({ ...CONFIG, ...config }, host);
  let requests = 0;
  const enter = async (
    identity: Identity,
    more: FakeExchangeParts = {},
    inner?: (exchange: Exchange) => Promise<void>,
  ) => {
    const settled: (() => void)[] = [];
    const exchange = fakeExchange({
      id: `request-${(requests += 1)}`,
      identity,
      model: MODEL,
      request: fakeRequest({
        model: "m",
        messages: [{ role: "user", content: "hello" }],
        max_tokens: 10,
      }),
      billing: { price: pricer },
      onSettle: (tell) => void settled.push(tell),
      ...more,
    });
    const end = (): void => settled.splice(0).forEach((tell) => tell());
    try {
      await runStep(step, { exchange }, async () => inner?.(exchange));
    } catch (error) {
      end();
      throw error;
    }
    return { exchange, end };
  };
  return { host, clock, enter, state: host.state };
}

const keyWith = (own: Partial<Amounts>, more: Partial<Identity> = {}) =>
  fakeIdentity({ scopes: [scopeOf("key", own, more.keyId)], ...more });

/** A scope that has some amounts: the key's, or that of the team `t`. */
const scopeOf = (
  kind: "key" | "team",
  own: Partial<Amounts>,
  id = kind === "key" ? "key-1" : "t",
): LimitScope => ({
  kind,
  id,
  amounts: { ...NONE, ...own },
  anchor: "calendar",
  createdAtMs: 0,
  perModel: [],
});

/** A call that was admitted and used so many tokens. */
async function call(exchange: Exchange, completionTokens: number, at = target): Promise<void> {
  const admission = await admit(exchange, at, exchange.request!.document);
  const attempt = beginAttempt(exchange, at, "openai", undefined, admission);
  attempt.report({ promptTokens: 2, completionTokens, totalTokens: completionTokens + 2 });
  attempt.succeed(1);
}

async function reading(state: SharedState, key: string) {
  const [found] = await state.read([key]);
  return found;
}

const EVER = "budget:key:key-1:ever:0";

describe("a budget", () => {
  it("reserves what the reply may cost, and is left with what it did", async () => {
    const { enter, state } = stage();
    const { end } = await enter(keyWith({ maxBudgetNanoUsd: 100 }), {}, (exchange) =>
      call(exchange, 4),
    );
    expect(await reading(state, EVER)).toMatchObject({ spentNanoUsd: 0, reservedNanoUsd: 10 });
    end();
    expect(await reading(state, EVER)).toMatchObject({ spentNanoUsd: 4, reservedNanoUsd: 0 });
  });

  it("counts an admitted call that was not dispatched as its own reservation, not as that of the next call", async () => {
    const { enter, state } = stage();
    const bodyWith = (length: number) =>
      fakeRequest({ model: "m", messages: [], max_tokens: length }).document;
    const { end } = await enter(keyWith({ maxBudgetNanoUsd: 1_000 }), {}, async (exchange) => {
      await admit(exchange, target, exchange.request!.document);
      const admission = await admit(exchange, target, bodyWith(100));
      const attempt = beginAttempt(exchange, target, "openai", undefined, admission);
      Object.assign(attempt, {
        outcome: "success",
        usage: { promptTokens: 0, completionTokens: 50, totalTokens: 50 },
      });
      await admit(exchange, target, bodyWith(10));
    });
    expect(await reading(state, EVER)).toMatchObject({ spentNanoUsd: 0, reservedNanoUsd: 110 });
    end();
    expect(await reading(state, EVER)).toMatchObject({ spentNanoUsd: 50, reservedNanoUsd: 0 });
  });

  it("is not touched by a request that was never dispatched", async () => {
    const { enter, state } = stage();
    await expect(
      enter(keyWith({ maxBudgetNanoUsd: 100 }), {}, () => Promise.reject(new Error("refused"))),
    ).rejects.toThrow("refused");
    expect(await reading(state, EVER)).toMatchObject({ spentNanoUsd: 0, reservedNanoUsd: 0 });
  });

  it("begins with what the ledger says, asked once for many requests", async () => {
    const asked: LedgerSumFilter[] = [];
    const ledger = {
      ...fakeHost().ledger,
      spent: async (filter: LedgerSumFilter) => (asked.push(filter), 85),
    };
    const { enter } = stage({ host: { ledger } });
    const identity = keyWith({ maxBudgetNanoUsd: 100, budgetDuration: "1d" });
    const outcomes = await Promise.allSettled([enter(identity), enter(identity), enter(identity)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(asked).toEqual([{ keyId: "key-1", fromMs: Date.UTC(2026, 10, 20) }]);
  });

  it("asks the ledger about sixteen budgets at once, and about the others in their turn", async () => {
    const asked: (() => void)[] = [];
    let most = 0;
    const spent = () =>
      new Promise<number>(
        (resolve) =>
          (most = Math.max(
            most,
            asked.push(() => resolve(0)),
          )),
      );
    const { enter } = stage({
      config: { max_in_flight: 100 },
      host: { ledger: { ...fakeHost().ledger, spent } },
    });
    const entered = Array.from({ length: 40 }, (_, index) =>
      enter(keyWith({ maxBudgetNanoUsd: 100 }, { keyId: `key-${index}` })),
    );
    for (let answered = 0; answered < 40;) {
      await new Promise((resolve) => setImmediate(resolve));
      for (const answer of asked.splice(0)) {
        answer();
        answered += 1;
      }
    }
    expect(await Promise.all(entered)).toHaveLength(40);
    expect(most).toBe(16);
  });

  it("refuses with 503 when the ledger cannot be read", async () => {
    const ledger = { ...fakeHost().ledger, spent: () => Promise.reject(new Error("away")) };
    const { enter } = stage({ host: { ledger } });
    await expect(enter(keyWith({ maxBudgetNanoUsd: 100 }))).rejects.toMatchObject({
      code: "overloaded",
    });
  });

  it("covers a second attempt by what the first did not use, and reserves the rest before it", async () => {
    const { enter, state } = stage();
    const { exchange, end } = await enter(keyWith({ maxBudgetNanoUsd: 14 }), {}, (inner) =>
      call(inner, 4),
    );
    await call(exchange, 1);
    expect(await reading(state, EVER)).toMatchObject({ reservedNanoUsd: 14 });
    await expect(async () =>
      admit(exchange, target, exchange.request!.document),
    ).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    end();
    expect(await reading(state, EVER)).toMatchObject({ spentNanoUsd: 5, reservedNanoUsd: 0 });
  });

  it("and slots hold nothing after two thousand mixed outcomes, many of them at the same time", async () => {
    const { enter, state } = stage({ config: { max_in_flight: 100 } });
    const identity = keyWith({ maxBudgetNanoUsd: 1_000, maxParallelRequests: 40 });
    const open: (() => void)[] = [];
    const ends = { served: 0, failed: 0, refused: 0 };
    for (let number = 0; number < 2_000; number += 1) {
      const inner = async (exchange: Exchange): Promise<void> => {
        if (number % 7 === 0) throw new GatewayError("client_closed", "gone before any call");
        await call(exchange, number % 3);
        // A call without usage and one more, as after a fallback; some fail in the end.
        if (number % 5 === 0)
          Object.assign(exchange.attempts[0]!, { outcome: "failure", usage: undefined });
        if (number % 4 === 0) await call(exchange, 1);
        if (number % 11 === 0) throw new GatewayError("upstream_failed", "no");
      };
      try {
        open.push((await enter(identity, {}, inner)).end);
        ends.served += 1;
      } catch (error) {
        const { code } = error as GatewayError;
        ends[code === "budget_exceeded" || code === "rate_limited" ? "refused" : "failed"] += 1;
      }
      // They end in another order than they began.
      if (open.length > 35 || number % 6 === 0)
        open.splice((number * 7) % Math.max(1, open.length), 1)[0]?.();
    }
    for (const end of open) end();
    expect(Math.min(...Object.values(ends))).toBeGreaterThan(100);
    expect(await reading(state, EVER)).toMatchObject({ reservedNanoUsd: 0 });
    expect(await reading(state, "parallel:key:key-1")).toMatchObject({ inFlight: 0 });
  });

  it("begins anew with its period, and says when", async () => {
    const { enter, clock } = stage();
    const identity = keyWith({ maxBudgetNanoUsd: 10, budgetDuration: "1d" });
    const { end } = await enter(identity, {}, (exchange) => call(exchange, 10));
    end();
    await expect(enter(identity)).rejects.toMatchObject({
      code: "budget_exceeded",
      retryAfterMs: 7 * 3_600_000,
    });
    clock.advance(7 * 3_600_000);
    await expect(enter(identity)).resolves.toBeDefined();
  });

  it("of the options holds for users, tags, providers and all callers, the master key among them", async () => {
    const one = { max: 0.000_000_025 };
    const { enter, state } = stage({
      config: {
        budgets: [
          { per: "user", ...one },
          { per: "tag", ...one, only: ["blue"] },
          { per: "provider", ...one },
          { per: "global", ...one },
        ],
      },
    });
    const request = fakeRequest(
      { model: "m", messages: [], max_tokens: 10 },
      { tags: ["blue", "red"] },
    );
    const first = await enter(
      fakeIdentity({ userId: "u", allowedTags: ["blue"] }),
      { request },
      (exchange) => call(exchange, 7),
    );
    first.end();
    const keys = ["user:u", "tag:blue", "tag:red", "provider:openai", "global:all"].map(
      (name) => `budget:${name}:ever:0`,
    );
    const spent = async () => (await state.read(keys)).map(({ spentNanoUsd }) => spentNanoUsd);
    expect(await spent()).toEqual([7, 7, undefined, 7, 7]);
    const master = fakeIdentity({ kind: "master", keyId: "master" });
    (await enter(master, {}, (exchange) => call(exchange, 100))).end();
    expect(await spent()).toEqual([7, 7, undefined, 107, 107]);
    await expect(enter(fakeIdentity())).rejects.toMatchObject({ code: "budget_exceeded" });
  });

  it("refuses what has no price, or lets it pass where the operator says so", async () => {
    const unknown = { ...MODEL, targets: [fakeTarget("openai", "unknown")] };
    const identity = keyWith({ maxBudgetNanoUsd: 100 });
    await expect(stage().enter(identity, { model: unknown })).rejects.toMatchObject({
      code: "budget_exceeded",
      param: "model",
    });
    await expect(
      stage({ config: { unpriced: "allow" } }).enter(identity, { model: unknown }),
    ).resolves.toBeDefined();
  });

  it("refuses what is more than a number holds as too much, and not as without a price", async () => {
    const exact = ({ usage }: Attempt): Cost => {
      const nanoUsd = (usage?.completionTokens ?? 0) * 1_000;
      return Number.isSafeInteger(nanoUsd)
        ? { status: "priced", nanoUsd }
        : { status: "unpriced", nanoUsd: undefined };
    };
    const identity = keyWith({ maxBudgetNanoUsd: 100 });
    for (const more of [{ max_tokens: 1e15 }, { max_completion_tokens: 1e300, n: 8 }]) {
      const request = fakeRequest({
        model: "m",
        messages: [{ role: "user", content: "hello" }],
        ...more,
      });
      const entered = stage({ config: { unpriced: "allow" } }).enter(identity, {
        request,
        billing: { price: exact },
      });
      await expect(entered).rejects.toMatchObject({ code: "budget_exceeded" });
    }
  });

  it("that is soft warns once, and on every reply", async () => {
    const { enter, host } = stage({ config: { budgets: [{ per: "key", soft: 0.000_000_005 }] } });
    const seen = [await enter(fakeIdentity()), await enter(fakeIdentity())].map(({ exchange }) =>
      exchange.headers.get("x-sluice-soft-budget"),
    );
    expect(seen).toEqual(["key", "key"]);
    expect(host.lines.filter(({ message }) => message === "a soft budget is reached")).toHaveLength(
      1,
    );
  });

  it("that is soft is the key's and the team's own as well: alone, beside a hard one, and before the step's share of it", async () => {
    const config = { soft_budget: "10%", budgets: [{ per: "key", soft: 0.000_000_5 }] } as const;
    const warned = async (own: Partial<Amounts>, team: Partial<Amounts> = {}) => {
      const scopes = [scopeOf("team", team), scopeOf("key", own)];
      const identity = fakeIdentity({ teamId: "t", scopes });
      const { exchange } = await stage({ config }).enter(identity);
      return exchange.headers.get("x-sluice-soft-budget");
    };
    expect(await warned({ softBudgetNanoUsd: 10 })).toBe("key");
    expect(await warned({ softBudgetNanoUsd: 11 })).toBeUndefined();
    expect(await warned({}, { softBudgetNanoUsd: 10 })).toBe("team");
    expect(await warned({ softBudgetNanoUsd: 10 }, { softBudgetNanoUsd: 10 })).toBe("key, team");
    expect(await warned({ maxBudgetNanoUsd: 100 })).toBe("key");
    expect(await warned({ maxBudgetNanoUsd: 100, softBudgetNanoUsd: 11 })).toBeUndefined();
  });

  it("that is soft refuses nothing, not even what has no price, and warns again when it was raised", async () => {
    const { enter, host } = stage();
    const unknown = { ...MODEL, targets: [fakeTarget("openai", "unknown")] };
    await enter(keyWith({ softBudgetNanoUsd: 0 }), { model: unknown });
    for (let calls = 0; calls < 3; calls += 1)
      (await enter(keyWith({ softBudgetNanoUsd: 1 }), {}, (inner) => call(inner, 9))).end();
    await enter(keyWith({ softBudgetNanoUsd: 20 }));
    const lines = host.lines.filter(({ message }) => message === "a soft budget is reached");
    expect(lines.map(({ fields }) => fields?.["soft_usd"])).toEqual([
      "0",
      "0.000000001",
      "0.00000002",
    ]);
  });
});

describe("windows and slots", () => {
  it("are all taken, or none of them", async () => {
    const { enter, state } = stage({
      config: { windows: [{ per: "global", requests: 1, window: "1m" }] },
    });
    const identity = keyWith({ rpm: 5 });
    await enter(identity);
    await expect(enter(identity)).rejects.toMatchObject({ code: "rate_limited", retryable: false });
    expect(await reading(state, "requests:key:key-1:60000")).toMatchObject({ windowUsed: 1 });
  });

  it("give tokens back that were not used", async () => {
    const { enter, state } = stage();
    const { end } = await enter(keyWith({ tpm: 1_000 }), {}, (exchange) => call(exchange, 4));
    const key = "tokens:key:key-1:60000";
    expect((await reading(state, key))?.windowUsed).toBeGreaterThan(10);
    end();
    expect(await reading(state, key)).toMatchObject({ windowUsed: 6 });
  });

  it("report the client's own limits, and not those that it shares with other keys", async () => {
    const { enter } = stage({ config: { windows: [{ per: "model", requests: 2, window: "1m" }] } });
    const { exchange } = await enter(keyWith({ rpm: 5 }));
    expect(Object.fromEntries(exchange.headers)).toMatchObject({
      "x-ratelimit-limit-requests": "5",
      "x-ratelimit-remaining-requests": "4",
    });
  });

  it("free a slot with the end of the exchange", async () => {
    const { enter } = stage();
    const identity = keyWith({ maxParallelRequests: 1 });
    const { end } = await enter(identity);
    await expect(enter(identity)).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 1_000,
    });
    end();
    await expect(enter(identity)).resolves.toBeDefined();
  });

  it("of a target refuse that target alone", async () => {
    const limited = { ...target, rpm: 1 };
    const models = { find: () => undefined, list: () => [{ ...MODEL, targets: [limited] }] };
    const { enter } = stage({ host: { models } });
    const { exchange } = await enter(
      fakeIdentity(),
      { model: { ...MODEL, targets: [limited] } },
      (inner) => call(inner, 1, limited),
    );
    await expect(async () =>
      admit(exchange, limited, exchange.request!.document),
    ).rejects.toMatchObject({
      code: "rate_limited",
      retryable: true,
    });
  });
});

it("gives one key half of the room, and the master key a place in any case", async () => {
  const { enter } = stage();
  for (let count = 0; count < 5; count += 1) await enter(fakeIdentity());
  await expect(enter(fakeIdentity())).rejects.toMatchObject({ code: "overloaded" });
  for (let count = 0; count < 5; count += 1) await enter(fakeIdentity({ keyId: "other" }));
  await expect(enter(fakeIdentity({ keyId: "third" }))).rejects.toMatchObject({
    code: "overloaded",
  });
  await expect(enter(fakeIdentity({ kind: "master", keyId: "master" }))).resolves.toBeDefined();
});

describe("the most that a request may cost", () => {
  const most = (dollars: string) => ({ client: fakeClient({ "x-sluice-max-cost": dollars }) });

  it("refuses by default", async () => {
    await expect(stage().enter(fakeIdentity(), most("0.000000009"))).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    await expect(stage().enter(fakeIdentity(), most("0.00000001"))).resolves.toBeDefined();
  });

  it("shortens the reply", async () => {
    const { exchange } = await stage({ config: { on_max_cost: "clamp" } }).enter(
      fakeIdentity(),
      most("0.000000004"),
    );
    expect(exchange.request?.document.value["max_tokens"]).toBe(4);
  });

  it("takes a cheaper model, when the key may use it", async () => {
    const free: Model = { ...MODEL, id: "cheap", entry: "cheap" };
    const config = { on_max_cost: "downgrade", downgrade_to: "cheap" } as const;
    const models = { find: () => free, list: () => [] };
    const priced = ({ target: { model } }: { target: Target }): Cost => ({
      status: "priced",
      nanoUsd: model === "cheap" ? 1 : 100,
    });
    const cheap = { ...free, targets: [fakeTarget("openai", "cheap")] };
    const { enter } = stage({ config, host: { models: { ...models, find: () => cheap } } });
    const { exchange } = await enter(fakeIdentity(), {
      ...most("0.000000004"),
      billing: { price: priced },
    });
    expect(exchange.model?.id).toBe("cheap");
  });
});

describe("the options", () => {
  it("name providers and models, which gateway.yaml must have", () => {
    const only = ["openai"];
    const config: LimitsConfig = {
      ...CONFIG,
      windows: [{ per: "model", requests: 1, window: "1m", only: ["m"] }],
      parallel: [{ per: "key", requests: 1, only: ["a-key"] }],
      budgets: [
        { per: "provider", max: 1, only },
        { per: "tag", max: 1, only: ["a-tag"] },
      ],
      downgrade_to: "cheap",
    };
    expect(limits.inspect?.(config).names).toEqual([
      { kind: "model", name: "m" },
      { kind: "provider", name: "openai" },
      { kind: "asked_model", name: "cheap" },
    ]);
  });

  it("warn before they refuse", () => {
    const budgets = [
      { per: "key", max: 5, soft: 5 },
      { per: "key", max: 5, soft: 10 },
    ] as const;
    expect(limits.check?.({ ...CONFIG, budgets }).map(({ path }) => path)).toEqual([
      ["budgets", 1, "soft"],
    ]);
  });
});

it.each([
  [120, "120ms"],
  [1_000, "1s"],
  [59_001, "1m0s"],
  [3_663_000, "1h1m3s"],
])("writes %i ms as %s", (ms, text) => {
  expect(resetText(ms)).toBe(text);
});
