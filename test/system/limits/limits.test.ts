/**
 * Limits and budgets through the real process: on every route alike, under concurrency, and after
 * every kind of end.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  createUpstream,
  type Upstream,
  type UpstreamAction,
  type UpstreamScript,
} from "@sluice/testing";
import { admin, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, NEVER_EJECTS, type Workspace } from "../support/workspace.ts";

const CENT = "price: { input: 0, output: 0, request: 0.01 }";
const target = (model: string, price = CENT) =>
  `targets: [{ provider: openai, model: ${model}, ${price} }]`;

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    attempts: 1,
    balance: NEVER_EJECTS,
    models: [
      `{ id: chat, ${target("chat-1")} }`,
      `{ id: broken, fallbacks: { general: [chat] }, ${target("broken")} }`,
      `{ id: dear, fallbacks: { general: [dearer] }, ${target("dear")} }`,
      `{ id: dearer, ${target("dearer", "price: { input: 0, output: 0, request: 0.05 }")} }`,
      `{ id: unpriced, ${target("model-without-price", "weight: 1")} }`,
      `{ id: narrow, targets: [{ provider: openai, model: few, rpm: 2, ${CENT} }, { provider: openai, model: rest, rpm: 1, ${CENT} }], balance: priority }`,
      `{ id: vectors, mode: embedding, ${target("text-embedding-3-small")} }`,
      `{ id: piece, mode: image, ${target("dall-e-2", "price: { images: [{ size: 1024x1024, price: 0.01 }] }")} }`,
      `{ id: tokens, mode: image, ${target("gpt-image-1")} }`,
      `{ id: other, mode: image, ${target("some-image-model", "price: { images: [{ price: 0.01 }] }")} }`,
    ],
  });
  const prices = join(workspace.folder, "config/prices.yaml");
  const native = '  "openai/native-*": { input: 0, output: 0, request: 0.01 }\n';
  writeFileSync(
    prices,
    readFileSync(prices, "utf8").replace(/^prices:.*\n/m, `prices:\n${native}`),
  );
  gateway = await startGateway(workspace);
}, 30_000);
beforeEach(() => {
  upstream.reset();
  upstream.script(bySort);
});
afterAll(async () => {
  await gateway?.dispose();
  workspace?.remove();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly headers: Headers;
}

async function send(
  key: string,
  path: string,
  body: object,
  init: RequestInit = {},
): Promise<Answer> {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    ...init,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...init.headers,
    },
  });
  const text = await response.text();
  const type = response.ok
    ? undefined
    : (JSON.parse(text) as { error: { type: string } }).error.type;
  return { status: response.status, type, headers: response.headers };
}

const CHAT = { model: "chat", messages: MESSAGES, max_tokens: 10 };
const sendChat = (key: string, more: object = {}, init: RequestInit = {}) =>
  send(key, "/v1/chat/completions", { ...CHAT, ...more }, init);

/** Each allowed request costs a cent. */
const ROUTES: readonly (readonly [name: string, path: string, body: object])[] = [
  ["chat", "/v1/chat/completions", CHAT],
  ["a stream", "/v1/chat/completions", { ...CHAT, stream: true }],
  ["a deployment route", "/openai/deployments/chat/chat/completions", { messages: MESSAGES }],
  ["a fallback", "/v1/chat/completions", { ...CHAT, model: "broken" }],
  ["embeddings", "/v1/embeddings", { model: "vectors", input: ["a", "b"] }],
  [
    "images by the piece",
    "/v1/images/generations",
    { model: "piece", prompt: "x", size: "1024x1024" },
  ],
  ["images by tokens", "/v1/images/generations", { model: "tokens", prompt: "x" }],
  ["images of another family", "/v1/images/generations", { model: "other", prompt: "x" }],
  [
    "images by deployment",
    "/ref/deployments/piece/images/generations",
    { prompt: "x", size: "1024x1024" },
  ],
  [
    "images by passthrough",
    "/openai/v1/images/generations",
    { model: "native-image", prompt: "x" },
  ],
  ["embeddings by deployment", "/openai/deployments/vectors/embeddings", { input: "a" }],
  ["passthrough", "/openai/v1/chat/completions", { model: "native-1", messages: MESSAGES }],
  [
    "a native stream",
    "/openai/v1/chat/completions",
    { model: "native-1", messages: MESSAGES, stream: true },
  ],
];

/** The models `broken` and `dear` fail; every other one answers. */
const bySort: UpstreamScript = ({ parsed }) =>
  parsed?.["model"] === "broken" || parsed?.["model"] === "dear"
    ? { kind: "error", status: 500 }
    : { kind: "reply" };

const calledModels = () => upstream.requests.map(({ parsed }) => parsed?.["model"]);

/** What the rows of a key say that it has spent. */
async function spentBy(keyId: string): Promise<number> {
  const { info } = (await (await admin(gateway, `/key/info?key=${keyId}`)).json()) as {
    readonly info: { readonly spend: number };
  };
  return info.spend;
}

describe.each(ROUTES)("%s", (_name, path, body) => {
  it("spends a budget to its end and no further", async () => {
    const { key } = await createKey(gateway, { max_budget: 0.03 });
    const answers: Answer[] = [];
    for (let call = 0; call < 5; call += 1) answers.push(await send(key, path, body));
    expect(answers.map(({ status, type }) => type ?? status)).toEqual([
      200,
      200,
      200,
      "budget_exceeded",
      "budget_exceeded",
    ]);
    expect(answers[4]?.headers.get("retry-after")).toBeNull();
    expect(calledModels().filter((model) => model !== "broken")).toHaveLength(3);
  });

  it("counts a window, and says when it is free again", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 2 });
    const answers: Answer[] = [];
    for (let call = 0; call < 3; call += 1) answers.push(await send(key, path, body));
    expect(answers.map(({ status, type }) => type ?? status)).toEqual([
      200,
      200,
      "rate_limit_error",
    ]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining-requests"))).toEqual([
      "1",
      "0",
      "0",
    ]);
    expect(answers[0]?.headers.get("x-ratelimit-limit-requests")).toBe("2");
    const wait = Number(answers[2]?.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(55);
    expect(wait).toBeLessThanOrEqual(62);
  });
});

describe.each([false, true])("a hit of the cache, streamed: %s", (stream) => {
  const own = (name: string) => ({
    stream,
    caching: true,
    messages: [{ role: "user", content: `${name}, ${String(stream)}` }],
  });

  it("costs nothing of a budget, and gets nothing once that is spent", async () => {
    const { key } = await createKey(gateway, { max_budget: 0.02 });
    const answers: Answer[] = [];
    for (let call = 0; call < 4; call += 1) answers.push(await sendChat(key, own("kept")));
    expect(answers.map(({ headers }) => headers.get("x-sluice-cache"))).toEqual([
      "miss",
      "hit",
      "hit",
      "hit",
    ]);
    expect((await sendChat(key, own("another"))).status).toBe(200);
    expect([(await sendChat(key, own("kept"))).type, upstream.requests.length]).toEqual([
      "budget_exceeded",
      2,
    ]);
  });

  it("counts in a window", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 2 });
    const answers: Answer[] = [];
    for (let call = 0; call < 3; call += 1) answers.push(await sendChat(key, own("counted")));
    expect(answers.map(({ status, type }) => type ?? status)).toEqual([
      200,
      200,
      "rate_limit_error",
    ]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining-requests"))).toEqual([
      "1",
      "0",
      "0",
    ]);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("a thousand requests at once", () => {
  it.each([10, 200])("spend a budget for %i calls exactly", async (calls) => {
    const { key, token_id } = await createKey(gateway, { max_budget: calls / 100 });
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => sendChat(key)));
    const types = answers.map(({ status, type }) => type ?? String(status));
    const count = (wanted: string) => types.filter((type) => type === wanted).length;
    console.info(
      `budget for ${calls}: ${upstream.requests.length} dispatched, ${count("budget_exceeded")} refused`,
    );
    expect([upstream.requests.length, count("200"), count("budget_exceeded")]).toEqual([
      calls,
      calls,
      1_000 - calls,
    ]);
    expect(await spentBy(token_id)).toBeCloseTo(calls / 100, 9);
  });

  it("pass a window of 100 a hundred times", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 100 });
    let admitted = 0;
    for (let batch = 0; batch < 6; batch += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => sendChat(key)));
      admitted += answers.filter(({ status }) => status === 200).length;
    }
    console.info(`100 a minute, 300 calls: ${admitted} admitted`);
    expect(admitted).toBe(100);
  });
});

it("nothing stays reserved after two thousand mixed outcomes", async () => {
  const { key, token_id } = await createKey(gateway, {
    max_budget: 1_000,
    max_parallel_requests: 400,
  });
  const outcomes: readonly UpstreamAction[] = [
    { kind: "reply" },
    { kind: "error", status: 500 },
    { kind: "reply", fault: { kind: "reset", after: 2 } },
    { kind: "error", status: 400 },
  ];
  let refused = 0;
  upstream.script(({ number }) => outcomes[number % outcomes.length] as UpstreamAction);
  for (let round = 0; round < 10; round += 1) {
    const calls = Array.from({ length: 200 }, async (_, call) => {
      const stream = call % 3 === 0;
      // Some name no model, some leave.
      const more = call % 10 === 9 ? { model: "none" } : { stream };
      const signal = call % 10 === 8 ? AbortSignal.timeout(1 + (call % 4)) : null;
      return sendChat(key, more, { signal }).catch(() => undefined);
    });
    const answers = await Promise.all(calls);
    refused += answers.filter((answer) => answer === undefined || answer.status !== 200).length;
  }
  console.info(`2,000 mixed outcomes, ${refused} of them no success`);
  expect(refused).toBeGreaterThan(400);
  upstream.reset();
  // Aborted requests settle behind their clients. What is left then must be exactly what the rows
  // leave.
  let before = -1;
  const spent = await eventually("an idle gateway", async () => {
    const now = await spentBy(token_id);
    const isStill = now === before;
    before = now;
    return isStill && now;
  });
  // One request at a time: if a single slot were still held, none would pass.
  const room = { max_budget: Math.round((spent + 0.05) * 100) / 100, max_parallel_requests: 1 };
  await admin(gateway, "/key/update", { key: token_id, ...room });
  const answers: Answer[] = [];
  for (let call = 0; call < 8; call += 1) answers.push(await sendChat(key));
  console.info(`spent by rows before: ${spent.toFixed(2)} dollars`);
  expect(answers.map(({ type }) => type ?? "ok").filter((type) => type === "ok")).toHaveLength(5);
}, 60_000);

describe("beside the budget", () => {
  it("slots are free again with the replies", async () => {
    const { key } = await createKey(gateway, { max_parallel_requests: 2 });
    upstream.script(({ number }) => ({ kind: "reply", delayMs: number <= 2 ? 300 : 0 }));
    const both = [sendChat(key), sendChat(key)];
    await upstream.waitFor(({ number }) => number === 2);
    expect((await sendChat(key)).type).toBe("rate_limit_error");
    await Promise.all(both);
    expect((await sendChat(key)).status).toBe(200);
  });

  it("tokens are reserved by estimate and settled by usage", async () => {
    const { key } = await createKey(gateway, { tpm_limit: 1_000 });
    upstream.script({
      kind: "reply",
      usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
    });
    const first = await sendChat(key, { max_tokens: 900 });
    const second = await sendChat(key, { max_tokens: 500 });
    expect(Number(first.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(100);
    expect(second.status).toBe(200);
    expect(Number(second.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThanOrEqual(300);
    expect(
      (await sendChat(key, { messages: [{ role: "user", content: "word ".repeat(2_000) }] })).type,
    ).toBe("rate_limit_error");
  });

  it("a raised budget counts for the next request, and a team's for all of its keys", async () => {
    const team = (await (await admin(gateway, "/team/new", { max_budget: 0.02 })).json()) as {
      team_id: string;
    };
    const keys = await Promise.all([0, 1].map(() => createKey(gateway, { team_id: team.team_id })));
    const [one = "", two = ""] = keys.map(({ key }) => key);
    expect(
      [await sendChat(one), await sendChat(two), await sendChat(one)].map(({ status }) => status),
    ).toEqual([200, 200, 429]);
    await admin(gateway, "/team/update", { team_id: team.team_id, max_budget: 0.03 });
    expect([await sendChat(two), await sendChat(one)].map(({ status }) => status)).toEqual([
      200, 429,
    ]);
  });

  it("a fallback that costs more is reserved at its own price before it is called", async () => {
    const { key } = await createKey(gateway, { max_budget: 0.04 });
    const { type } = await sendChat(key, { model: "dear" });
    expect([type, calledModels()]).toEqual(["upstream_error", ["dear"]]);
  });

  it("a model without a price is refused where a budget holds, and nowhere else", async () => {
    const budgeted = await createKey(gateway, { max_budget: 1 });
    const free = await createKey(gateway, {});
    expect((await sendChat(budgeted.key, { model: "unpriced" })).type).toBe("budget_exceeded");
    expect((await sendChat(free.key, { model: "unpriced" })).status).toBe(200);
  });

  it("a deployment at its limit is passed over, and the last one says when", async () => {
    const { key } = await createKey(gateway, {});
    const answers: Answer[] = [];
    for (let call = 0; call < 4; call += 1) answers.push(await sendChat(key, { model: "narrow" }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(calledModels().toSorted()).toEqual(["few", "few", "rest"]);
    expect(Number(answers[3]?.headers.get("retry-after"))).toBeGreaterThan(50);
  });

  it("a request says what it may cost", async () => {
    const { key } = await createKey(gateway, {});
    const most = (dollars: string) =>
      sendChat(key, {}, { headers: { "x-sluice-max-cost": dollars } });
    expect((await most("0.009")).type).toBe("budget_exceeded");
    expect((await most("0.01")).status).toBe(200);
    expect((await most("cheap")).status).toBe(400);
  });

  it("a budget with a duration says when it begins anew", async () => {
    const { key, token_id } = await createKey(gateway, { max_budget: 0.01, budget_duration: "1d" });
    expect((await sendChat(key)).status).toBe(200);
    const { type, headers } = await sendChat(key);
    const left = (86_400_000 - (Date.now() % 86_400_000)) / 1_000;
    expect(type).toBe("budget_exceeded");
    expect(Math.abs(Number(headers.get("retry-after")) - left)).toBeLessThanOrEqual(2);
    const midnight = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();
    expect(await (await admin(gateway, `/key/info?key=${token_id}`)).json()).toMatchObject({
      info: { spend: 0.01, budget_remaining: 0, budget_reset_at: midnight },
    });
  });
});
