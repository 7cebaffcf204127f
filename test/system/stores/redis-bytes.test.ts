/**
 * Stored replies of one key in a Redis that all share: what they need of its memory and of the
 * connection leaves limits and budgets of others alone.
 */

import { randomUUID } from "node:crypto";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Proxy, startProxy } from "../../../plugins/shared-redis/src/proxy.fixture.ts";
import { adminCommand, redisAnswers } from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { chat, createKey } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startOwnProcess } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";
import { hasRedisServer, type RedisServers, redisServers } from "./redis-servers.fixture.ts";

/** Replies of 400 KB that one key has stored: more than the memory of the server. */
const REPLIES = 40;
const REPLY_BYTES = 400_000;
const MEMORY = "12mb";
const PREFIX = `{sluice-bytes-${randomUUID()}}:`;

let upstream: Upstream;
const gateways: GatewayProcess[] = [];

async function gatewayOn(url: string): Promise<GatewayProcess> {
  const shared = `shared: { use: redis, url: "${url}", prefix: "${PREFIX}", instances: 2, command_timeout: 2s }`;
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl, attempts: 1, sections: [shared] });
  const gateway = await startOwnProcess(workspace);
  gateways.push(gateway);
  return gateway;
}

async function ask(
  gateway: GatewayProcess,
  key: string,
  body: { readonly model: string; readonly content: string; readonly caching?: boolean },
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { content, ...more } = body;
  const answer = await chat(
    gateway,
    { ...more, messages: [{ role: "user", content }] },
    { headers: { authorization: `Bearer ${key}`, ...headers } },
  );
  await answer.text();
  return answer.status;
}

const limited = { rpm: 1_000, max_budget: 100 };
const small = { model: "gpt-4o-mini", content: "small" };
const large = (number: number) => ({ model: "gpt-4o", content: `large ${number}` });

describe.skipIf(!hasRedisServer)("a Redis that one key fills", () => {
  let servers: RedisServers;
  beforeAll(async () => {
    servers = redisServers();
    upstream = await createUpstream();
    upstream.script("gpt-4o", { kind: "reply", text: "x".repeat(REPLY_BYTES) });
  });
  afterAll(async () => {
    for (const gateway of gateways.splice(0)) await gateway.dispose();
    await servers?.dispose();
    await upstream?.close();
  });

  for (const kind of ["cache", "repeats"] as const)
    it(`decides about the limits of others: ${kind}`, async () => {
      const { port } = await servers.start([`maxmemory ${MEMORY}`]);
      const gateway = await gatewayOn(`redis://127.0.0.1:${port}/0`);
      const other = await createKey(gateway, limited);
      const { key } = await createKey(gateway, {});
      for (let number = 0; number < REPLIES; number += 1) {
        const headers = kind === "repeats" ? { "idempotency-key": `k${number}` } : {};
        const body = { ...large(number), caching: kind === "cache" };
        expect(await ask(gateway, key, body, headers)).toBe(200);
        expect(await ask(gateway, other.key, small)).toBe(200);
      }
      expect(gateway.stderr).not.toContain("shared state is away");
    });
});

describe.skipIf(!(await redisAnswers()))("a connection that one key's bytes fill", () => {
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await startProxy();
    upstream = await createUpstream();
    upstream.script("gpt-4o", { kind: "reply", text: "x".repeat(REPLY_BYTES) });
  });
  afterAll(async () => {
    for (const gateway of gateways.splice(0)) await gateway.dispose();
    await proxy?.close();
    await upstream?.close();
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  it("is not that of decisions", async () => {
    const gateway = await gatewayOn(proxy.url);
    const other = await createKey(gateway, limited);
    const { key } = await createKey(gateway, {});
    const calls = proxy.opened;
    proxy.stall(30_000);
    expect(await ask(gateway, key, { ...large(1), caching: true })).toBe(200);
    // The stalled connection is given up; decisions went on meanwhile.
    await eventually("another connection", async () => {
      expect(await ask(gateway, other.key, small)).toBe(200);
      return proxy.opened > calls;
    });
    expect(gateway.stderr).not.toContain("shared state is away");
    proxy.mend();
    await eventually("an entry", async () => {
      const before = upstream.requests.length;
      expect(await ask(gateway, key, { ...large(2), caching: true })).toBe(200);
      return upstream.requests.length === before;
    });
  });
});
