import { describe, expect, it } from "vitest";
import { GatewayError, type StepContext, type StepFunction } from "@sluice/spec";
import { fakeClient, fakeClock } from "@sluice/kit/testing";
import { compose, type Link } from "./compose.ts";
import { LiveExchange } from "./exchange.ts";

/** Runs steps on a live exchange, whose clock the steps move, and whose body takes 100 ms. */
async function trace(steps: Readonly<Record<string, StepFunction>>) {
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
  const links = Object.entries(steps).map(([name, run]): Link => ({ name, reentrant: true, needsBody: false, run }));
  const ctx: StepContext & { advance: (ms: number) => void } = { exchange, advance: clock.advance.bind(clock) };
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

  it("counts the client's time, while the body arrives, for no step", async () => {
    const receives: StepFunction = async ({ exchange }, next) => {
      await exchange.receive();
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
    expect([bad.outcome, bad.trace.failures]).toEqual(["plugin_failed", ["plugin_failed", "plugin_failed"]]);
  });

  it("keeps 32 notes, each with the step that was running", async () => {
    const notes: StepFunction = async ({ exchange }, next) => {
      exchange.note("outer", "goes on");
      await next();
      for (let count = 0; count < 50; count += 1) exchange.note("outer", "is back", String(count));
    };
    const { trace: seen } = await trace({ outer: notes, inner: async ({ exchange }) => exchange.note("inner", "ends") });
    expect(seen.notes).toHaveLength(32);
    expect(seen.notes?.slice(0, 3)).toEqual([
      { step: "outer", place: 0, text: "goes on", about: undefined },
      { step: "inner", place: 1, text: "ends", about: undefined },
      { step: "outer", place: 0, text: "is back", about: "0" },
    ]);
  });
});
