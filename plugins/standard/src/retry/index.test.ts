import { describe, expect, it } from "vitest";
import { GatewayError, type GatewayFields, type Host } from "@sluice/contract";
import { branchOf } from "@sluice/kit";
import { beginAttempt } from "@sluice/runtime";
import {
  fakeClock,
  fakeExchange,
  fakeHost,
  fakeRequest,
  fakeTarget,
  type FakeExchangeParts,
} from "@sluice/testing";
import { createRetry, type RetryConfig } from "./index.ts";
import { RetryBudget, RetryBudgets } from "./budget.ts";
import { RETRIED_FAILURES } from "./failures.ts";
import { backoffMs, waitFor } from "./wait.ts";
import { limitAttempts } from "./attempt-budget.ts";

const CONFIG: RetryConfig = {
  attempts: 3,
  base: "250ms",
  max: "8s",
  retry_after_max: "30s",
  budget: "20%",
  retry_images: false,
  on: RETRIED_FAILURES,
};
const PASSING = new GatewayError("upstream_failed", "no");
const TARGET = fakeTarget("mine", "upstream");

interface Run {
  readonly config?: Partial<RetryConfig>;
  readonly exchange?: FakeExchangeParts;
  readonly fields?: GatewayFields;
  /** What each call throws; `undefined` answers. The last one counts for all further calls. */
  readonly calls: readonly (Error | undefined)[];
  readonly host?: Host;
  readonly random?: number;
  /** Milliseconds of each call. */
  readonly takesMs?: number;
}

/** Runs the step with a clock that waiting moves. */
async function run({
  config,
  exchange: parts,
  fields = {},
  calls,
  host,
  random = 1,
  takesMs = 0,
}: Run) {
  const clock = fakeClock();
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
    clock.advance(ms);
  };
  const exchange = fakeExchange({
    target: TARGET,
    request: fakeRequest({ model: "m" }, { fields }),
    ...parts,
  });
  const step = createRetry({ ...CONFIG, ...config }, host ?? fakeHost({ clock }), {
    random: () => random,
    wait,
  });
  let count = 0;
  const outcome = await step
    .run({ exchange }, async () => {
      beginAttempt(exchange, TARGET, "fake");
      clock.advance(takesMs);
      const error = calls[Math.min(count++, calls.length - 1)];
      if (error !== undefined) throw error;
    })
    .then(
      () => "answered",
      (error: unknown) => error,
    );
  return { outcome, waits, count, exchange };
}

describe("the retry step", () => {
  it("calls again until an answer comes, with waits that double", async () => {
    expect(await run({ calls: [PASSING, PASSING, undefined] })).toMatchObject({
      outcome: "answered",
      waits: [250, 500],
      count: 3,
    });
  });

  it("does not call again when another branch has taken the last try during the wait", async () => {
    const parent = fakeExchange({ target: TARGET, request: fakeRequest({ model: "m" }) });
    limitAttempts(parent, 2);
    const exchange = branchOf(parent);
    const wait = async (): Promise<void> => void beginAttempt(parent, TARGET, "other");
    let calls = 0;
    const outcome = createRetry(CONFIG, fakeHost(), { random: () => 1, wait }).run(
      { exchange },
      async () => {
        calls += 1;
        beginAttempt(exchange, TARGET, "fake");
        throw PASSING;
      },
    );
    await expect(outcome).rejects.toBe(PASSING);
    expect([calls, parent.attempts.length]).toEqual([1, 2]);
  });

  it("gives up after its attempts, with the last error", async () => {
    expect(await run({ calls: [PASSING] })).toMatchObject({ outcome: PASSING, count: 3 });
  });

  it.each([
    ["cannot pass", new GatewayError("upstream_auth_failed", "no")],
    ["the client caused", new GatewayError("upstream_rejected", "no")],
    ["is no gateway error", new TypeError("no")],
    ["is the deadline", new GatewayError("deadline_exceeded", "no")],
  ])("does not retry what %s", async (_name, error) => {
    expect(await run({ calls: [error] })).toMatchObject({ outcome: error, waits: [], count: 1 });
  });

  it.each([
    [0, 1],
    [1, 2],
    [9, 3],
  ])("makes num_retries %i %i calls of 3 at most", async (retries, count) => {
    expect(await run({ calls: [PASSING], fields: { num_retries: retries } })).toMatchObject({
      count,
    });
  });

  it("obeys Retry-After, and does not wait for a long one", async () => {
    const after = (retryAfterMs: number) =>
      new GatewayError("upstream_rate_limited", "no", { retryAfterMs });
    expect(await run({ calls: [after(1_000), undefined], random: 0.5 })).toMatchObject({
      outcome: "answered",
      waits: [1_125],
    });
    expect(await run({ calls: [after(30_001)] })).toMatchObject({ waits: [], count: 1 });
  });

  it("never waits past the deadline", async () => {
    expect(await run({ calls: [PASSING], exchange: { deadlineMs: 251 } })).toMatchObject({
      waits: [250],
      count: 2,
    });
    expect(await run({ calls: [PASSING], exchange: { deadlineMs: 250 } })).toMatchObject({
      waits: [],
      count: 1,
    });
  });

  it("does not repeat a silence that would end after the deadline", async () => {
    const silence = new GatewayError("upstream_timeout", "no");
    const silent = { calls: [silence], takesMs: 1_000, random: 0 };
    expect(await run({ ...silent, exchange: { deadlineMs: 2_000 } })).toMatchObject({
      outcome: silence,
      count: 1,
    });
    expect(await run({ ...silent, exchange: { deadlineMs: 2_001 } })).toMatchObject({
      outcome: silence,
      count: 2,
    });
  });

  it("retries images only where the operator says so", async () => {
    expect(await run({ calls: [PASSING], exchange: { operation: "images" } })).toMatchObject({
      count: 1,
    });
    const config = { retry_images: true };
    expect(
      await run({ calls: [PASSING], exchange: { operation: "images" }, config }),
    ).toMatchObject({ count: 3 });
  });

  it("respects the bound of all tries", async () => {
    const slots: unknown[] = [];
    limitAttempts(fakeExchange({ slots }), 2);
    expect(await run({ calls: [PASSING], exchange: { slots } })).toMatchObject({ count: 2 });
  });

  it("dispatches nothing more for an aborted exchange", async () => {
    const gone = new GatewayError("client_closed", "gone");
    expect(
      await run({ calls: [PASSING], exchange: { signal: AbortSignal.abort(gone) } }),
    ).toMatchObject({ count: 1 });
  });

  it("keeps the target that was called", async () => {
    const { exchange } = await run({
      calls: [PASSING, undefined],
      exchange: {
        target: undefined,
        model: {
          id: "m",
          entry: "m",
          mode: "chat",
          targets: [TARGET],
          accessGroups: [],
          ownedBy: "mine",
        },
      },
    });
    expect(exchange.target).toBe(TARGET);
  });

  it("spends the budget of a deployment, over exchanges and generations", async () => {
    const budgets = new RetryBudgets();
    const clock = fakeClock();
    const host = fakeHost({ clock, shared: () => budgets as never });
    let calls = 0;
    for (let index = 0; index < 100; index += 1)
      calls += (await run({ calls: [PASSING], host })).count;
    expect(calls).toBe(120);
  });
});

describe("a retry budget", () => {
  it("allows 3 in any case, and forgets after ten seconds", () => {
    const budget = new RetryBudget();
    const holder = { key: "key", team: undefined };
    budget.request("key", 0);
    expect([1, 2, 3, 4].map(() => budget.takeRetry(holder, 0.2, 5))).toEqual([
      "taken",
      "taken",
      "taken",
      "spent",
    ]);
    expect(budget.takeRetry(holder, 0.2, 9_999)).toBe("spent");
    expect(budget.takeRetry(holder, 0.2, 10_000)).toBe("taken");
  });

  it("is one for each deployment, and is forgotten when a thousand others came later", () => {
    const budgets = new RetryBudgets();
    const first = budgets.of("a");
    expect(budgets.of("a")).toBe(first);
    for (let index = 0; index < 1_000; index += 1) budgets.of(`b${index}`);
    expect(budgets.of("a")).not.toBe(first);
  });
});

describe("the wait", () => {
  it("is random up to a bound that doubles, and that has a bound", () => {
    const options = { baseMs: 250, maxMs: 8_000, retryAfterMs: undefined };
    expect(
      [1, 2, 3, 6, 7].map((retry) => backoffMs(retry, { ...options, random: () => 1 })),
    ).toEqual([250, 500, 1_000, 8_000, 8_000]);
    expect(backoffMs(3, { ...options, random: () => 0 })).toBe(0);
  });

  it("ends at once with the reason of an abort", async () => {
    const reason = new GatewayError("client_closed", "gone");
    const leaving = new AbortController();
    const waiting = waitFor(60_000, leaving.signal);
    leaving.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(waitFor(1, leaving.signal)).rejects.toBe(reason);
  });
});
