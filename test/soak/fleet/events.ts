/** What happens to the fleet while it serves. */

import { setTimeout as pause } from "node:timers/promises";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import type { Gateway } from "./gateways.ts";
import type { OwnNetwork } from "./network.ts";
import type { ProofRedis } from "./redis.ts";

/** The parts of the fleet that fail. */
export interface Fleet {
  readonly gateways: readonly Gateway[];
  readonly postgres: PostgresCluster;
  readonly redis: ProofRedis;
  readonly network: OwnNetwork | undefined;
  /**
   * Uses each budget once. A budget is read from the ledger again after a restart of Redis; one that
   * is first used while PostgreSQL is away is refused with 503.
   */
  readonly useBudgets: () => Promise<void>;
}

const KILL_EVERY_MS = 10_000;
const OUTAGE_MS = 20_000;
/** Within this time all gateways decide by a Redis that is back. */
const ALONE_MS = 8_000;
/** When each outage begins, as a part of the whole time. */
const OUTAGES = [
  { at: 0.12, what: "PostgreSQL" },
  { at: 0.36, what: "Redis" },
  { at: 0.6, what: "PostgreSQL" },
  { at: 0.82, what: "network" },
] as const;

/** A time at which gateways lost their shared state, on the clock of `performance.now`. */
export type Losses = readonly number[];

/**
 * Runs all events within the time; of the outages those in `which`. Resolves when everything is up
 * again.
 */
export async function runEvents(
  fleet: Fleet,
  totalMs: number,
  which: readonly string[],
  note: (line: string) => void,
): Promise<Losses> {
  const losses: number[] = [];
  const startedMs = performance.now();
  const until = (atMs: number) => pause(Math.max(0, startedMs + atMs - performance.now()));
  const restarts: Promise<void>[] = [];
  const kills = async (): Promise<void> => {
    for (let number = 0; (number + 1) * KILL_EVERY_MS < totalMs - OUTAGE_MS / 2; number += 1) {
      await until((number + 1) * KILL_EVERY_MS);
      const { gateways } = fleet;
      const order = gateways.map((_, at) => gateways[(number + at) % gateways.length]!);
      // The last one that serves is left alone: a slow machine takes long to start the others.
      const up = order.filter(({ isUp }) => isUp);
      const gateway = up.length > 1 ? up[0] : undefined;
      if (gateway === undefined) {
        note("no gateway is killed: only one serves");
        continue;
      }
      await gateway.kill();
      note(`${gateway.name} is killed`);
      restarts.push(restarted(gateway, note));
    }
  };
  const outages = async (): Promise<void> => {
    for (const { at, what } of OUTAGES.filter((outage) => which.includes(outage.what))) {
      await until(at * totalMs);
      note(`${what} is away`);
      if (what !== "PostgreSQL") losses.push(performance.now());
      await takeAway(fleet, what);
      await pause(OUTAGE_MS);
      await bringBack(fleet, what);
      note(`${what} is back`);
      if (what !== "Redis") continue;
      await pause(ALONE_MS);
      await fleet.useBudgets();
      note("each budget was used since Redis restarted");
    }
  };
  await Promise.all([kills(), outages()]);
  await until(totalMs);
  await Promise.all(restarts);
  return losses;
}

/** Starts a gateway until it is ready: a start may fail while its store is away. */
async function restarted(gateway: Gateway, note: (line: string) => void): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    try {
      await gateway.start();
      note(`${gateway.name} is ready after ${Math.round(performance.now() - startedMs)} ms`);
      return;
    } catch (error) {
      note(String(error).split("\n")[0] ?? "");
      await pause(1_000);
    }
  }
}

async function takeAway({ postgres, redis, network }: Fleet, what: string): Promise<void> {
  if (what === "PostgreSQL") await postgres.stop("immediate");
  else if (what === "Redis") await redis.kill();
  else network?.cut();
}

async function bringBack({ postgres, redis, network }: Fleet, what: string): Promise<void> {
  if (what === "PostgreSQL") await postgres.start();
  else if (what === "Redis") await redis.start();
  else network?.mend();
}
