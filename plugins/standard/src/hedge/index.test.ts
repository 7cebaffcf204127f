import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type ErrorCode,
  type Exchange,
  GatewayError,
  type Host,
  type Model,
  type SharedValue,
  type StepContext,
  type StreamReply,
} from "@sluice/contract";
import { jsonReply } from "@sluice/kit";
import { beginAttempt } from "@sluice/runtime";
import {
  fakeClock,
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeRequest,
  fakeTarget,
  type FakeExchangeParts,
} from "@sluice/testing";
import { hedge, type HedgeConfig } from "./index.ts";
import { limitAttempts } from "../retry/attempt-budget.ts";

const CONFIG: HedgeConfig = { after: "800ms", min_samples: 20, max_rate: "100%", max: 1 };
const MODEL: Model = {
  id: "m",
  entry: "m",
  mode: "chat",
  targets: [fakeTarget("a", "m"), fakeTarget("b", "m")],
  accessGroups: [],
  ownedBy: "a",
};

const MODELS: Host["models"] = { find: () => MODEL, list: () => [MODEL] };

/** What an attempt does: answers, or fails with a code, after so many milliseconds. */
interface Act {
  readonly afterMs: number;
  readonly fails?: ErrorCode;
  readonly retryAfterMs?: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp(parts: Partial<HedgeConfig> = {}) {
  const held = new Map<string, SharedValue>();
  const clock = { ...fakeClock(), monotonic: () => performance.now() };
  const host = fakeHost({
    clock,
    models: MODELS,
    shared: <T extends SharedValue>(key: string, make: () => T): T => {
      const value = held.get(key) ?? make();
      held.set(key, value);
      return value as T;
    },
  });
  const make = () => hedge.create({ ...CONFIG, ...parts }, host);
  let step = make();

  /** Runs one exchange. The attempts do what `acts` say, in the order in which they begin. */
  const run = (acts: readonly Act[], exchangeParts: FakeExchangeParts = {}) => {
    const queue = [...acts];
    const request = fakeRequest({ model: "m", messages: [] });
    const exchange = fakeExchange({
      model: MODEL,
      identity: fakeIdentity(),
      request,
      ...exchangeParts,
    });
    const signals: AbortSignal[] = [];
    const next = async ({ exchange: branch }: StepContext = { exchange }): Promise<void> => {
      signals.push(branch.signal);
      const attempt = beginAttempt(branch, branch.target ?? fakeTarget("a", "m"), "openai");
      const { afterMs, fails, retryAfterMs } = queue.shift() ?? { afterMs: 0 };
      const outcome = await ended(afterMs, branch.signal);
      const error = outcome ?? (fails === undefined ? undefined : failure(fails, retryAfterMs));
      if (error === undefined) attempt.succeed(1);
      else attempt.fail(error, 1);
      if (error !== undefined) throw error;
      branch.headers.set("x-by", String(attempt.number));
      branch.reply = jsonReply({ by: attempt.number });
    };
    const startedMs = performance.now();
    const end = step.run({ exchange }, next).then(
      () => ({ error: undefined, tookMs: performance.now() - startedMs }),
      (error: unknown) => ({ error: error as GatewayError, tookMs: performance.now() - startedMs }),
    );
    return { exchange, end, signals };
  };
  /** Runs one exchange to its end. */
  const settle = async (acts: readonly Act[], exchangeParts: FakeExchangeParts = {}) => {
    const running = run(acts, exchangeParts);
    await vi.advanceTimersByTimeAsync(60_000);
    return { ...running, ...(await running.end) };
  };
  return { run, settle, reload: () => void (step = make()) };
}

function failure(code: ErrorCode, retryAfterMs?: number): GatewayError {
  return new GatewayError(code, code, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** Waits like an upstream call: the signal ends it. */
function ended(afterMs: number, signal: AbortSignal): Promise<GatewayError | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), afterMs);
    const leave = (): void => {
      clearTimeout(timer);
      resolve(signal.reason as GatewayError);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave);
  });
}

const rows = ({ attempts }: Exchange) =>
  attempts.map(({ target, outcome, error }) => [target.id, outcome, error?.code]);

describe("the hedge step", () => {
  it("makes one attempt while it answers in time", async () => {
    const { exchange, tookMs } = await setUp().settle([{ afterMs: 700 }]);
    expect([rows(exchange), tookMs]).toEqual([[["a/m", "success", undefined]], 700]);
    expect([...exchange.headers]).toEqual([["x-by", "1"]]);
  });

  it("lets a second one join at another target; the one that answers first wins, and the other is cut off", async () => {
    const { exchange, tookMs, signals } = await setUp().settle([
      { afterMs: 5_000 },
      { afterMs: 100 },
    ]);
    expect(tookMs).toBe(900);
    expect(rows(exchange)).toEqual([
      ["a/m", "failure", "hedge_lost"],
      ["b/m", "success", undefined],
    ]);
    expect(exchange.reply).toMatchObject({ document: { value: { by: 2 } } });
    expect([...exchange.headers]).toEqual([
      ["x-by", "2"],
      ["x-sluice-hedges", "1"],
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("keeps the first where it is faster after all", async () => {
    const { exchange, tookMs } = await setUp().settle([{ afterMs: 1_000 }, { afterMs: 5_000 }]);
    expect(tookMs).toBe(1_000);
    expect(rows(exchange)).toEqual([
      ["a/m", "success", undefined],
      ["b/m", "failure", "hedge_lost"],
    ]);
  });

  it("hands a failure on at once while nothing runs beside it", async () => {
    const { exchange, error, tookMs } = await setUp().settle([
      { afterMs: 100, fails: "upstream_failed" },
    ]);
    expect([error?.code, tookMs, exchange.attempts.length]).toEqual(["upstream_failed", 100, 1]);
  });

  it("waits for the other when one fails", async () => {
    const acts = [{ afterMs: 2_000 }, { afterMs: 100, fails: "upstream_overloaded" }] as const;
    const { exchange, error, tookMs } = await setUp().settle(acts);
    expect([error, tookMs]).toEqual([undefined, 2_000]);
    expect(rows(exchange)).toEqual([
      ["a/m", "success", undefined],
      ["b/m", "failure", "upstream_overloaded"],
    ]);
  });

  it.each<[string, Act, Act, Partial<GatewayError>]>([
    [
      "the first, with the shortest wait",
      { afterMs: 900, fails: "upstream_rate_limited", retryAfterMs: 9_000 },
      { afterMs: 500, fails: "upstream_rate_limited", retryAfterMs: 4_000 },
      { code: "upstream_rate_limited", retryAfterMs: 4_000 },
    ],
    [
      "what an upstream said of the request",
      { afterMs: 900, fails: "upstream_failed" },
      { afterMs: 500, fails: "context_length_exceeded" },
      { code: "context_length_exceeded" },
    ],
    [
      "the first, where the other ended with its client",
      { afterMs: 900, fails: "upstream_failed" },
      { afterMs: 500, fails: "client_stalled" },
      { code: "upstream_failed" },
    ],
  ])("tells, when both fail, %s", async (_what, one, two, expected) => {
    const { error } = await setUp().settle([one, two]);
    expect(error).toMatchObject(expected);
  });

  it("stops both when the client leaves, and begins none for it", async () => {
    const leaving = new AbortController();
    const { run } = setUp();
    const both = run([{ afterMs: 5_000 }, { afterMs: 5_000 }], { signal: leaving.signal });
    await vi.advanceTimersByTimeAsync(500);
    const early = run([{ afterMs: 5_000 }], { signal: leaving.signal });
    await vi.advanceTimersByTimeAsync(350);
    leaving.abort(failure("client_closed"));
    await vi.advanceTimersByTimeAsync(0);
    expect((await both.end).error?.code).toBe("client_closed");
    expect(both.signals.every(({ aborted }) => aborted)).toBe(true);
    expect((await early.end).error?.code).toBe("client_closed");
    const gone = run([{ afterMs: 5_000 }], { signal: leaving.signal });
    await vi.advanceTimersByTimeAsync(5_000);
    expect([(await gone.end).error?.code, gone.exchange.attempts.length]).toEqual([
      "client_closed",
      1,
    ]);
  });

  it("respects the bound of all tries, and the share of requests", async () => {
    const { run } = setUp();
    const bounded = run([{ afterMs: 2_000 }]);
    limitAttempts(bounded.exchange, 1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([(await bounded.end).error, bounded.exchange.attempts.length]).toEqual([undefined, 1]);
    const { settle, reload } = setUp({ max_rate: "10%" });
    let hedges = 0;
    for (let request = 0; request < 40; request += 1) {
      const { exchange } = await settle([{ afterMs: 2_000 }, { afterMs: 10 }]);
      hedges += exchange.attempts.length - 1;
      // An edit of the configuration does not fill the budget again.
      if (request === 20) reload();
    }
    expect(hedges).toBe(5);
  });

  it("goes by a percentile of the model's own times, once there are enough", async () => {
    const { settle } = setUp({ after: "p90", min_samples: 10 });
    const early = await settle([{ afterMs: 3_000 }]);
    expect(early.exchange.attempts).toHaveLength(1);
    for (let request = 0; request < 19; request += 1) await settle([{ afterMs: 100 }]);
    const late = await settle([{ afterMs: 3_000 }, { afterMs: 50 }]);
    expect([late.exchange.attempts.length, late.tookMs]).toEqual([2, 150]);
    // Whole replies say nothing of streams.
    const request = fakeRequest({ model: "m", messages: [] }, { stream: true });
    expect((await settle([{ afterMs: 3_000 }], { request })).exchange.attempts).toHaveLength(1);
  });

  it("takes `initial_after` until then, where it is given", async () => {
    const { settle } = setUp({ after: "p90", initial_after: "1s" });
    expect((await settle([{ afterMs: 3_000 }, { afterMs: 50 }])).tookMs).toBe(1_050);
    expect(hedge.check?.({ ...CONFIG, initial_after: "1s" })).toMatchObject([
      { path: ["initial_after"] },
    ]);
  });

  it("does not double a request that has not reached an upstream", async () => {
    const exchange = fakeExchange({ model: MODEL, request: fakeRequest({}) });
    let calls = 0;
    const queued = hedge
      .create(CONFIG, fakeHost({ models: MODELS }))
      .run({ exchange }, async () => {
        calls += 1;
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      });
    await vi.advanceTimersByTimeAsync(3_000);
    await queued;
    expect(calls).toBe(1);
  });

  it("lets go of a stream that lost by a hair", async () => {
    const exchange = fakeExchange({ model: MODEL, request: fakeRequest({}, { stream: true }) });
    const left: number[] = [];
    const run = hedge
      .create(CONFIG, fakeHost({ models: MODELS }))
      .run({ exchange }, async ({ exchange: branch } = { exchange }) => {
        const attempt = beginAttempt(branch, fakeTarget(), "openai");
        await new Promise((resolve) => setTimeout(resolve, attempt.number === 1 ? 1_000 : 200));
        attempt.firstContent(1);
        const frames: StreamReply["frames"] = {
          [Symbol.asyncIterator]: () => ({
            next: async () => ({ done: true, value: undefined }),
            return: async () => {
              left.push(attempt.number);
              return { done: true, value: undefined };
            },
          }),
        };
        branch.reply = { kind: "stream", status: 200, frames };
      });
    await vi.advanceTimersByTimeAsync(1_000);
    await run;
    expect([left, rows(exchange).map(([, ...end]) => end)]).toEqual([
      [2],
      [
        [undefined, undefined],
        ["partial", "hedge_lost"],
      ],
    ]);
  });
});
