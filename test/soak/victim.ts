/** What another key sees beside an attack: one request after each pause, with the time of each. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { CoreWaits } from "./core-waits.ts";

/** The victim sends one request in this time. */
export const EVERY_MS = 50;

/** What the victim saw. */
export interface Seen {
  readonly p99Ms: number;
  /** The same without what the gateway's serving thread waited for a core meanwhile. */
  readonly ownP99Ms: number;
  readonly failed: number;
  readonly count: number;
  /** The longest delay of the victim's own loop. */
  readonly loopMs: number;
}

/** The 99th percentile: of a hundred values or fewer it is the maximum. */
const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;

/** Sends a request every `EVERY_MS` for some seconds, and waits for all replies. */
export async function watchVictim(
  ask: () => Promise<Response>,
  waits: CoreWaits,
  seconds: number,
): Promise<Seen> {
  const times: number[] = [];
  const ownTimes: number[] = [];
  let failed = 0;
  const all: Promise<void>[] = [];
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const untilMs = performance.now() + seconds * 1_000;
  while (performance.now() < untilMs) {
    const sinceMs = performance.now();
    const waited = waits.read();
    all.push(
      ask()
        .then(async (response) => {
          await response.text();
          if (response.status !== 200) failed += 1;
          const tookMs = performance.now() - sinceMs;
          times.push(tookMs);
          ownTimes.push(Math.max(0, tookMs - waits.since(waited)));
        })
        .catch(() => void (failed += 1)),
    );
    await pause(EVERY_MS);
  }
  await Promise.all(all);
  loop.disable();
  const seen = { failed, count: all.length, loopMs: loop.max / 1e6 };
  return { ...seen, p99Ms: p99(times), ownP99Ms: p99(ownTimes) };
}
