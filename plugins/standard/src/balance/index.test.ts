import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DeploymentRegistry,
  DEPLOYMENTS_KEY,
  type ErrorCode,
  type Exchange,
  GatewayError,
  type Model,
  type SharedValue,
  type Target,
} from "@sluice/contract";
import { documentOf } from "@sluice/kit";
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
import { balance } from "./index.ts";
import type { BalanceConfig } from "./config.ts";

const BREAKER = {
  consecutive: 5,
  ratio: "50%",
  min_requests: 20,
  ejection: "5s",
  max_ejection: "60s",
  ejection_with_fallback: "3s",
  max_ejected: "50%",
  eject_single: true,
};
const CONFIG: BalanceConfig = {
  strategy: "weighted",
  sticky_by: "key",
  targets: 2,
  breaker: BREAKER,
};
const [A, B, C] = [fakeTarget("a", "m"), fakeTarget("b", "m"), fakeTarget("c", "m")];

type Outcome = ErrorCode | "whole" | "stream" | "cut stream" | "left stream" | "no attempt";

function setUp(
  targets: readonly Target[],
  parts: Partial<BalanceConfig> = {},
  modelParts: Partial<Model> = {},
) {
  const clock = fakeClock();
  const held = new Map<string, SharedValue>();
  const model: Model = {
    id: "m",
    entry: "m",
    mode: "chat",
    targets,
    accessGroups: [],
    ownedBy: "a",
    ...modelParts,
  };
  const host = fakeHost({
    clock,
    models: { find: () => model, list: () => [model] },
    shared: <T extends SharedValue>(key: string, make: () => T): T => {
      const value = held.get(key) ?? make();
      held.set(key, value);
      return value as T;
    },
  });
  const config = { ...CONFIG, ...parts };
  const step = balance.create(config, host);
  const views = () => (held.get(DEPLOYMENTS_KEY) as DeploymentRegistry).list();
  const asked: string[] = [];
  let number = 0;

  /**
   * Runs one exchange; each attempt ends as `outcomes` says, then well. `settle` is the end of the
   * exchange.
   */
  const run = async (outcomes: readonly Outcome[] = [], exchangeParts: FakeExchangeParts = {}) => {
    const queue = [...outcomes];
    const settled: (() => void)[] = [];
    const exchange = fakeExchange({
      model,
      identity: fakeIdentity(),
      // Each asks something else: failures of one body say nothing of the target.
      request: fakeRequest({
        model: "m",
        messages: [{ role: "user", content: `hi ${(number += 1)}` }],
      }),
      onSettle: (tell) => void settled.push(tell),
      ...exchangeParts,
    });
    const next = async (): Promise<void> => {
      // A turn of the event loop, so that exchanges run beside each other.
      await new Promise(setImmediate);
      asked.push(exchange.target?.id ?? "");
      attempt(exchange, queue.shift() ?? "whole");
    };
    const error = await step.run({ exchange }, next).then(
      () => undefined,
      (failure: unknown) => failure as GatewayError,
    );
    return { exchange, error, settle: () => settled.splice(0).forEach((tell) => tell()) };
  };
  return { clock, host, views, asked, run, config };
}

function attempt(exchange: Exchange, outcome: Outcome): void {
  if (outcome === "no attempt") throw new GatewayError("unsupported_parameter", "no");
  const record = beginAttempt(exchange, exchange.target ?? A, "openai");
  if (outcome === "whole") {
    record.waited(10);
    record.succeed(1);
    exchange.reply = { kind: "whole", status: 200, document: documentOf("{}") };
  } else if (outcome === "stream" || outcome === "cut stream" || outcome === "left stream") {
    record.waited(10);
    if (outcome === "stream") record.succeed(1);
    if (outcome === "cut stream") record.cut(new GatewayError("stream_truncated", "cut"), 1);
    if (outcome === "left stream") record.cut(new GatewayError("client_closed", "left"), 1);
    exchange.reply = { kind: "stream", status: 200, frames: (async function* () {})() };
  } else {
    const error = new GatewayError(outcome, outcome);
    record.fail(error, 1);
    throw error;
  }
}

describe("the balance step", () => {
  it("goes to another target after a failure worth another try", async () => {
    for (const code of [
      "upstream_failed",
      "upstream_rate_limited",
      "upstream_unreachable",
      "upstream_auth_failed",
    ] as const) {
      const { run, asked } = setUp([A, B, C]);
      expect((await run([code])).error).toBeUndefined();
      expect(asked).toEqual(["a/m", "b/m"]);
    }
  });

  it("does not after one that the request is to blame for, an abort, or a deadline that passed", async () => {
    for (const code of ["upstream_rejected", "context_length_exceeded", "client_closed"] as const) {
      const { run, asked } = setUp([A, B]);
      expect((await run([code])).error?.code).toBe(code);
      expect(asked).toEqual(["a/m"]);
    }
    const { run, asked } = setUp([A, B]);
    await run(["upstream_failed"], { signal: AbortSignal.abort() });
    await run(["upstream_failed"], { deadlineMs: 0 });
    expect(asked).toEqual(["a/m", "b/m"]);
  });

  it("chooses none of those that a stand-in's model was left without", async () => {
    const { run, asked } = setUp([A, B, C], { targets: 3 });
    const able: Model = {
      id: "m",
      entry: "m",
      mode: "chat",
      targets: [B, C],
      accessGroups: [],
      ownedBy: "a",
    };
    for (let request = 0; request < 4; request += 1) await run([], { model: able });
    expect(new Set(asked)).toEqual(new Set(["b/m", "c/m"]));
    asked.length = 0;
    expect((await run(["upstream_failed", "upstream_failed"], { model: able })).error?.code).toBe(
      "upstream_failed",
    );
    expect(asked.toSorted()).toEqual(["b/m", "c/m"]);
  });

  it("gives a branch a target that no other branch has called, while there is one", async () => {
    const beside = async (targets: readonly Target[]) => {
      const { run, asked } = setUp(targets);
      const { exchange: parent } = await run();
      const branch = { parent, attempts: [] };
      for (let request = 0; request < 3; request += 1) await run([], branch);
      return asked;
    };
    expect(await beside([A, B])).toEqual(["a/m", "b/m", "b/m", "b/m"]);
    expect(await beside([A])).toEqual(["a/m", "a/m", "a/m", "a/m"]);
  });

  it("tries as many targets as it may, and tells the last failure", async () => {
    const two = setUp([A, B, C]);
    expect((await two.run(["upstream_failed", "upstream_timeout"])).error?.code).toBe(
      "upstream_timeout",
    );
    expect(two.asked).toEqual(["a/m", "b/m"]);
    const three = setUp([A, B, C, fakeTarget("d", "m")], { targets: 3 });
    await three.run(["upstream_failed", "upstream_failed", "upstream_failed"]);
    expect(three.asked).toEqual(["a/m", "b/m", "c/m"]);
  });

  it("takes the model's own strategy before the step's", async () => {
    const targets = [A, { ...B, priority: -1 }];
    const { run, asked } = setUp(targets, {}, { balance: "priority" });
    for (let n = 0; n < 4; n += 1) await run();
    expect(asked).toEqual(["b/m", "b/m", "b/m", "b/m"]);
  });

  it("passes over weightless targets while another can serve", async () => {
    const { run, asked } = setUp([{ ...A, weight: 0 }, B]);
    await run();
    await run(["upstream_failed"]);
    expect(asked).toEqual(["b/m", "b/m", "a/m"]);
  });

  it("chooses the cheaper target by the prices", async () => {
    const price = (input: number) => ({ input, output: input, source: "test" });
    const { run, asked } = setUp(
      [
        { ...A, price: price(3) },
        { ...B, price: price(2) },
      ],
      { strategy: "lowest_cost" },
    );
    await run();
    expect(asked).toEqual(["b/m"]);
  });

  it("refuses with the time of the next try when its only target is ejected, and logs ejection and recovery once", async () => {
    const { run, views, clock, host, asked } = setUp([A]);
    for (let n = 0; n < 5; n += 1) await run(["upstream_failed"]);
    clock.advance(2_000);
    const { error } = await run();
    expect(error).toMatchObject({ code: "overloaded", retryAfterMs: 3_000 });
    expect(asked).toHaveLength(5);
    expect(views()).toMatchObject([
      { id: "a/m", breaker: "open", failures: 5, inFlight: 0, ejections: 1 },
    ]);
    clock.advance(3_000);
    expect((await run()).error).toBeUndefined();
    expect(views()).toMatchObject([{ breaker: "closed", successes: 1 }]);
    expect(host.lines.map(({ message }) => message)).toEqual([
      "deployment ejected",
      "deployment recovered",
    ]);
  });

  it("leaves a single target alone where the configuration says so", async () => {
    const { run } = setUp([A], { breaker: { ...BREAKER, eject_single: false } });
    for (let n = 0; n < 20; n += 1)
      expect((await run(["upstream_failed"])).error?.code).toBe("upstream_failed");
  });

  it("never ejects more than half of the targets", async () => {
    const { run, views, asked } = setUp([A, B]);
    for (let n = 0; n < 20; n += 1) await run(["upstream_failed", "upstream_failed"]);
    expect(views().map(({ breaker }) => breaker)).toEqual(["open", "open"]);
    asked.splice(0);
    expect((await run()).error).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it("lets one probe through at the same time, and takes the first content of a stream for its word", async () => {
    const { run, clock, views } = setUp([A]);
    for (let n = 0; n < 5; n += 1) await run(["upstream_failed"]);
    clock.advance(5_000);
    const [probe, other] = await Promise.all([run(["stream"]), run()]);
    expect([probe.error, other.error?.code]).toEqual([undefined, "overloaded"]);
    expect(views()).toMatchObject([{ breaker: "closed", inFlight: 1 }]);
    probe.settle();
    expect(views()).toMatchObject([{ inFlight: 0, successes: 1 }]);
  });

  it("keeps its state in the next generation", async () => {
    const { run, host, config } = setUp([A]);
    for (let n = 0; n < 5; n += 1) await run(["upstream_failed"]);
    balance.create(config, host);
    expect((await run()).error?.code).toBe("overloaded");
  });

  it("asks for sticky_header exactly where it counts", () => {
    expect(balance.check?.({ ...CONFIG, sticky_by: "header" })).toHaveLength(1);
    expect(balance.check?.({ ...CONFIG, sticky_header: "x-session" })).toHaveLength(1);
    expect(balance.check?.({ ...CONFIG, sticky_by: "header", sticky_header: "x-session" })).toEqual(
      [],
    );
  });

  it.each(["user", "header", "prompt_prefix"] as const)(
    "keeps together what has the same %s",
    async (by) => {
      const targets = [A, B, C, fakeTarget("d", "m")];
      const { run, asked } = setUp(targets, {
        strategy: "sticky",
        sticky_by: by,
        sticky_header: "X-Session",
      });
      const parts = (name: string, turn: number): FakeExchangeParts => ({
        client: {
          ...fakeExchange().client,
          header: (header) => (header === "x-session" ? name : undefined),
        },
        request: fakeRequest(
          {
            model: "m",
            messages: [
              { role: "user", content: name },
              { role: "assistant", content: `turn ${turn}` },
            ],
          },
          { endUser: name },
        ),
      });
      const seen = new Set<string | undefined>();
      for (const name of ["one", "two", "three", "four", "five", "six"]) {
        for (let turn = 0; turn < 3; turn += 1) await run([], parts(name, turn));
        expect(new Set(asked).size).toBe(1);
        seen.add(asked[0]);
        asked.splice(0);
      }
      expect(seen.size).toBeGreaterThan(1);
    },
  );

  it("returns every slot and every probe, whatever happens", async () => {
    const outcome = fc.constantFrom<Outcome>(
      "whole",
      "stream",
      "cut stream",
      "left stream",
      "no attempt",
      "client_closed",
      "upstream_failed",
      "upstream_rejected",
      "upstream_auth_failed",
      "upstream_rate_limited",
    );
    const request = fc.record({
      outcomes: fc.array(outcome, { maxLength: 3 }),
      isAborted: fc.boolean(),
      advanceMs: fc.constantFrom(0, 0, 100, 5_000, 70_000, 400_000),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(request, { maxLength: 6 }), { maxLength: 12 }),
        async (rounds) => {
          const limited = { maxParallel: 2, queue: 1, queueTimeoutMs: 5 };
          const { run, views, clock } = setUp(
            [
              { ...A, ...limited },
              { ...B, maxParallel: 1 },
            ],
            { strategy: "lowest_latency" },
          );
          for (const round of rounds) {
            const ends = await Promise.all(
              round.map(({ outcomes, isAborted, advanceMs }) => {
                clock.advance(advanceMs);
                const signal = isAborted
                  ? AbortSignal.abort(new GatewayError("client_closed", "left"))
                  : fakeExchange().signal;
                const ended = run(outcomes, { signal, deadlineMs: Infinity });
                return ended.then((end) => (end.settle(), end));
              }),
            );
            expect(
              ends.filter(({ error }) => error !== undefined && !(error instanceof GatewayError)),
            ).toEqual([]);
            for (const { inFlight, queued } of views()) expect([inFlight, queued]).toEqual([0, 0]);
          }
          // However it stands with the breakers, a quarter of an hour later one good request after
          // the other gets through.
          for (let n = 0; n < 4; n += 1) {
            clock.advance(900_000);
            expect((await run([], { deadlineMs: Infinity })).error).toBeUndefined();
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
