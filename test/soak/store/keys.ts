/** 1,000,000 keys: look-ups, lists, and the memory of a gateway that has seen many of them. */

import { createHmac, randomBytes } from "node:crypto";
import type { Store } from "@sluice/contract";
import { Client } from "pg";
import { residentMb } from "../../bench/process-cost.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { type Gateways, startGateways, statusOf } from "./gateways.ts";
import { type Goals, quantile, timed } from "./goals.ts";
import { openStore } from "./open-store.ts";

const KEYS = 1_000_000;
const TEAMS = 1_000;
const AT_ONCE = 10_000;
const TIMES = 500;
/** More than a process remembers. */
const WARM_KEYS = 25_000;
const FURTHER_KEYS = 50_000;
const CLIENTS = 16;
const MAX_GROWTH = 1.1;

const secretOf = (index: number): string => `sk-proof-${index}`;
const anyKey = (): number => randomBytes(4).readUInt32LE() % KEYS;

/** Makes the keys, and measures. */
export async function proveKeys(cluster: PostgresCluster, goals: Goals): Promise<void> {
  await cluster.query("create database keys");
  const url = cluster.url("keys");
  const gateways = await startGateways(url, 1);
  const store = await openStore(url);
  try {
    await makeKeys(url, gateways);
    await measureStore(store, goals, gateways.pepper);
    await measureMemory(gateways, goals);
  } finally {
    await store.stop();
    await gateways.stop();
  }
}

const digestOf = (pepper: Buffer, index: number): string =>
  createHmac("sha256", pepper).update(secretOf(index)).digest("hex");

async function makeKeys(url: string, { pepper }: Gateways): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  // Without triggers: what they check is so.
  await client.query("set session_replication_role = replica");
  await client.query(
    `insert into team (id, folded, created_at_ms) select 't' || n, 't' || n, 0 from generate_series(1, ${TEAMS}) n`,
  );
  for (let first = 0; first < KEYS; first += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => first + index);
    await client.query(
      `insert into virtual_key (id, digest, last4, alias, team_id, created_at_ms)
       select 'k' || n, digest, '0000', 'alias ' || n, case when n % 2 = 0 then 't' || 1 + n % ${TEAMS} end, n
       from unnest($1::integer[], $2::text[]) made(n, digest)`,
      [numbers, numbers.map((number) => digestOf(pepper, number))],
    );
  }
  await client.query("vacuum analyze virtual_key");
  await client.end();
}

async function measureStore({ keys }: Store, goals: Goals, pepper: Buffer): Promise<void> {
  const take = async (what: string, goal: number, work: () => Promise<unknown>): Promise<void> => {
    await timed(10, work);
    const found = await timed(TIMES, work);
    goals.atMost(`${what}, p99`, quantile(found, 0.99), goal, "ms");
    console.log(`      p50 ${Math.round(quantile(found, 0.5) * 100) / 100} ms`);
  };
  await take("the look-up of a key", 10, async () => {
    const key = await keys.findByDigest(digestOf(pepper, anyKey()));
    if (key === undefined) throw new Error("a key was not found");
  });
  await take("the look-up of an unknown key", 10, () =>
    keys.findByDigest(randomBytes(32).toString("hex")),
  );
  await take("the keys of a team, a page", 50, () =>
    keys.list({ teamId: `t${1 + (anyKey() % TEAMS)}`, offset: 0, limit: 50 }),
  );
  const { page } = keys;
  let after: string | undefined;
  await take("all keys, page after page", 50, async () => {
    const found = await page({
      limit: 50,
      nowMs: Date.now(),
      ...(after !== undefined && { after }),
    });
    after = found.keys.at(-1)?.cursor;
  });
  await take("keys whose alias begins so, a page", 50, () =>
    page({ limit: 50, nowMs: Date.now(), search: `alias ${anyKey()}`.slice(0, 10) }),
  );
}

async function measureMemory({ all }: Gateways, goals: Goals): Promise<void> {
  const [gateway] = all;
  if (gateway === undefined) return;
  let next = 0;
  const use = async (count: number): Promise<void> => {
    const end = next + count;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < end) {
          const status = await statusOf(gateway, secretOf(next++));
          if (status !== 200) throw new Error(`a key got ${status}`);
        }
      }),
    );
  };
  await use(WARM_KEYS);
  const beforeMb = residentMb(gateway.pid);
  await use(FURTHER_KEYS);
  const afterMb = residentMb(gateway.pid);
  console.log(
    `      ${Math.round(beforeMb)} MB after ${WARM_KEYS} keys, ${Math.round(afterMb)} MB after ${next}`,
  );
  goals.atMost(
    "the memory after more keys, by that before",
    afterMb / beforeMb,
    MAX_GROWTH,
    "times",
  );
}
