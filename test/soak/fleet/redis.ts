/** The Redis of the proof: one server with an append-only file, on a port of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { Secret } from "@sluice/contract";
import redisDriver from "@sluice/shared-redis";
import { fakeClock, fakeLog } from "@sluice/testing";
import { eventually } from "../../system/support/eventually.ts";
import { freePorts } from "../../system/support/free-ports.ts";

/** A budget as Redis has it. */
export interface Counter {
  /** The key of the counter, without prefix. */
  readonly key: string;
  /** `undefined`: the next request reads it from the ledger. */
  readonly spent: number | undefined;
  readonly reserved: number;
}

/** A Redis that can be stopped. */
export interface ProofRedis {
  readonly port: number;
  /** The process of the running server. */
  readonly pid: number;
  start(): Promise<void>;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  counters(prefix: string): Promise<Counter[]>;
  remove(): Promise<void>;
}

/** Starts a Redis. */
export async function startRedis(): Promise<ProofRedis> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-fleet-redis-"));
  const port = Number((await freePorts()).SLUICE_PORT);
  let server: ChildProcess | undefined;
  const ask = async <T>(run: (send: (...parts: string[]) => Promise<unknown>) => Promise<T>) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}` });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return await run((...parts) => client.sendCommand(parts));
    } finally {
      client.destroy();
    }
  };
  const redis: ProofRedis = {
    port,
    get pid() {
      return server?.pid ?? 0;
    },
    async start() {
      const settings = { port, bind: "127.0.0.1", dir: folder, save: "", appendonly: "yes" };
      const words = Object.entries(settings).flatMap(([name, value]) => [
        `--${name}`,
        String(value),
      ]);
      server = spawn("redis-server", words, { stdio: "ignore" });
      await eventually("Redis", () =>
        ask((send) => send("PING")).then(
          () => true,
          () => false,
        ),
      );
    },
    async kill() {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    },
    async counters(prefix) {
      const begin = `${prefix}b:`;
      const names = await ask(async (send) => (await send("KEYS", `${begin}*`)) as string[]);
      return await readCounters(
        port,
        prefix,
        names.map((name) => name.slice(begin.length)),
      );
    },
    async remove() {
      await redis.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}

/** Reads counters as a gateway does: leases that have ended are ended. */
async function readCounters(port: number, prefix: string, keys: string[]): Promise<Counter[]> {
  const config = {
    url: new Secret("url", `redis://127.0.0.1:${port}`),
    prefix,
    command_timeout: "10s",
    connect_timeout: "10s",
    max_entry: "4mb",
  };
  const driver = redisDriver.create(config, { log: fakeLog([]), clock: fakeClock() });
  await driver.start(AbortSignal.timeout(10_000));
  try {
    const readings = await driver.read(keys);
    return readings.map(({ key, spentNanoUsd: spent, reservedNanoUsd: reserved }) => ({
      key,
      spent,
      reserved: reserved ?? 0,
    }));
  } finally {
    await driver.stop();
  }
}
