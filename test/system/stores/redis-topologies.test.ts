/**
 * Shared state in Redis with TLS and an ACL user, behind Sentinels, and after a restart. The
 * servers are the test's own. Skipped by name without `redis-server`.
 */

import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret, type StateDriver } from "@sluice/contract";
import redis, { type RedisConfig } from "@sluice/shared-redis";
import { budget, fakeClock, fakeLog, freshId, sharedStateContract, slot } from "@sluice/testing";
import { eventually } from "../support/eventually.ts";
import { startCluster } from "./redis-cluster.fixture.ts";
import {
  freePort,
  hasRedisServer,
  makeCertificates,
  type RedisServer,
  redisServers,
  type RedisServers,
} from "./redis-servers.fixture.ts";

const LEASE_MS = 60_000;
const PASSWORD = "the-password-of-the-topology-tests";
const secret = (text: string): Secret => new Secret("TEST_REDIS", text);
/** The commands that suffice, and the keys of the prefix. */
const ACL =
  `user sluice on >${PASSWORD} ~{sluice}:* -@all +evalsha +eval +info +ping +select +get +set +del +exists` +
  " +scan +time +pttl +pexpire +incrby +hset +hsetnx +hget +hmget +hgetall +hdel +hexists +hincrby" +
  " +zadd +zrem +zcard +zrange +zrangebyscore +zremrangebyscore";

function driverOf(options: Partial<RedisConfig>): StateDriver {
  const config = {
    prefix: "{sluice}:",
    command_timeout: "5s",
    connect_timeout: "5s",
    max_entry: "64kb",
    ...options,
  };
  expect(redis.check?.(config as RedisConfig)).toEqual([]);
  return redis.create(config as RedisConfig, { log: fakeLog([]), clock: fakeClock() });
}

async function started(options: Partial<RedisConfig>): Promise<StateDriver> {
  const driver = driverOf(options);
  await driver.start(AbortSignal.timeout(10_000));
  return driver;
}

/** Why a start fails. */
async function refusalOf(options: Partial<RedisConfig>): Promise<string> {
  const driver = driverOf(options);
  try {
    await driver.start(AbortSignal.timeout(10_000));
    return "no failure";
  } catch (error) {
    return String(error);
  } finally {
    await driver.stop();
  }
}

function contractOn(name: string, options: () => Partial<RedisConfig>): void {
  sharedStateContract({ describe, it, expect }, name, async () => {
    const [state, second] = [await started(options()), await started(options())];
    open.push(state, second);
    return { state, second, wait: async (ms) => void (await sleep(ms)), tooManyBytes: 65_537 };
  });
}

const open: StateDriver[] = [];
let servers: RedisServers;

if (!hasRedisServer) console.info("skipped: topologies of Redis, as there is no redis-server");

describe.skipIf(!hasRedisServer)("Redis of several kinds", () => {
  let secure: Partial<RedisConfig>;
  let plain: RedisServer;
  let master: RedisServer;
  let replica: RedisServer;
  let ofSentinels: Partial<RedisConfig>;
  let ofCluster: Partial<RedisConfig>;

  beforeAll(async () => {
    servers = redisServers();
    const files = makeCertificates(servers.folder);
    const tlsPort = await freePort();
    const tls = await servers.start(
      [
        "port 0",
        `tls-port ${tlsPort}`,
        `tls-cert-file ${files.server.cert}`,
        `tls-key-file ${files.server.key}`,
        `tls-ca-cert-file ${files.ca}`,
        "user default off",
        ACL,
      ],
      { port: tlsPort },
    );
    secure = {
      url: secret(`rediss://127.0.0.1:${tls.port}/0`),
      username: "sluice",
      password: secret(PASSWORD),
      tls: { ca: files.ca, ...files.client, server_name: "redis.test" },
    };
    plain = await servers.start(["maxmemory-policy noeviction", "requirepass other"]);
    master = await servers.start([]);
    replica = await servers.start([`replicaof 127.0.0.1 ${master.port}`]);
    const sentinels = await Promise.all(
      [1, 2, 3].map(() =>
        servers.start(
          [
            `sentinel monitor main 127.0.0.1 ${master.port} 2`,
            "sentinel down-after-milliseconds main 1000",
            "sentinel failover-timeout main 5000",
          ],
          { isSentinel: true },
        ),
      ),
    );
    const cluster = await startCluster(servers);
    ofCluster = { cluster: cluster.addresses };
    ofSentinels = { sentinels: sentinels.map(({ port }) => `127.0.0.1:${port}`), master: "main" };
  });

  afterAll(async () => {
    for (const driver of open) await driver.stop();
    await servers.dispose();
  });

  contractOn("redis with TLS and an ACL user", () => secure);
  contractOn("redis behind Sentinels", () => ofSentinels);
  contractOn("redis as a cluster of three", () => ofCluster);

  it("says what a start lacks", async () => {
    const url = secret(`redis://127.0.0.1:${plain.port}`);
    expect(await refusalOf({ url })).toContain("NOAUTH");
    const wrong = await refusalOf({ url, password: secret("wrong-password-of-the-test") });
    expect(wrong).toContain("Redis refuses the user name or the password");
    expect(wrong).not.toContain("wrong-password-of-the-test");
    expect(await refusalOf({ ...secure, tls: {} })).toMatch(/certificate|self.signed/i);
    expect(await refusalOf({ ...ofSentinels, master: "other" })).toContain("knows no master other");
  });

  it("does not believe the spend of a copy after a restart, and never less than the copy says", async () => {
    const folder = servers.folder;
    const lines = ["appendonly no", "dbfilename restart.rdb", `dir ${folder}`];
    const first = await servers.start(lines);
    const options = { url: secret(`redis://127.0.0.1:${first.port}`) };
    const driver = await started(options);
    const claim = budget("restart", 1_000, 100);
    await driver.seed("restart", 500);
    const { port } = first;
    execFileSync("redis-cli", ["-p", String(port), "SAVE"]);
    // What is settled after the copy is lost with the server; the ledger has it.
    const id = freshId();
    expect((await driver.take({ id, claims: [claim] }, LEASE_MS)).outcome).toBe("granted");
    await driver.settle({ id, claims: [claim] });
    await first.kill();
    await servers.start(lines, { port });
    const asked = async () => {
      try {
        return (await driver.take({ id: freshId(), claims: [claim] }, LEASE_MS)).outcome;
      } catch {
        return "away";
      }
    };
    await eventually("the driver on the new server", async () => (await asked()) === "unseeded");
    await driver.seed("restart", 600);
    expect((await driver.read(["restart"]))[0]?.spentNanoUsd).toBe(600);
    await driver.stop();
  });

  it("follows a failover: a settled cost is not lost, and no budget restarts at 0", async () => {
    const driver = await started(ofSentinels);
    const claim = budget("failover", 1_000, 100);
    await driver.seed("failover", 300);
    expect((await driver.take({ id: freshId(), claims: [claim] }, LEASE_MS)).outcome).toBe(
      "granted",
    );
    // A redis-cli of its own cannot wait for another connection's writes.
    const replicated = (): string =>
      execFileSync(
        "redis-cli",
        ["-p", String(replica.port), "HGET", "{sluice}:b:failover", "reserved"],
        {
          encoding: "utf8",
        },
      ).trim();
    await eventually("the replica", () => replicated() === "100");
    await master.kill();
    const failures: string[] = [];
    await eventually(
      "the new master",
      async () => {
        try {
          const result = await driver.take({ id: freshId(), claims: [claim] }, LEASE_MS);
          return result.outcome === "unseeded";
        } catch (error) {
          failures.push(String(error));
          return false;
        }
      },
      60_000,
    );
    // A ledger that has less than the copy: the copy counts.
    await driver.seed("failover", 0);
    expect((await driver.read(["failover"]))[0]).toMatchObject({
      spentNanoUsd: 300,
      reservedNanoUsd: 100,
    });
    expect(
      (await driver.take({ id: freshId(), claims: [slot("after", 1)] }, LEASE_MS)).outcome,
    ).toBe("granted");
    console.info(`failover: ${failures.length} calls failed meanwhile`);
    await driver.stop();
  });
});
