import { beginAttempt, BILLING } from "@sluice/runtime";
import { documentOf } from "@sluice/kit";
import { rawFrame } from "@sluice/kit/internals";
import { describe, expect, it } from "vitest";
import { type Frame, GatewayError, type SpendRow, type StepContext } from "@sluice/contract";
import {
  fakeClient,
  fakeClock,
  fakeHost,
  fakeIdentity,
  fakeLog,
  fakeRequest,
  fakeTarget,
  type LogLine,
} from "@sluice/testing";
import { createFamilyFactors } from "../counting/family-factor.ts";
import type { CompiledRoute } from "../pipeline/compile.ts";
import { emptyRecord } from "../accounting/exchange-record.ts";
import { LiveExchange } from "../pipeline/exchange.ts";
import { RecentRequests } from "../accounting/recent-requests.ts";
import { FailureLog } from "./failure-log.ts";
import { bodyOf, exchange as connect, GET } from "./http.fixture.ts";
import { createRequestMetrics } from "../accounting/request-metrics.ts";
import { referenceForm } from "./form/reference.ts";
import { serveExchange } from "./serve-exchange.ts";

const clock = fakeClock();

interface Served {
  readonly raw: string;
  readonly rows: readonly SpendRow[];
  readonly lines: readonly LogLine[];
}

/** Serves one exchange by `run`, to a real client. */
async function serve(
  run: (ctx: StepContext) => Promise<void>,
  record?: () => Promise<void>,
): Promise<Served> {
  const { response, received } = await connect(GET);
  const rows: SpendRow[] = [];
  const lines: LogLine[] = [];
  const options = {
    id: "id-1",
    operation: "chat",
    client: fakeClient(),
    generation: 1,
    deadlineMs: 60_000,
    clock,
  } as const;
  const exchange = new LiveExchange({ ...options, read: async () => undefined });
  exchange.identity = fakeIdentity();
  exchange.request = fakeRequest({ model: "m" });
  const names = { method: "POST", path: "/", pipeline: "chat", operation: "chat" } as const;
  const route: CompiledRoute = {
    ...names,
    deadlineMs: 60_000,
    heartbeatMs: 0,
    outline: { ...names, steps: [] },
    face: undefined,
    beforeBody: [],
    run,
  };
  await serveExchange({ exchange }, exchange, route, referenceForm(), response, {
    clock,
    log: fakeLog(lines),
    failures: new FailureLog(fakeLog(lines)),
    counting: { tokens: fakeHost().tokens, factors: createFamilyFactors() },
    sample: () => undefined,
    recent: new RecentRequests(1, emptyRecord),
    metrics: createRequestMetrics(fakeHost().metrics),
    ledger: {
      check: () => undefined,
      note: () => undefined,
      record: async (settled) => {
        await record?.();
        rows.push(...settled);
      },
    },
  });
  return { raw: await received, rows, lines };
}

const whole = async ({ exchange }: StepContext): Promise<void> => {
  const attempt = beginAttempt(exchange, fakeTarget(), "openai");
  attempt.succeed(1);
  exchange.reply = { kind: "whole", status: 200, document: documentOf('{"ok":1}') };
};

describe("serving an exchange", () => {
  it("writes the reply behind its row, with the cost as an exact decimal", async () => {
    const { raw, rows } = await serve(async (ctx) => {
      BILLING.set(ctx.exchange, { price: () => ({ status: "priced", nanoUsd: 1_230_000 }) });
      await whole(ctx);
    });
    expect(raw).toMatch(/^HTTP\/1\.1 200 [^]*x-sluice-cost: 0\.00123\r\n/);
    expect(rows).toMatchObject([{ status: "success", costNanoUsd: 1_230_000 }]);
  });

  it("says nothing of a cost that is unknown", async () => {
    expect((await serve(whole)).raw).not.toContain("x-sluice-cost");
  });

  it("answers a step that neither goes on nor replies with a fault of the plugin", async () => {
    const { raw, rows, lines } = await serve(async () => undefined);
    expect(raw).toMatch(/^HTTP\/1\.1 500 /);
    expect(rows).toMatchObject([{ attempt: 0, errorCode: "plugin_failed" }]);
    expect(lines).toMatchObject([{ level: "error" }]);
  });

  it("answers any other error without its words", async () => {
    const { raw, lines } = await serve(() => Promise.reject(new Error("secret detail")));
    expect(raw).toMatch(/^HTTP\/1\.1 500 /);
    expect(raw).not.toContain("secret detail");
    expect(lines).toMatchObject([
      { level: "error", fields: { error: { code: "internal_error" } } },
    ]);
  });

  it("does not log what the client did wrong", async () => {
    const { raw, rows, lines } = await serve(() =>
      Promise.reject(new GatewayError("model_not_found", "no")),
    );
    expect(raw).toMatch(/^HTTP\/1\.1 404 /);
    expect(rows).toMatchObject([{ attempt: 0, status: "failure", errorCode: "model_not_found" }]);
    expect(lines).toEqual([]);
  });

  it("hands out no reply whose row cannot be stored", async () => {
    const { raw } = await serve(whole, () => Promise.reject(new Error("disk full")));
    expect(raw).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 5\r\n/);
    expect(raw).not.toContain('"ok"');
    expect(bodyOf(raw)).not.toContain("disk full");
  });

  it("lets go of a stream when a step fails on the way back", async () => {
    let isClosed = false;
    const frames = (async function* (): AsyncGenerator<Frame, void, undefined> {
      yield rawFrame("{}");
    })();
    const close = frames.return.bind(frames);
    frames.return = (value) => {
      isClosed = true;
      return close(value);
    };
    const { raw } = await serve(async ({ exchange }) => {
      beginAttempt(exchange, fakeTarget(), "openai").firstContent(1);
      exchange.reply = { kind: "stream", status: 200, frames };
      throw new GatewayError("guardrail_violation", "no");
    });
    expect(raw).toMatch(/^HTTP\/1\.1 400 /);
    expect(isClosed).toBe(true);
  });
});
