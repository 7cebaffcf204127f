/**
 * Shared state on a Redis Cluster whose slots move, whose replicas die and whose master is killed.
 * The nodes are the test's own. Skipped by name without `redis-server`.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StateDriver, StateGroup } from "@sluice/contract";
import redis, { type RedisConfig } from "@sluice/shared-redis";
import { budget, fakeClock, fakeLog, freshId, inGroup, window } from "@sluice/testing";
import { slotOf, tagText } from "../../../plugins/shared-redis/src/servers/slots.ts";
import { eventually } from "../support/eventually.ts";
import {
  type ClusterNode,
  type RedisCluster,
  redisCli,
  startCluster,
} from "./redis-cluster.fixture.ts";
import { hasRedisServer, redisServers, type RedisServers } from "./redis-servers.fixture.ts";

const LEASE_MS = 60_000;

let servers: RedisServers;
let cluster: RedisCluster;
let driver: StateDriver;

async function started(cluster: readonly string[]): Promise<StateDriver> {
  const config: RedisConfig = {
    cluster,
    prefix: "{sluice}:",
    command_timeout: "5s",
    connect_timeout: "5s",
    max_entry: "64kb",
  };
  const made = redis.create(config, { log: fakeLog([]), clock: fakeClock() });
  await made.start(AbortSignal.timeout(10_000));
  return made;
}

/** A group whose slot is at a node, and that slot. */
function groupAt(node: ClusterNode): { readonly group: StateGroup; readonly slot: number } {
  const own = redisCli(cluster.masters[0]!.port, "CLUSTER", "NODES")
    .split("\n")
    .find((line) => line.startsWith(node.id))!;
  const ranges = [...own.matchAll(/ (\d+)(?:-(\d+))?(?= |$)/g)].slice(-1);
  const [from, to] = [Number(ranges[0]![1]), Number(ranges[0]![2] ?? ranges[0]![1])];
  for (let number = 0; ; number += 1) {
    const name = `organization:${freshId()}-${number}`;
    const slot = slotOf(name);
    if (slot >= from && slot <= to) return { group: { name, order: 0 }, slot };
  }
}

if (!hasRedisServer) console.info("skipped: a cluster of Redis, as there is no redis-server");

describe.skipIf(!hasRedisServer)("a Redis Cluster", () => {
  beforeAll(async () => {
    servers = redisServers();
    cluster = await startCluster(servers, { hasReplicas: true });
    driver = await started(cluster.addresses.slice(0, 1));
  });
  afterAll(async () => {
    await driver?.stop();
    await servers.dispose();
  });

  it("has the slots where the driver expects them", () => {
    const [{ port }] = cluster.masters as [ClusterNode];
    const tags = ["a", "organization:acme", "key:ключ", "braces}{", "50%}", "\u{1f600}"].map(
      tagText,
    );
    const asked = tags.map((tag) => redisCli(port, "CLUSTER", "KEYSLOT", `sluice:{${tag}}:b:x`));
    expect(tags.map(slotOf)).toEqual(asked.map(Number));
  });

  it("decides exactly while the slot of a budget moves, and moves again", async () => {
    const [one, two] = cluster.masters as [ClusterNode, ClusterNode];
    const { group, slot } = groupAt(one);
    const [key, other] = [freshId(), freshId()];
    const claims = [
      inGroup(group, budget(key, 20_000, 100)),
      inGroup(group, window(other, 1_000_000)),
    ];
    const second = await started(cluster.addresses.slice(1, 2));
    await driver.seed(key, 0, { group });
    const moves = { isOver: false };
    let granted = 0;
    const failures: string[] = [];
    const load = [driver, second].map(async (state) => {
      while (!moves.isOver || granted < 200) {
        const id = freshId();
        try {
          const { outcome } = await state.take({ id, claims }, LEASE_MS);
          if (outcome === "refused") return;
          if (outcome === "unseeded") {
            // The other node has another run id: the spend is read from the ledger again.
            await state.seed(key, 0, { group });
            continue;
          }
          granted += 1;
          await state.settle({ id, claims });
        } catch (error) {
          failures.push(String(error));
        }
        await sleep(15);
      }
    });
    for (let round = 0; round < 4; round += 1) {
      cluster.moveSlot(slot, one, two);
      cluster.moveSlot(slot, two, one);
    }
    moves.isOver = true;
    await Promise.all(load);
    expect(failures).toEqual([]);
    expect(granted).toBe(200);
    const [[money], [rate]] = await Promise.all([
      driver.read([key], group),
      second.read([other], group),
    ]);
    expect(money).toMatchObject({ spentNanoUsd: 20_000, reservedNanoUsd: 0 });
    // Windows are six seconds long here.
    expect(rate?.windowUsed).toBeGreaterThan(0);
    await second.stop();
  });

  it("goes on without a replica", async () => {
    const { group } = groupAt(cluster.masters[0]!);
    await cluster.replicas[2]!.server.kill();
    for (let at = 0; at < 20; at += 1) {
      const claims = [inGroup(group, window("replica", 1_000))];
      expect((await driver.take({ id: freshId(), claims }, LEASE_MS)).outcome).toBe("granted");
    }
  });

  it("reports a killed master at once, and has its keys at the replica", async () => {
    const lost: string[] = [];
    driver.watch?.((reason) => lost.push(String(reason)));
    const [dead, alive] = [cluster.masters[0]!, cluster.masters[1]!];
    const [of, elsewhere] = [groupAt(dead).group, groupAt(alive).group];
    const claim = inGroup(of, budget("killed", 1_000, 100));
    await driver.seed("killed", 300, { group: of });
    const life = driver.life;
    const id = freshId();
    expect((await driver.take({ id, claims: [claim] }, LEASE_MS)).outcome).toBe("granted");
    const replicaOf = (node: ClusterNode) => cluster.replicas[cluster.masters.indexOf(node)]!;
    const written = redisCli(dead.port, "INFO", "replication").match(
      /master_repl_offset:(\d+)/,
    )![1];
    await eventually(
      "the replica",
      () =>
        redisCli(replicaOf(dead).port, "INFO", "replication").includes(
          `slave_repl_offset:${written}`,
        ) ||
        Number(
          /slave_repl_offset:(\d+)/.exec(
            redisCli(replicaOf(dead).port, "INFO", "replication"),
          )?.[1],
        ) >= Number(written),
    );
    await dead.server.kill();
    await eventually("the report", () => lost.length > 0);
    await expect(driver.probe?.()).rejects.toThrow(/Redis|ECONNREFUSED/);
    await expect(driver.take({ id: freshId(), claims: [claim] }, LEASE_MS)).rejects.toThrow(
      /Redis|ECONNREFUSED/,
    );
    const there = [inGroup(elsewhere, window("elsewhere", 1_000))];
    expect((await driver.take({ id: freshId(), claims: there }, LEASE_MS)).outcome).toBe("granted");
    await eventually("the new master", async () => {
      try {
        await driver.probe?.();
        return true;
      } catch {
        return false;
      }
    });
    expect(driver.life).not.toBe(life);
    const again = { id: freshId(), claims: [claim] };
    expect((await driver.take(again, LEASE_MS)).outcome).toBe("unseeded");
    // A ledger that has less than the copy: the copy counts.
    await driver.seed("killed", 0, { group: of });
    expect((await driver.read(["killed"], of))[0]).toMatchObject({
      spentNanoUsd: 300,
      reservedNanoUsd: 100,
    });
    await driver.settle({ id, claims: [claim] });
    expect((await driver.read(["killed"], of))[0]).toMatchObject({
      spentNanoUsd: 400,
      reservedNanoUsd: 0,
    });
  });
});
