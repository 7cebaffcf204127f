import { addGate, gatesOf, guardrailOutcomes, recordGuardrail } from "@sluice/runtime";
import { isStorable } from "@sluice/kit/internals";
import { defineSlot, jsonReply, withholdReply } from "@sluice/kit";
import { describe, expect, it } from "vitest";
import {
  type Exchange,
  GatewayError,
  type GuardrailOutcome,
  type StepDefinition,
  type StepFunction,
} from "@sluice/contract";
import {
  fakeClient,
  fakeClock,
  fakeExchange,
  fakeHost,
  fakeIdentity,
  fakeLog,
  fakeRequest,
} from "@sluice/testing";
import type { StepSettings } from "../../config/snapshot.ts";
import { checkPipelines, compilePipelines } from "../compile.ts";
import { pipelineOf, snapshotOf, stepOf, stepsOf } from "../snapshot.fixture.ts";

const clock = fakeClock();

/** What one use of a step does to an exchange, before a terminal step that answers. */
async function runUse(
  use: Partial<StepSettings>,
  run: StepFunction,
  exchange: Exchange = fakeExchange(),
  traits: Partial<StepDefinition<never>> = {},
) {
  const lines: unknown[] = [];
  const notes: string[] = [];
  let answers = 0;
  exchange.note = (step, text, about) =>
    void notes.push([step, text, about].filter((word) => word !== undefined).join(" "));
  const definitions = stepsOf(
    stepOf("it", { ...traits, create: () => ({ run }) }),
    stepOf("end", {
      traits: { terminal: true },
      create: () => ({
        run: async (ctx) => {
          answers += 1;
          ctx.exchange.reply ??= jsonReply({ ok: true });
        },
      }),
    }),
  );
  const snapshot = snapshotOf({ pipelines: [pipelineOf([{ use: "it", ...use }, "end"])] });
  const { routes, shadows } = compilePipelines(snapshot, definitions, () =>
    fakeHost({ clock, log: fakeLog(lines as never) }),
  );
  const match = routes.find("POST", "/v1/chat/completions");
  if (match.kind !== "found") throw new Error("no route");
  const error: unknown = await match.value.run({ exchange }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await new Promise((resolve) => setImmediate(resolve));
  return { error, notes, answers, shadows, reply: exchange.reply, lines };
}

const refuse: StepFunction = async () => {
  throw new GatewayError("rate_limited", "No.");
};
const crash: StepFunction = async () => {
  throw new TypeError("x is undefined");
};

describe("when", () => {
  const identity = fakeIdentity({
    alias: "ci",
    userId: "u-1",
    teamId: "research",
    tags: ["batch"],
  });
  const request = fakeRequest({ model: "gpt-4o-mini", stream: true }, { tags: ["night"] });
  const asking = (): Exchange =>
    fakeExchange({ identity, request, client: fakeClient({ "x-beta": "yes-please" }) });

  it.each<[string, StepSettings["when"] & object]>([
    ["a model", { model: ["gpt-4o-mini"] }],
    ["the beginning of a model", { model: ["o3", "gpt-*"] }],
    ["an alias", { key: ["ci"] }],
    ["a key's id", { key: ["key-1"] }],
    ["a user", { user: ["u-1"] }],
    ["a team", { team: ["re*"] }],
    ["a tag of the key", { tag: ["batch"] }],
    ["a tag of the request", { tag: ["night"] }],
    ["a header", { header: { "x-beta": ["yes*"] } }],
    ["any value of a header", { header: { "x-beta": ["*"] } }],
    ["a stream", { stream: true }],
    ["all of several", { model: ["gpt-*"], team: ["research"], stream: true }],
  ])("holds for %s", async (_what, when) => {
    expect((await runUse({ when }, refuse, asking())).error).toMatchObject({
      code: "rate_limited",
    });
  });

  it.each<[string, StepSettings["when"] & object, string]>([
    ["another model", { model: ["gpt-4o"] }, "model does not match gpt-4o-mini"],
    ["a model whose name goes on", { model: ["gpt"] }, "model does not match gpt-4o-mini"],
    ["another key", { key: ["ci-2"] }, "key does not match ci"],
    ["another user", { user: ["u-2"] }, "user does not match u-1"],
    ["another team", { team: ["sales"] }, "team does not match research"],
    ["another tag", { tag: ["day"] }, "tag does not match others"],
    [
      "a header that is not there",
      { header: { "x-alpha": ["*"] } },
      "header.x-alpha does not match none",
    ],
    [
      "another value of a header",
      { header: { "x-beta": ["no"] } },
      "header.x-beta does not match another value",
    ],
    ["no stream", { stream: false }, "stream does not match true"],
    ["one of several", { model: ["gpt-*"], team: ["sales"] }, "team does not match research"],
  ])("passes the step by for %s, and says why", async (_what, when, why) => {
    const { error, answers, notes } = await runUse({ when }, refuse, asking());
    expect({ error, answers, notes }).toEqual({
      error: undefined,
      answers: 1,
      notes: [`it passed by: when.${why}`],
    });
  });

  it("matches nothing of what is not there", async () => {
    expect((await runUse({ when: { model: ["*"] } }, refuse)).error).toBeUndefined();
    expect((await runUse({ when: { stream: false } }, refuse)).error).toBeUndefined();
  });

  it("does not pass guardrails by for who asks for some", async () => {
    const inspect = () => ({ guardrails: { input: [], output: [], stream: "window" as const } });
    const when = { model: ["other"] };
    const guarded = fakeExchange({ identity: fakeIdentity({ guardrails: ["pii"] }), request });
    expect((await runUse({ when }, refuse, guarded, { inspect })).error).toMatchObject({
      code: "rate_limited",
    });
    expect((await runUse({ when }, refuse, asking(), { inspect })).error).toBeUndefined();
  });
});

describe("active", () => {
  it("follows the clock, in the zone", async () => {
    // 2026-01-01T00:00Z is a Thursday, and 01:00 in Berlin.
    const isRefused = async (active: StepSettings["active"] & object) =>
      (await runUse({ active }, refuse)).error !== undefined;
    expect(await isRefused({ from: "2026-01-01T01:00", tz: "Europe/Berlin" })).toBe(true);
    expect(await isRefused({ from: "2026-01-01T01:01", tz: "Europe/Berlin" })).toBe(false);
    expect(await isRefused({ until: "2026-01-01" })).toBe(false);
    expect(await isRefused({ until: "2026-01-01T00:00:01" })).toBe(true);
    expect(await isRefused({ cron: "* 0-5 * * *" })).toBe(true);
    expect(await isRefused({ cron: "* 0 * * *", tz: "Europe/Berlin" })).toBe(false);
    expect(await isRefused({ cron: "0-4 1 1 jan thu", tz: "Europe/Berlin" })).toBe(true);
    expect(await isRefused({ cron: "* * * * sat,sun" })).toBe(false);
  });
});

describe("on_error: skip", () => {
  it("goes on without the step that failed before it handed on, and calls the upstream once after", async () => {
    const before = await runUse({ maySkip: true }, crash);
    expect(before).toMatchObject({
      error: undefined,
      answers: 1,
      reply: { kind: "whole" },
      notes: ["it failed, and was passed over"],
    });
    const after = await runUse({ maySkip: true }, async (ctx, next) => {
      await next();
      await crash(ctx, next);
    });
    expect(after).toMatchObject({ error: undefined, answers: 1, reply: { kind: "whole" } });
    expect(JSON.stringify(after.lines)).toContain("was passed over");
  });

  it("does not pass over what the step refuses, nor what inner steps refuse", async () => {
    expect((await runUse({ maySkip: true }, refuse)).error).toMatchObject({ code: "rate_limited" });
  });

  it("is not the default", async () => {
    expect(await runUse({}, crash)).toMatchObject({
      error: { code: "plugin_failed", status: 500 },
      answers: 0,
    });
  });
});

describe("timeout", () => {
  const hang: StepFunction = () => new Promise<void>(() => undefined);

  it("is a failure of the step", async () => {
    expect(await runUse({ timeoutMs: 5 }, hang)).toMatchObject({
      error: { code: "plugin_failed", status: 500 },
      answers: 0,
    });
    expect(await runUse({ timeoutMs: 5, maySkip: true }, hang)).toMatchObject({
      error: undefined,
      answers: 1,
    });
  });

  it("aborts the step, and its late changes reach no other step", async () => {
    let signal: AbortSignal | undefined;
    let late: unknown;
    const tardy: StepFunction = async (ctx, next) => {
      ({ signal } = ctx.exchange);
      await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
      ctx.exchange.headers.set("x-late", "1");
      ctx.exchange.reply = jsonReply({ late: true });
      late = await next().catch((error: unknown) => error);
    };
    const exchange = fakeExchange();
    const { reply, answers } = await runUse({ timeoutMs: 5, maySkip: true }, tardy, exchange);
    expect(signal?.aborted).toBe(true);
    expect(late).toMatchObject({ code: "plugin_failed" });
    expect([answers, exchange.headers.size]).toEqual([1, 0]);
    expect(reply).toMatchObject({ document: { value: { ok: true } } });
  });

  it("leaves the inner steps their time, and keeps what the step does in its own", async () => {
    const exchange = fakeExchange();
    const { error } = await runUse(
      { timeoutMs: 20 },
      async (ctx, next) => {
        ctx.exchange.headers.set("x-before", "1");
        await next();
        await new Promise((resolve) => setTimeout(resolve, 40));
        ctx.exchange.reply = jsonReply({ edited: true });
      },
      exchange,
    );
    expect(error).toBeUndefined();
    expect(exchange.headers.get("x-before")).toBe("1");
    expect(exchange.reply).toMatchObject({ document: { value: { edited: true } } });
  });
});

const OWN = defineSlot<number>("of a step in shadow");

describe("mode: shadow", () => {
  const counts = (run: Awaited<ReturnType<typeof runUse>>) => run.shadows[0]?.counts;

  it("says what it would have refused, and refuses nothing", async () => {
    const run = await runUse({ isShadow: true }, refuse);
    expect(run).toMatchObject({
      error: undefined,
      answers: 1,
      notes: ["it in shadow: would have refused rate_limited"],
    });
    expect(counts(run)).toEqual({ runs: 1, refused: 1, answered: 0, changed: 0, failed: 0 });
  });

  it("sets nothing: request, headers, slots, gates, reply", async () => {
    const exchange = fakeExchange({ request: fakeRequest({ model: "m" }) });
    const { request } = exchange;
    const run = await runUse(
      { isShadow: true },
      async (ctx, next) => {
        const mine = ctx.exchange;
        mine.request = fakeRequest({ model: "other" });
        mine.headers.set("x-a", "1");
        OWN.set(mine, 1);
        addGate(mine, () => undefined);
        recordGuardrail(mine, {} as GuardrailOutcome);
        withholdReply(mine);
        await next();
        mine.reply = jsonReply({ edited: mine.reply?.kind });
      },
      exchange,
    );
    const { headers, reply } = exchange;
    expect([headers.size, gatesOf(exchange).length, guardrailOutcomes(exchange).length]).toEqual([
      0, 0, 0,
    ]);
    expect([OWN.get(exchange), isStorable(exchange)]).toEqual([undefined, true]);
    expect(exchange.request).toBe(request);
    expect(reply).toMatchObject({ document: { value: { ok: true } } });
    expect(counts(run)).toMatchObject({ changed: 1 });
  });

  it("counts a failure and an answer of its own, and nothing for a step that only looks", async () => {
    expect(counts(await runUse({ isShadow: true }, crash))).toMatchObject({ runs: 1, failed: 1 });
    const answered = await runUse(
      { isShadow: true },
      async (ctx) => void (ctx.exchange.reply = jsonReply({})),
    );
    expect(counts(answered)).toMatchObject({ answered: 1 });
    expect(answered.reply).toMatchObject({ document: { value: { ok: true } } });
    expect(counts(await runUse({ isShadow: true }, async (_ctx, next) => next()))).toEqual({
      runs: 1,
      refused: 0,
      answered: 0,
      changed: 0,
      failed: 0,
    });
  });

  it("sees a stream that the client takes, and takes nothing of it", async () => {
    const frame = (raw: string) => ({ raw, chunk: () => ({}) });
    const exchange = fakeExchange();
    exchange.reply = {
      kind: "stream",
      status: 200,
      frames: (async function* () {
        yield frame("a");
        yield frame("bad");
        yield frame("c");
      })(),
    };
    const run = await runUse(
      { isShadow: true },
      async (ctx, next) => {
        await next();
        const { reply } = ctx.exchange;
        if (reply?.kind !== "stream") throw new Error("no stream");
        for await (const { raw } of reply.frames)
          if (raw === "bad") throw new GatewayError("guardrail_violation", "Bad.");
      },
      exchange,
    );
    const taken: (string | undefined)[] = [];
    if (exchange.reply?.kind === "stream")
      for await (const { raw } of exchange.reply.frames) taken.push(raw);
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toEqual(["a", "bad", "c"]);
    expect(counts(run)).toMatchObject({ refused: 1 });
  });
});

describe("uses that are refused", () => {
  const definitions = stepsOf(
    stepOf("auth", { traits: { early: true }, order: { provides: ["identity"] } }),
    stepOf("cost", { order: { provides: ["cost"] } }),
    stepOf("limits", {
      order: {
        provides: ["limits"],
        requires: [{ capability: "cost", reason: "money has prices" }],
      },
    }),
    stepOf("plain"),
    stepOf("retry", { traits: { reentrant: true } }),
    stepOf("hedge", { traits: { concurrent: true } }),
    stepOf("cache", { traits: { concurrent: true }, order: { provides: ["cached_reply"] } }),
    stepOf("end", { traits: { terminal: true } }),
  );
  const faultsOf = (...steps: Parameters<typeof pipelineOf>[0]) =>
    checkPipelines([pipelineOf([...steps, "end"])], definitions).map(
      ({ at, message }) => `${at.line} ${message}`,
    );

  it.each<[string, Partial<StepSettings>[], RegExp]>([
    [
      "when on auth",
      [{ use: "auth", when: { header: { a: ["b"] } } }],
      /^10 Step auth cannot have `when`/,
    ],
    [
      "a schedule on auth",
      [{ use: "auth", active: { cron: "* * * * *" } }],
      /^10 Step auth cannot have `active`/,
    ],
    [
      "auth in shadow",
      [{ use: "auth", isShadow: true }],
      /^10 Step auth cannot be in shadow: no request would be authenticated/,
    ],
    [
      "auth that is skipped",
      [{ use: "auth", maySkip: true }],
      /^10 Step auth cannot have `on_error: skip`/,
    ],
    [
      "a key before auth",
      [{ use: "plain", when: { key: ["ci"] } }, { use: "auth" }],
      /^10 .*`key` in `when` before it is known/,
    ],
    [
      "a model before auth",
      [{ use: "plain", when: { model: ["m"] } }],
      /^10 .*`model` in `when` before it is known/,
    ],
    [
      "limits that are skipped",
      [{ use: "cost" }, { use: "limits", maySkip: true }],
      /^11 Step limits cannot have `on_error: skip`/,
    ],
    [
      "retry in shadow",
      [{ use: "retry", isShadow: true }],
      /^10 Step retry cannot be in shadow: it calls the next step several times/,
    ],
    ["hedge in shadow", [{ use: "hedge", isShadow: true }], /^10 Step hedge cannot be in shadow/],
    [
      "prices for some, limits for all",
      [{ use: "cost", when: { header: { a: ["b"] } } }, { use: "limits" }],
      /^10 Step cost does not run for every request that limits runs for/,
    ],
    [
      "prices in shadow",
      [{ use: "cost", isShadow: true }, { use: "limits" }],
      /^10 Step cost does not run for every request/,
    ],
    ["no time at all", [{ use: "plain", timeoutMs: 0 }], /^10 Step plain has a timeout of 0/],
    [
      "the same twice",
      [
        { use: "plain", when: { header: { a: ["b"] } } },
        { use: "plain", when: { header: { a: ["b"] } } },
      ],
      /^11 Step plain is used twice/,
    ],
  ])("%s", (_what, steps, message) => {
    expect(faultsOf(...steps)).toEqual([expect.stringMatching(message)]);
  });

  it("are no more than those", () => {
    const header = { header: { a: ["b"] } };
    expect(
      faultsOf(
        "auth",
        { use: "cost", when: header },
        { use: "limits", when: header, timeoutMs: 5 },
        { use: "cache", isShadow: true, maySkip: true },
        { use: "plain", when: { model: ["a"], tag: ["b"], stream: true } },
        { use: "plain", active: { until: "2026-01-01" }, maySkip: true },
      ),
    ).toEqual([]);
  });
});
