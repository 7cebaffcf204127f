import { describe, expect, it } from "vitest";
import { type Exchange, GatewayError, type StepContext, type StepFunction } from "@sluice/contract";
import { branchOf, jsonReply } from "@sluice/kit";
import { fakeExchange, fakeRequest } from "@sluice/testing";
import { compose, type Link } from "./compose.ts";

function link(name: string, run: StepFunction, traits: Partial<Link> = {}): Link {
  return { name, reentrant: false, needsBody: true, run, ...traits };
}

/** A context whose exchange counts how often its body is received. */
function context(operationHasBody = true): StepContext & { received: number } {
  const ctx = { received: 0, exchange: undefined as unknown as Exchange };
  const receive = async (): Promise<void> => {
    ctx.received++;
    if (operationHasBody) exchange.request = fakeRequest({ model: "m" });
  };
  const exchange = fakeExchange({ receive });
  ctx.exchange = exchange;
  return ctx;
}

const answer = link("provider", async ({ exchange }) => {
  exchange.reply = jsonReply({ ok: true });
});

describe("the order", () => {
  it("is down the list and back up", async () => {
    const seen: string[] = [];
    const tracing = (name: string) =>
      link(name, async (_ctx, next) => {
        seen.push(`${name} down`);
        await next();
        seen.push(`${name} up`);
      });
    const end = link("end", async () => void seen.push("end"));
    await compose([tracing("a"), tracing("b"), end])(context());
    expect(seen).toEqual(["a down", "b down", "end", "b up", "a up"]);
  });

  it("ends at a step that does not call next", async () => {
    const ctx = context();
    const never = link("never", () => Promise.reject(new Error("must not run")));
    await compose([answer, never])(ctx);
    expect(ctx.exchange.reply).toBeDefined();
  });

  it("serves exchanges independently of each other", async () => {
    const run = compose([link("a", async (_ctx, next) => next()), answer]);
    const contexts = Array.from({ length: 20 }, () => context());
    await Promise.all(contexts.map((ctx) => run(ctx)));
    expect(contexts.every(({ exchange }) => exchange.reply !== undefined)).toBe(true);
  });
});

describe("next", () => {
  const twice: StepFunction = async (_ctx, next) => {
    await next();
    await next();
  };

  it("is refused a second time to a plain step", async () => {
    let runs = 0;
    const inner = link("inner", async () => void runs++);
    await expect(compose([link("plain", twice), inner])(context())).rejects.toMatchObject({
      code: "plugin_failed",
      message: "The step plain failed.",
      cause: { message: "Step plain called next() a second time and is not re-entrant." },
    });
    expect(runs).toBe(1);
  });

  it("is refused a second time to a plain step also after a failure", async () => {
    const again: StepFunction = async (_ctx, next) => {
      try {
        await next();
      } catch {
        await next();
      }
    };
    const fails = link("fails", () => Promise.reject(new GatewayError("upstream_failed", "no")));
    await expect(compose([link("plain", again), fails])(context())).rejects.toMatchObject({
      code: "plugin_failed",
    });
  });

  it("may be called again by a re-entrant step, and runs all inner steps each time", async () => {
    let runs = 0;
    const inner = link("inner", async (_ctx, next) => next());
    const flaky = link("flaky", async ({ exchange }) => {
      if (++runs < 3) throw new GatewayError("upstream_failed", "no");
      exchange.reply = jsonReply({ runs });
    });
    const threeTimes: StepFunction = async (_ctx, next) => {
      for (let left = 3; left > 0; left--) {
        try {
          return await next();
        } catch (error) {
          if (left === 1) throw error;
        }
      }
    };
    const retry = link("retry", threeTimes, { reentrant: true });
    const ctx = context();
    await compose([retry, inner, flaky])(ctx);
    expect(runs).toBe(3);
    expect(ctx.exchange.reply).toMatchObject({ document: { value: { runs: 3 } } });
  });

  it("is refused to a re-entrant step while an earlier call runs", async () => {
    const both: StepFunction = async (_ctx, next) => void (await Promise.all([next(), next()]));
    const slow = link("slow", () => new Promise((resolve) => setImmediate(resolve)));
    await expect(
      compose([link("retry", both, { reentrant: true }), slow])(context()),
    ).rejects.toMatchObject({
      code: "plugin_failed",
      cause: { message: "Step retry called next() while an earlier call was still running." },
    });
  });

  it("may be called by a concurrent step several times at once, with a branch for each", async () => {
    const both: StepFunction = async ({ exchange }, next) => {
      const [one, two] = [branchOf(exchange), branchOf(exchange)];
      await Promise.all([next({ exchange: one }), next({ exchange: two })]);
      two.adopt();
      expect(one.reply).not.toBe(two.reply);
    };
    let runs = 0;
    const slow = link("slow", async ({ exchange }) => {
      const run = ++runs;
      await new Promise((resolve) => setImmediate(resolve));
      exchange.reply = jsonReply({ run });
    });
    const ctx = { exchange: fakeExchange({ request: fakeRequest({ model: "m" }) }) };
    await compose([link("hedge", both, { concurrent: true }), slow])(ctx);
    expect(ctx.exchange.reply).toMatchObject({ document: { value: { run: 2 } } });
  });

  it.each<[string, StepFunction, string]>([
    [
      "twice for one exchange",
      async (_ctx, next) => void (await Promise.all([next(), next()])),
      "called next() twice for one branch",
    ],
    [
      "for a foreign exchange",
      (_ctx, next) => next({ exchange: fakeExchange() }),
      "called next() for an exchange that is no branch of its own",
    ],
  ])("is refused to a concurrent step %s", async (_what, run, message) => {
    const inner = link("inner", async () => undefined);
    await expect(
      compose([link("hedge", run, { concurrent: true }), inner])(context()),
    ).rejects.toMatchObject({
      code: "plugin_failed",
      cause: { message: `Step hedge ${message}.` },
    });
  });

  it("past the last step is a fault of the pipeline", async () => {
    await expect(
      compose([link("a", async (_ctx, next) => next())])(context()),
    ).rejects.toMatchObject({
      code: "plugin_failed",
      message: "The pipeline ended without a reply.",
    });
    await expect(compose([])(context())).rejects.toMatchObject({ code: "plugin_failed" });
  });
});

describe("a failure", () => {
  it("that a step means goes through as it is", async () => {
    const refusal = new GatewayError("rate_limited", "Too many.");
    const outer = link("outer", async (_ctx, next) => next());
    await expect(
      compose([outer, link("limits", () => Promise.reject(refusal))])(context()),
    ).rejects.toBe(refusal);
  });

  it.each([
    ["an error", new TypeError("x is undefined")],
    ["a word", "no"],
    ["nothing", undefined],
  ])(
    "that throws %s becomes plugin_failed, with the step's name, and the cause for the log",
    async (_what, thrown) => {
      const outer = link("outer", async (_ctx, next) => next());
      const broken = link("broken", () => Promise.reject(thrown as Error));
      const failure: unknown = await compose([outer, broken])(context()).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({
        code: "plugin_failed",
        status: 500,
        message: "The step broken failed.",
      });
      expect((failure as Error).cause).toBe(thrown);
    },
  );

  it("can be caught by an outer step", async () => {
    const ctx = context();
    const rescue = link("rescue", async ({ exchange }, next) =>
      next().catch(
        (error: GatewayError) => void (exchange.reply = jsonReply({ code: error.code })),
      ),
    );
    await compose([rescue, link("broken", () => Promise.reject(new Error("x")))])(ctx);
    expect(ctx.exchange.reply).toMatchObject({ document: { value: { code: "plugin_failed" } } });
  });
});

describe("the body", () => {
  it("is received before the first step that is not early, once", async () => {
    const seen: number[] = [];
    const ctx = context();
    const look = (name: string, needsBody: boolean) =>
      link(
        name,
        async (_ctx, next) => {
          seen.push(ctx.received);
          await next();
        },
        { needsBody },
      );
    await compose([look("auth", false), look("limits", true), look("cost", true), answer])(ctx);
    expect(seen).toEqual([0, 1, 1]);
    expect(ctx.received).toBe(1);
  });

  it("is not received for an early step that refuses", async () => {
    const ctx = context();
    const refuses = link(
      "auth",
      () => Promise.reject(new GatewayError("authentication_failed", "no")),
      { needsBody: false },
    );
    await expect(compose([refuses, answer])(ctx)).rejects.toMatchObject({
      code: "authentication_failed",
    });
    expect(ctx.received).toBe(0);
  });

  it("that is broken fails the exchange with its own error", async () => {
    const broken = new GatewayError("invalid_json", "no");
    const exchange = fakeExchange({ receive: () => Promise.reject(broken) });
    await expect(compose([answer])({ exchange })).rejects.toBe(broken);
  });
});

describe("a step that does everything at its entry", () => {
  const unused: StepFunction = () => Promise.reject(new Error("must not run"));
  const enters = (name: string, enter: NonNullable<Link["enter"]>, run = unused) =>
    link(name, run, { enter });

  it("is entered in its place and goes on, at once or later", async () => {
    const seen: string[] = [];
    const outer = link("outer", async (_ctx, next) => {
      seen.push("outer");
      await next();
      seen.push("outer again");
    });
    const now = enters("now", () => seen.push("now") === 0);
    const later = enters("later", async () => {
      await Promise.resolve();
      return seen.push("later") === 0;
    });
    const end = link("end", async () => void seen.push("end"));
    await compose([outer, now, later, end])(context());
    expect(seen).toEqual(["outer", "now", "later", "end", "outer again"]);
  });

  it("runs when its entry says so, after it", async () => {
    const seen: string[] = [];
    const run: StepFunction = async (_ctx, next) => {
      seen.push("run");
      await next();
    };
    const now = enters("now", () => seen.push("enter") > 0, run);
    const later = enters("later", async () => seen.push("enter later") > 0, run);
    await compose([now, later, answer])(context());
    expect(seen).toEqual(["enter", "run", "enter later", "run"]);
  });

  it("finds the body read", async () => {
    const ctx = context();
    const asks = enters("asks", ({ request }) => request?.model !== "m");
    await compose([asks, asks, answer])(ctx);
    expect([ctx.received, ctx.exchange.reply === undefined]).toEqual([1, false]);
  });

  it("refuses by throwing or rejecting, and what is no gateway error names it", async () => {
    const no = new GatewayError("rate_limited", "no");
    const throws = enters("throws", () => {
      throw no;
    });
    await expect(compose([enters("idle", () => false), throws, answer])(context())).rejects.toBe(
      no,
    );
    await expect(
      compose([enters("rejects", () => Promise.reject(no)), answer])(context()),
    ).rejects.toBe(no);
    const broken = enters("broken", () => Promise.reject(new Error("boom")));
    await expect(
      compose([enters("idle", () => false), broken, answer])(context()),
    ).rejects.toMatchObject({
      code: "plugin_failed",
      message: "The step broken failed.",
    });
  });

  it("is entered again with each run of the inner steps, and ends no pipeline", async () => {
    let entries = 0;
    const retry = link(
      "retry",
      async (_ctx, next) => {
        await next();
        await next();
      },
      { reentrant: true },
    );
    const counts = enters("counts", () => (entries += 1) === 0);
    await compose([retry, counts, answer])(context());
    expect(entries).toBe(2);
    await expect(compose([counts])(context())).rejects.toMatchObject({
      message: "The pipeline ended without a reply.",
    });
  });
});
