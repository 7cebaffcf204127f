/**
 * CPU of a chat request: a gateway on PostgreSQL and Redis beside one on SQLite and memory, the same
 * limits in both, in turns. And what the request costs the two servers.
 */

import { setTimeout as pause } from "node:timers/promises";
import { cpuMs } from "../../bench/process-cost.ts";
import { median } from "../../bench/statistics.ts";
import { type GatewayProcess, startOwnProcess } from "../../system/support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../../system/support/workspace.ts";
import { startRedis } from "../fleet/redis.ts";
import { startUpstream, type Truth } from "../fleet/upstream.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import type { Goals } from "./goals.ts";

const LOCAL = "127.0.0.1";
const KEY = "sk-of-the-proof-of-cost-0123456789abcdef";
const LIMITS =
  "rpm: 1000000000, tpm: 1000000000, max_parallel: 1000000, max_budget: 8000000, budget_duration: 1mo";
const ROUNDS = 12;
const REQUESTS = 1_000;
const CLIENTS = 32;
/** The rows of a round reach the store within this time, and count in it. */
const ROWS_MS = 500;
const MAX_QUOTIENT = 1.25;

/** Measures both gateways. */
export async function proveCost(cluster: PostgresCluster, goals: Goals): Promise<void> {
  const [redis, upstream] = await Promise.all([startRedis(), startUpstream([LOCAL])]);
  await cluster.query("create database cost");
  const places = [
    { postgres: undefined, shared: "" },
    {
      postgres: "",
      shared: 'shared: { use: redis, url: "${env:REDIS_URL}", instances: 3 }\n',
    },
  ];
  const environment = {
    DATABASE_URL: cluster.url("cost"),
    REDIS_URL: `redis://${LOCAL}:${redis.port}`,
    OPENAI_API_KEY: "sk-upstream",
    LIMITED_KEY: KEY,
  };
  const gateways: GatewayProcess[] = [];
  try {
    for (const place of places) {
      // oxlint-disable-next-line no-await-in-loop -- one start after the other.
      gateways.push(await startOwnProcess(workspaceOf(upstream, place), environment));
    }
    const [alone, fleet] = gateways as [GatewayProcess, GatewayProcess];
    for (const gateway of gateways) await round(gateway);
    const servers = [await cluster.pid(), redis.pid];
    const before = servers.map(cpuMs);
    const rounds: { readonly alone: number; readonly fleet: number }[] = [];
    for (let number = 0; number < ROUNDS; number += 1) {
      // The first of a round is another one in each: what disturbs it disturbs both.
      const first = number % 2 === 0 ? await round(alone) : await round(fleet);
      const second = number % 2 === 0 ? await round(fleet) : await round(alone);
      const [ofAlone, ofFleet] = number % 2 === 0 ? [first, second] : [second, first];
      rounds.push({ alone: ofAlone, fleet: ofFleet });
    }
    const spent = servers.map((pid, at) => cpuMs(pid) - before[at]!);
    const perRequest = spent.map((ms) => Math.round((ms * 1_000) / (ROUNDS * REQUESTS)));
    const of = (name: "alone" | "fleet"): number =>
      Math.round(median(rounds.map((one) => one[name])));
    console.log(
      `      µs of CPU a request: SQLite and memory ${of("alone")}, PostgreSQL and Redis ${of("fleet")}; of the server of PostgreSQL ${perRequest[0]}, of Redis ${perRequest[1]}`,
    );
    const quotient = median(rounds.map(({ alone: one, fleet: other }) => other / one));
    goals.atMost(
      "CPU of a chat request, of that with SQLite and memory",
      quotient,
      MAX_QUOTIENT,
      "",
    );
  } finally {
    for (const gateway of gateways) await gateway.dispose();
    await upstream.close();
    await redis.remove();
  }
}

interface Place {
  readonly postgres: string | undefined;
  readonly shared: string;
}

function workspaceOf({ port }: Truth, { postgres, shared }: Place): Workspace {
  const options = {
    baseUrl: `http://${LOCAL}:${port}/v1`,
    ...(postgres !== undefined && { postgres }),
    models: [
      "{ id: chat, targets: [{ provider: openai, model: chat, price: { input: 1, output: 1 } }] }",
    ],
  };
  const workspace = createWorkspace(options);
  const keys = `keys:\n  - { alias: limited, key: "\${env:LIMITED_KEY}", ${LIMITS} }\n`;
  workspace.write(`${workspace.config(options)}${shared}${keys}`);
  return workspace;
}

/** Sends the requests of a round. Returns the microseconds of CPU of each. */
async function round(gateway: GatewayProcess): Promise<number> {
  const body = JSON.stringify({
    model: "chat",
    max_tokens: 20,
    messages: [{ role: "user", content: "Say something." }],
  });
  const beforeMs = cpuMs(gateway.pid);
  let left = REQUESTS;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body,
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`a request was answered with ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await pause(ROWS_MS);
  return ((cpuMs(gateway.pid) - beforeMs) * 1_000) / REQUESTS;
}
