/** A key that is blocked at one gateway is refused by all others within a second, always. */

import { setTimeout as pause } from "node:timers/promises";
import { admin, createKey } from "../../system/support/client.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { statusOf, startGateways } from "./gateways.ts";
import { type Goals, quantile } from "./goals.ts";

const TRIES = 200;
const GATEWAYS = 3;
const ASK_EVERY_MS = 5;
const MAX_MS = 5_000;

/** Measures with notifications, and without. */
export async function proveRevocation(cluster: PostgresCluster, goals: Goals): Promise<void> {
  // With a pooler no process listens for notifications.
  for (const [how, database, options] of [
    ["with notifications", "woken", ""],
    ["with the notifier dead", "polled", "pooler: transaction"],
  ] as const) {
    await cluster.query(`create database ${database}`);
    const gateways = await startGateways(cluster.url(database), GATEWAYS, options);
    try {
      const found = await tries(gateways.all);
      console.log(`      ${how}: p50 ${quantile(found, 0.5)} ms, p99 ${quantile(found, 0.99)} ms`);
      goals.atMost(`the longest of ${TRIES} revocations ${how}`, Math.max(...found), 1_000, "ms");
    } finally {
      await gateways.stop();
    }
  }
}

type Gateway = Awaited<ReturnType<typeof startGateways>>["all"][number];

async function tries(gateways: readonly Gateway[]): Promise<readonly number[]> {
  const found: number[] = [];
  for (let index = 0; index < TRIES; index++) {
    const at = gateways[index % gateways.length] as Gateway;
    const { key, token_id: id } = await createKey(at, {});
    const before = await Promise.all(gateways.map((gateway) => statusOf(gateway, key)));
    if (before.some((status) => status !== 200)) throw new Error(`a new key got ${before.join()}`);
    // The key is in use when it is blocked, at another moment of the interval each time.
    await pause(Math.random() * 500);
    const blocked = await admin(at, "/key/block", { key: id });
    if (!blocked.ok)
      throw new Error(`POST /key/block answered ${blocked.status}: ${at.stderr.slice(-2_000)}`);
    const startMs = performance.now();
    await Promise.all(gateways.map((gateway) => refusal(gateway, key)));
    found.push(Math.round(performance.now() - startMs));
  }
  return found;
}

async function refusal(gateway: Gateway, key: string): Promise<void> {
  const untilMs = performance.now() + MAX_MS;
  while ((await statusOf(gateway, key)) !== 401) {
    if (performance.now() > untilMs) return;
    await pause(ASK_EVERY_MS);
  }
}
