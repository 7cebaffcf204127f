/** Targets of one model: shares, ejection and recovery, stickiness, and clients that leave. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const EJECTION_MS = 1_000;
const ABORTS = 50;

let left: Upstream;
let right: Upstream;
let gateway: GatewayProcess;

const provider = (name: string, upstream: Upstream): string =>
  `${name}: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`;
const both = (model: string, more = ""): string =>
  `[{ provider: left, model: ${model}${more} }, { provider: right, model: ${model} }]`;

beforeAll(async () => {
  [left, right] = await Promise.all([createUpstream(), createUpstream()]);
  const workspace = createWorkspace({
    // One call of a target: what retries do is another test's.
    attempts: 1,
    balance: `{ sticky_by: user, breaker: { ejection: ${EJECTION_MS}ms, max_ejection: ${EJECTION_MS}ms } }`,
    providers: [provider("left", left), provider("right", right)],
    models: [
      `{ id: shares, targets: ${both("shares", ", weight: 3")} }`,
      `{ id: broken, targets: ${both("broken")} }`,
      `{ id: sticky, balance: sticky, targets: ${both("sticky")} }`,
      "{ id: aborts, targets: [{ provider: left, model: aborts }] }",
      "{ id: single, targets: [{ provider: left, model: single }] }",
      "{ id: narrow, targets: [{ provider: left, model: narrow, max_parallel: 1, queue: 1, queue_timeout: 3s }] }",
    ],
  });
  gateway = await startGateway(workspace, {}, "info");
});
beforeEach(() => {
  left.reset();
  right.reset();
});
afterAll(async () => {
  await gateway?.dispose();
  await Promise.all([left?.close(), right?.close()]);
});

interface Deployment {
  readonly deployment: string;
  readonly health: string;
  readonly breaker: string;
  readonly in_flight: number;
  readonly queued: number;
  readonly latency_ms: number | null;
  readonly attempts: {
    readonly total: number;
    readonly success: number;
    readonly failure: number;
    readonly other: number;
  };
}

async function deployment(id: string): Promise<Deployment> {
  const response = await admin(gateway, "/deployments");
  expect(response.status).toBe(200);
  const { deployments } = (await response.json()) as {
    readonly deployments: readonly Deployment[];
  };
  const found = deployments.find((each) => each.deployment === id);
  if (found === undefined) throw new Error(`There is no deployment ${id}.`);
  return found;
}

let sent = 0;

/**
 * Sends a request of its own to its end: failures of one body say nothing of the target. Returns
 * the status.
 */
async function send(body: object): Promise<number> {
  const messages = [...MESSAGES, { role: "user", content: `Number ${(sent += 1)}.` }];
  const response = await chat(gateway, { messages, ...body });
  await response.text();
  return response.status;
}

const settled = (id: string) =>
  eventually(`no request in flight at ${id}`, async () => {
    const found = await deployment(id);
    return found.in_flight === 0 && found;
  });

it("two targets of weight 3 and 1 share three to one, whole and streamed", async () => {
  for (let round = 0; round < 10; round += 1) {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send({ model: "shares", stream: n % 2 === 0 })),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  }
  expect([left.requests.length, right.requests.length]).toEqual([150, 50]);
  expect(await settled("left/shares")).toMatchObject({
    health: "healthy",
    latency_ms: expect.any(Number),
    attempts: { total: 150, success: 150, failure: 0, other: 0 },
  });
});

it("a target that always fails costs no client an answer, is ejected, and comes back when it heals", async () => {
  left.script({ kind: "error", status: 500 });
  const response = await chat(gateway, { model: "broken", messages: MESSAGES });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-provider")).toBe("right");
  expect(response.headers.get("x-sluice-attempts")).toBe("2");
  const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
  expect(rows.map(({ attempt, status, model_id: id }) => [attempt, status, id]).sort()).toEqual([
    [1, "failure", "left/broken"],
    [2, "success", "right/broken"],
  ]);
  const statuses: number[] = [];
  for (let n = 0; n < 40; n += 1)
    statuses.push(await send({ model: "broken", stream: n % 2 === 0 }));
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(left.requests.length).toBeGreaterThanOrEqual(5);
  // An ejection may have ended since the last request: the trial that follows ejects again.
  const ejected = await eventually("the target to be ejected", async () => {
    expect(await send({ model: "broken" })).toBe(200);
    const found = await deployment("left/broken");
    return found.health === "ejected" && found;
  });
  expect(ejected).toMatchObject({ breaker: "open", in_flight: 0 });
  expect(gateway.stderr + gateway.stdout).toContain("deployment ejected");

  left.script({ kind: "reply" });
  const healed = left.requests.length;
  await eventually("the target to come back", async () => {
    expect(await send({ model: "broken" })).toBe(200);
    return (await deployment("left/broken")).health === "healthy";
  });
  expect(left.requests.length).toBeGreaterThan(healed);
  expect(gateway.stderr + gateway.stdout).toContain("deployment recovered");
});

it("both targets failing: the client gets the upstream's own error", async () => {
  left.script({ kind: "error", status: 503, retryAfter: "1" });
  right.script({ kind: "error", status: 503, retryAfter: "1" });
  const response = await chat(gateway, { model: "shares", messages: MESSAGES });
  expect(response.status).toBe(503);
  expect(response.headers.get("x-sluice-attempts")).toBe("2");
});

it("a single target that fails is ejected: 503 with retry-after at once, until it heals", async () => {
  left.script({ kind: "error", status: 500 });
  const statuses: number[] = [];
  for (let n = 0; n < 10; n += 1) statuses.push(await send({ model: "single" }));
  expect(statuses).toEqual([502, 502, 502, 502, 502, 503, 503, 503, 503, 503]);
  const refused = await chat(gateway, { model: "single", messages: MESSAGES });
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(left.requests.length).toBe(5);
  left.script({ kind: "reply" });
  await eventually(
    "the target to come back",
    async () => (await send({ model: "single" })) === 200,
  );
});

it("sticky requests of one user stay with one target, and users are spread", async () => {
  const targets = new Set<string | null>();
  for (let user = 0; user < 12; user += 1) {
    const seen = new Set<string | null>();
    for (let n = 0; n < 4; n += 1) {
      const response = await chat(gateway, {
        model: "sticky",
        messages: MESSAGES,
        user: `user-${user}`,
      });
      await response.text();
      seen.add(response.headers.get("x-sluice-provider"));
    }
    expect(seen.size).toBe(1);
    for (const target of seen) targets.add(target);
  }
  expect(targets).toEqual(new Set(["left", "right"]));
});

it(`${ABORTS} clients in a row that leave do not open the breaker, and leave nothing in flight`, async () => {
  const text = "word ".repeat(400);
  left.script(({ parsed }) => ({
    kind: "reply",
    text,
    eventDelayMs: 5,
    delayMs: parsed?.["stream"] === true ? 20 : 5_000,
    // A client that is late to leave finds no reply that has ended.
    fault: { kind: "hang", after: 50 },
  }));
  for (let n = 0; n < ABORTS; n += 1) {
    const leaving = new AbortController();
    const user = `leaver-${n}`;
    const body = { model: "aborts", messages: MESSAGES, stream: n % 3 !== 0, user };
    const outcome = chat(gateway, body, { signal: leaving.signal })
      .then((response) => response.text())
      .catch((error: unknown) => error);
    await left.waitFor(({ parsed }) => parsed?.["user"] === user);
    await pause(n % 3 === 2 ? 40 : 1);
    leaving.abort();
    await outcome;
  }
  const found = await settled("left/aborts");
  expect(found).toMatchObject({
    health: "healthy",
    breaker: "closed",
    attempts: { failure: 0, other: ABORTS },
  });
  left.script({ kind: "reply" });
  expect(await send({ model: "aborts" })).toBe(200);
});

it("a target takes as many requests as it may, queues as many as it says, and refuses the rest", async () => {
  left.script({ kind: "reply", delayMs: 1_000 });
  const statuses = await Promise.all(Array.from({ length: 4 }, () => send({ model: "narrow" })));
  expect(statuses.toSorted()).toEqual([200, 200, 503, 503]);
  left.script({ kind: "reply", delayMs: 6_000 });
  const late = await Promise.all([send({ model: "narrow" }), send({ model: "narrow" })]);
  expect(late.toSorted()).toEqual([200, 503]);
  expect(await settled("left/narrow")).toMatchObject({ queued: 0 });
});
