import { receiveBody } from "@sluice/runtime";
import { describe, expect, it } from "vitest";
import { type Exchange, GatewayError, type StepContext, type StepFunction } from "@sluice/contract";
import { fakeClient, type FakeClock, fakeClock } from "@sluice/testing";
import { compose, type Link } from "../compose.ts";
import { LiveExchange } from "../exchange.ts";

/** The clock of each exchange, for entries: they get no context. */
const clocks = new WeakMap<Exchange, FakeClock>();
const moved = (exchange: Exchange, ms: number): void => clocks.get(exchange)?.advance(ms);

/** Runs steps on a live exchange, whose clock the steps move, and whose body takes 100 ms. */
async function trace(
  steps: Readonly<Record<string, StepFunction>>,
  entries: Readonly<Record<string, Link["enter"]>> = {},
) {
  const clock = fakeClock();
  const exchange = new LiveExchange({
    id: "id-1",
    operation: "chat",
    client: fakeClient(),
    generation: 1,
    deadlineMs: 60_000,
    clock,
    read: async () => {
      clock.advance(100);
      return undefined;
    },
  });
  clocks.set(exchange, clock);
  const links = Object.entries(steps).map(([name, run]): Link => ({
    name,
    reentrant: true,
    needsBody: false,
    run,
    enter: entries[name],
  }));
  const ctx: StepContext & { advance: (ms: number) => void } = {
    exchange,
    advance: clock.advance.bind(clock),
  };
  const outcome = await compose(links)(ctx).then(
    () => "answered",
    (error: unknown) => (error as GatewayError).code,
  );
  exchange.end();
  return { outcome, trace: exchange.trace };
}

const takes =
  (before: number, after = 0, calls = 1): StepFunction =>
  async (ctx, next) => {
    const { advance } = ctx as StepContext & { advance: (ms: number) => void };
    advance(before);
    for (let call = 0; call < calls; call += 1) await next();
    advance(after);
  };
const ends =
  (ms: number): StepFunction =>
  async (ctx) =>
    (ctx as StepContext & { advance: (ms: number) => void }).advance(ms);

describe("the trace of an exchange", () => {
  it("gives each step its own time, without that of the steps within", async () => {
    const { trace: seen } = await trace({ a: takes(1, 2), b: takes(4, 8), c: ends(16) });
    expect([seen.ownMs, seen.runs]).toEqual([
      [3, 12, 16],
      [1, 1, 1],
    ]);
  });

  it("adds up the runs of a step that is called again", async () => {
    const { trace: seen } = await trace({ a: takes(1, 0, 3), b: takes(2, 1), c: ends(5) });
    expect([seen.ownMs, seen.runs]).toEqual([
      [1, 9, 15],
      [1, 3, 3],
    ]);
  });

  it("shows steps that go on from their entry like others, with the time of the entry; failures within pass through them", async () => {
    const idle: StepFunction = () => Promise.reject(new Error("must not run"));
    const taking =
      (ms: number): NonNullable<Link["enter"]> =>
      (exchange) => {
        moved(exchange, ms);
        return false;
      };
    const entries = { b: taking(3), c: taking(5) };
    const good = await trace({ a: takes(1, 2), b: idle, c: idle, d: ends(16) }, entries);
    expect([good.trace.ownMs, good.trace.runs]).toEqual([
      [3, 3, 5, 16],
      [1, 1, 1, 1],
    ]);
    const fails: StepFunction = () => Promise.reject(new GatewayError("upstream_failed", "No."));
    const bad = await trace({ a: takes(1), b: idle, c: idle, d: fails }, entries);
    expect(bad.trace.failures).toEqual(Array.from({ length: 4 }, () => "upstream_failed"));
  });

  it("counts the client's time, while the body arrives, for no step", async () => {
    const receives: StepFunction = async ({ exchange }, next) => {
      await receiveBody(exchange);
      await next();
    };
    const { trace: seen } = await trace({ a: receives, b: ends(7) });
    expect([seen.ownMs, seen.bodyMs]).toEqual([[0, 7], 100]);
  });

  it("knows what failed last: a failure that was made good by another run is none", async () => {
    let calls = 0;
    const fails: StepFunction = async () => {
      calls += 1;
      if (calls === 1) throw new GatewayError("upstream_failed", "No.");
      if (calls === 3) throw new Error("boom");
    };
    const retries: StepFunction = async (_ctx, next) => {
      try {
        await next();
      } catch {
        await next();
      }
    };
    const good = await trace({ retries, fails });
    expect([good.outcome, good.trace.failures?.filter(Boolean)]).toEqual(["answered", []]);
    const bad = await trace({ outer: takes(0), fails });
    expect([bad.outcome, bad.trace.failures]).toEqual([
      "plugin_failed",
      ["plugin_failed", "plugin_failed"],
    ]);
  });

  it("keeps 32 notes, each with the step that was running", async () => {
    const notes: StepFunction = async ({ exchange }, next) => {
      exchange.note("outer", "goes on");
      await next();
      for (let count = 0; count < 50; count += 1) exchange.note("outer", "is back", String(count));
    };
    const { trace: seen } = await trace({
      outer: notes,
      inner: async ({ exchange }) => exchange.note("inner", "ends"),
    });
    expect(seen.notes).toHaveLength(32);
    expect(seen.notes?.slice(0, 3)).toEqual([
      { step: "outer", place: 0, text: "goes on", about: undefined },
      { step: "inner", place: 1, text: "ends", about: undefined },
      { step: "outer", place: 0, text: "is back", about: "0" },
    ]);
  });
});
