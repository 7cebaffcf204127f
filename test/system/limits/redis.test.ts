/**
 * Limits of two gateways on one Redis, and of one whose Redis goes away under load. Skipped by name
 * where no Redis answers.
 */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { type Proxy, startProxy } from "../../../plugins/shared-redis/src/proxy.fixture.ts";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const hasRedis = await redisAnswers();
const PREFIX = `{sluice-limits-${randomUUID()}}:`;
/** Alias and limits of each declared key. */
const KEYS = {
  "two-budgets": "max_budget: 2",
  "two-windows": "rpm: 100",
  killed: "max_budget: 2",
};
const keyOf = (alias: string) => `sk-of-the-limits-tests-${alias}-0123456789abcdef`;
const ENVIRONMENT = Object.fromEntries(
  Object.keys(KEYS).map(
    (alias) => [alias.toUpperCase().replaceAll("-", "_"), keyOf(alias)] as const,
  ),
);

let upstream: Upstream;
let proxy: Proxy;
const workspaces: Workspace[] = [];
const gateways: GatewayProcess[] = [];

/** A gateway with these keys, its state in the Redis at `url`. */
async function gatewayOn(url: string, instances: number): Promise<GatewayProcess> {
  const options = {
    baseUrl: upstream.baseUrl,
    attempts: 1,
    models: [
      "{ id: chat, targets: [{ provider: openai, model: chat, price: { input: 0, output: 0, request: 0.01 } }] }",
    ],
  };
  const workspace = createWorkspace(options);
  workspaces.push(workspace);
  const keys = Object.entries(KEYS).map(
    ([alias, limits]) =>
      `  - { alias: ${alias}, key: "\${env:${alias.toUpperCase().replaceAll("-", "_")}}", ${limits} }\n`,
  );
  // A thousand requests at once on few cores keep Redis itself waiting for a processor: that is not
  // what is asked here.
  const shared = `shared: { use: redis, url: "\${env:TEST_REDIS_URL}", prefix: "${PREFIX}", instances: ${instances}, command_timeout: 5s }\n`;
  workspace.write(`${workspace.config(options)}${shared}keys:\n${keys.join("")}`);
  const gateway = await startGateway(workspace, { ...ENVIRONMENT, TEST_REDIS_URL: url });
  gateways.push(gateway);
  return gateway;
}

async function statusOf(gateway: GatewayProcess, alias: string): Promise<number> {
  const response = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keyOf(alias)}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", messages: MESSAGES, max_tokens: 5 }),
  });
  await response.arrayBuffer();
  return response.status;
}

function countOf(statuses: readonly number[], wanted: number): number {
  return statuses.filter((status) => status === wanted).length;
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

if (!hasRedis) console.info("skipped: limits on Redis, as none answers on 127.0.0.1:6379");

describe.skipIf(!hasRedis)("limits on Redis", () => {
  beforeAll(async () => {
    [upstream, proxy] = await Promise.all([createUpstream(), startProxy()]);
    const url = `redis://${REDIS.host}:${REDIS.port}/9`;
    await Promise.all([gatewayOn(url, 2), gatewayOn(url, 2), gatewayOn(proxy.url, 1)]);
  });
  beforeEach(() => upstream.reset());
  afterAll(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.dispose()));
    for (const workspace of workspaces.splice(0)) workspace.remove();
    await Promise.all([upstream?.close(), proxy?.close()]);
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  it("a budget for 200 calls lets 200 of 1,000 at once through, over two gateways", async () => {
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, (_, call) =>
        statusOf(gateways[call % 2] as GatewayProcess, "two-budgets"),
      ),
    );
    console.info(`two gateways, budget for 200: ${upstream.requests.length} dispatched`);
    expect([upstream.requests.length, countOf(statuses, 200), countOf(statuses, 429)]).toEqual([
      200, 200, 800,
    ]);
  });

  it("a window of 100 lets 100 of 300 through, over two gateways", async () => {
    const statuses = await Promise.all(
      Array.from({ length: 300 }, (_, call) =>
        statusOf(gateways[call % 2] as GatewayProcess, "two-windows"),
      ),
    );
    console.info(`two gateways, 100 a minute: ${countOf(statuses, 200)} admitted`);
    expect(countOf(statuses, 200) + countOf(statuses, 429)).toBe(300);
    expect(Math.abs(countOf(statuses, 200) - 100)).toBeLessThanOrEqual(2);
  });

  it("a Redis that dies under load fails no request, and no more is spent", async () => {
    const statuses: number[] = [];
    const tookMs = {
      "with Redis": [] as number[],
      dying: [] as number[],
      alone: [] as number[],
      "after it": [] as number[],
    };
    for (let batch = 0; batch < 12; batch += 1) {
      const phase =
        batch < 2 ? "with Redis" : batch === 2 ? "dying" : batch < 8 ? "alone" : "after it";
      const calls = Array.from({ length: 40 }, async () => {
        const startedMs = performance.now();
        const status = await statusOf(gateways[2] as GatewayProcess, "killed");
        tookMs[phase].push(performance.now() - startedMs);
        return status;
      });
      if (batch === 2) proxy.die();
      if (batch === 8) proxy.mend();
      statuses.push(...(await Promise.all(calls)));
    }
    const p99s = Object.entries(tookMs).map(([phase, all]) => `${phase} ${Math.round(p99(all))}`);
    console.info(
      `Redis killed under load: ${upstream.requests.length} of 200 dispatched, ${countOf(statuses, 429)} refused; p99 ms: ${p99s.join(", ")}`,
    );
    expect(countOf(statuses, 200) + countOf(statuses, 429)).toBe(480);
    expect([upstream.requests.length, countOf(statuses, 200)]).toEqual([200, 200]);
  });

  it("a gateway of several that starts without Redis is not ready until Redis answers", async () => {
    proxy.die();
    const gateway = await gatewayOn(proxy.url, 2);
    const ready = async (): Promise<number> =>
      (await fetch(`${gateway.publicUrl}/health/ready`)).status;
    expect([await ready(), await statusOf(gateway, "two-budgets")]).toEqual([503, 503]);
    proxy.mend();
    await eventually("Redis", async () => (await ready()) === 200);
  });
});
