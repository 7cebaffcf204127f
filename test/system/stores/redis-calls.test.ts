/**
 * Calls of Redis for each request: one before the body is answered, one after it. The server is the
 * test's own. Skipped by name without `redis-server`.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";
import { redisCli } from "./redis-cluster.fixture.ts";
import { hasRedisServer, redisServers, type RedisServers } from "./redis-servers.fixture.ts";

const PRICE = "price: { input: 0, output: 0, request: 0.01 }";
const REQUESTS = 20;

let servers: RedisServers;
let port: number;
let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

const ask = (key: string, body: string | object = {}, type = "application/json") =>
  chat(
    gateway,
    typeof body === "string" ? body : { model: "gpt-4o-mini", messages: MESSAGES, ...body },
    { headers: { authorization: `Bearer ${key}`, "content-type": type } },
  );
const statusOf = async (...parts: Parameters<typeof ask>): Promise<number> => {
  const answer = await ask(...parts);
  await answer.text();
  return answer.status;
};
/** Scripts that the server has run. */
const scripts = (): number =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(redisCli(port, "INFO", "commandstats"))?.[1] ?? 0);
/** What is used of the windows of requests, in the order of their names. */
const used = (): number[] =>
  redisCli(port, "KEYS", "{sluice}:v:requests:*")
    .split("\n")
    .toSorted()
    .map((name) => Number(redisCli(port, "HGET", name, "u")));
const reserved = (): string[] =>
  redisCli(port, "KEYS", "{sluice}:b:*")
    .split("\n")
    .map((name) => redisCli(port, "HGET", name, "reserved"));

if (!hasRedisServer) console.info("skipped: calls of Redis, as there is no redis-server");

describe.skipIf(!hasRedisServer)("calls of Redis", () => {
  beforeAll(async () => {
    servers = redisServers();
    ({ port } = await servers.start([]));
    upstream = await createUpstream();
    const options = {
      baseUrl: upstream.baseUrl,
      attempts: 1,
      models: [
        `{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini, ${PRICE} }] }`,
      ],
    };
    workspace = createWorkspace(options);
    const shared = 'shared: { use: redis, url: "${env:TEST_REDIS_URL}", command_timeout: 5s }\n';
    workspace.write(`${workspace.config(options)}${shared}`);
    gateway = await startGateway(workspace, { TEST_REDIS_URL: `redis://127.0.0.1:${port}` });
  });
  beforeEach(() => {
    redisCli(port, "FLUSHALL");
    upstream.reset();
  });
  afterAll(async () => {
    await gateway?.dispose();
    workspace?.remove();
    await upstream?.close();
    await servers.dispose();
  });

  it("are two for a request: one decides, one settles", async () => {
    const { key } = await createKey(gateway, {
      rpm_limit: 1_000,
      tpm_limit: 1_000_000,
      max_parallel_requests: 100,
      max_budget: 100,
    });
    expect(await statusOf(key)).toBe(200);
    const before = scripts();
    for (let sent = 0; sent < REQUESTS; sent += 1) expect(await statusOf(key)).toBe(200);
    await eventually("the settlements", () => reserved().every((amount) => amount === "0"));
    const calls = (scripts() - before) / REQUESTS;
    console.info(`Redis: ${calls} calls for a request with a window, slots, tokens and a budget`);
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThanOrEqual(2);
  });

  it("are fewer than one for each of many requests at once", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 1_000, max_budget: 100 });
    expect(await statusOf(key)).toBe(200);
    const before = scripts();
    const statuses = await Promise.all(Array.from({ length: 200 }, () => statusOf(key)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await eventually("the settlements", () => reserved().every((amount) => amount === "0"));
    const calls = (scripts() - before) / 200;
    console.info(`Redis: ${calls.toFixed(2)} calls for each of 200 requests at once`);
    expect(calls).toBeLessThan(2);
    expect(used()).toEqual([201]);
  });

  it("count a request whose body, model or budget is refused, and then refuse before the body", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 4, max_budget: 0.01 });
    expect(await statusOf(key)).toBe(200);
    expect(await statusOf(key, "{")).toBe(400);
    expect(await statusOf(key, { model: "unknown" })).toBe(404);
    const spent = await ask(key);
    expect([spent.status, await spent.text()]).toEqual([429, expect.stringContaining("budget")]);
    await eventually("the count", () => used()[0] === 4);
    // The window is full: a body that no JSON reader takes is not read.
    expect(await statusOf(key, "{")).toBe(429);
    expect(upstream.requests).toHaveLength(1);
  });

  it("hold a slot from the entry to the end", async () => {
    const { key } = await createKey(gateway, { max_parallel_requests: 1, max_budget: 1 });
    upstream.script("gpt-4o-mini", { kind: "reply", delayMs: 500 });
    const statuses = await Promise.all([statusOf(key), statusOf(key), statusOf(key)]);
    expect(statuses.toSorted()).toEqual([200, 429, 429]);
    await eventually("the slot", async () => (await statusOf(key)) === 200);
  });
});
