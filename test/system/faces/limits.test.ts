/**
 * The limits that hold for chat hold for every face, at a provider of the client's own dialect and
 * at another one: rates, tokens, concurrency and budgets, refused in the client's own form.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { admin, createKey, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import {
  fourProviders,
  LANE,
  openCompletions,
  PROVIDER_ENVIRONMENT,
  withResponsesLane,
} from "../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import {
  askWire,
  sendWire,
  type WireInit,
  type WireName,
  type WireQuestion,
  type WireReply,
  WIRES,
} from "../support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const CENT = 0.01;

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  const price = `price: { input: 0, output: 0, request: ${CENT} }`;
  const four = fourProviders(model.url, price);
  const workspace = createWorkspace(withResponsesLane(model.url, four, price));
  openCompletions(workspace);
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
beforeEach(() => model.says({ text: "Fine." }));
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

/** What a refusal is called in each form. */
const RATE: Readonly<Record<WireName, string>> = {
  chat: "rate_limit_error",
  messages: "rate_limit_error",
  responses: "rate_limit_exceeded",
  gemini: "RESOURCE_EXHAUSTED",
  completions: "rate_limit_error",
};
const BUDGET: Readonly<Record<WireName, string>> = {
  ...RATE,
  chat: "budget_exceeded",
  responses: "insufficient_quota",
  completions: "budget_exceeded",
};

const CASES = WIRES.flatMap((wire) =>
  ["openai", "anthropic", ...(wire === "responses" ? [LANE] : [])].flatMap((provider) =>
    [false, true].map((stream) => [wire, provider, stream] as const),
  ),
);

/** One request after the other: each begins with what the one before it has left. */
async function inTurn<T>(count: number, send: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other is the point.
  while (all.length < count) all.push(await send());
  return all;
}

/** The kind of the error, or the status and how the reply ended. */
const outcomeOf = ({ status, error, end }: WireReply): string => error?.kind ?? `${status} ${end}`;

/** The waiting time in the body of a refusal, where the form has a place for it. */
function waitInBody(wire: WireName, { raw, error }: WireReply): number | undefined {
  if (wire === "gemini") return Number.parseFloat(/"retryDelay":"([\d.]+)s"/.exec(raw)?.[1] ?? "");
  if (wire === "responses")
    return Number.parseFloat(/try again in ([\d.]+)s/.exec(error?.message ?? "")?.[1] ?? "");
  return undefined;
}

describe.each(CASES)("%s for %s, streamed: %s", (wire, provider, stream) => {
  const ask = (init: WireInit, more: Partial<WireQuestion> = {}): Promise<WireReply> =>
    askWire(gateway, wire, { model: provider, stream, ...more }, init);

  it("a key's rate of requests", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 2 });
    const calls = model.requests.length;
    const replies = await inTurn(3, () => ask({ key }));
    expect(replies.map(outcomeOf)).toEqual(["200 whole", "200 whole", RATE[wire]]);
    expect(replies.map(({ headers }) => headers.get("x-ratelimit-remaining-requests"))).toEqual([
      "1",
      "0",
      "0",
    ]);
    const refused = replies[2]!;
    const wait = Number(refused.headers.get("retry-after"));
    expect([refused.status, wait > 55 && wait <= 62]).toEqual([429, true]);
    const said = waitInBody(wire, refused) ?? wait;
    expect(Math.abs(said - wait)).toBeLessThanOrEqual(1);
    expect(refused.headers.get("content-type")).toContain("application/json");
    expect(model.requests).toHaveLength(calls + 2);
  });

  it("a key's tokens are reserved by estimate and settled by usage", async () => {
    const { key } = await createKey(gateway, { tpm_limit: 1_000 });
    model.says({ text: "Fine.", usage: [100, 100] });
    const first = await ask({ key }, { maxTokens: 900 });
    expect(Number(first.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(100);
    const second = await ask({ key }, { maxTokens: 500 });
    expect(Number(second.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThanOrEqual(300);
    const third = await ask({ key }, { prompt: "word ".repeat(400) });
    expect([first, second, third].map(outcomeOf)).toEqual(["200 whole", "200 whole", RATE[wire]]);
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("a key's concurrent requests", async () => {
    const { key } = await createKey(gateway, { max_parallel_requests: 1 });
    const calls = model.requests.length;
    model.says({ text: "Fine.", isSilent: true });
    const leaving = new AbortController();
    const first = sendWire(
      gateway,
      wire,
      { model: provider, stream },
      { key, signal: leaving.signal },
    );
    first.catch(() => undefined);
    await eventually("the first call", () => model.requests.length > calls);
    const second = await ask({ key });
    expect([second.status, outcomeOf(second)]).toEqual([429, RATE[wire]]);
    expect(second.headers.get("retry-after")).toBe("1");
    model.says({ text: "Fine." });
    leaving.abort();
    // The slot is free as soon as the gateway has seen that its client is gone.
    await eventually("a free slot", async () => (await ask({ key })).status === 200);
  });

  it("a key's budget, exactly", async () => {
    const { key } = await createKey(gateway, { max_budget: 3 * CENT });
    const calls = model.requests.length;
    const replies = await inTurn(5, () => ask({ key }));
    const [refused] = replies.slice(-1);
    expect(replies.map(outcomeOf)).toEqual([
      "200 whole",
      "200 whole",
      "200 whole",
      BUDGET[wire],
      BUDGET[wire],
    ]);
    expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([429, null]);
    expect(refused?.error?.message).toContain("budget");
    expect(model.requests).toHaveLength(calls + 3);
  });

  it("a team's budget, which its keys share, and a day at the end of which it is anew", async () => {
    const fields = { max_budget: 2 * CENT, budget_duration: "1d" };
    const made = await admin(gateway, "/team/new", fields);
    const { team_id } = (await made.json()) as { team_id: string };
    const [one, two] = await Promise.all([0, 1].map(() => createKey(gateway, { team_id })));
    const replies = [
      await ask({ key: one!.key }),
      await ask({ key: two!.key }),
      await ask({ key: one!.key }),
    ];
    expect(replies.map(outcomeOf)).toEqual(["200 whole", "200 whole", BUDGET[wire]]);
    const wait = Number(replies[2]!.headers.get("retry-after"));
    expect(wait > 0 && wait <= 86_400).toBe(true);
  });

  it("a request's own maximum of cost", async () => {
    const most = (dollars: string): Promise<WireReply> =>
      ask({ headers: { "x-sluice-max-cost": dollars } });
    expect(outcomeOf(await most("0.009"))).toBe(BUDGET[wire]);
    expect(outcomeOf(await most("0.01"))).toBe("200 whole");
    expect((await most("cheap")).status).toBe(400);
  });
});

describe.each(WIRES)("a budget that ends during a stream of %s", (wire) => {
  it("lets the stream end, and refuses what comes meanwhile and afterwards", async () => {
    const { key } = await createKey(gateway, { max_budget: CENT });
    const calls = model.requests.length;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    model.says({ text: "One two three.", piece: 4, pausedAfter: { events: 4, until: released } });
    const running = askWire(gateway, wire, { model: "openai", stream: true }, { key });
    await eventually("the call", () => model.requests.length > calls);
    const meanwhile = await askWire(gateway, wire, { model: "openai", stream: true }, { key });
    release();
    const whole = await running;
    const afterwards = await askWire(gateway, wire, { model: "openai" }, { key });
    expect([meanwhile, whole, afterwards].map(outcomeOf)).toEqual([
      BUDGET[wire],
      "200 whole",
      BUDGET[wire],
    ]);
    expect([meanwhile.status, whole.text]).toEqual([429, "One two three."]);
    expect(model.requests).toHaveLength(calls + 1);
    const rows = await rowsOf(gateway, whole.headers.get("x-request-id"));
    expect(rows).toMatchObject([{ status: "success", spend: CENT }]);
  });
});
