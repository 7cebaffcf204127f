/** Requests at a fixed rate, whatever the server does: a slow reply delays none of the others. */

import type { PacedResultMessage } from "../messages.ts";
import { percentile } from "../statistics.ts";
import type { Connection } from "./connection.ts";

/** How often the clock is looked at, in milliseconds. */
const STEP_MS = 1;

/**
 * Sends `perSecond` requests in each of `seconds`. A request that finds no free connection waits
 * for one; its latency begins when it was due. Connections must be open and free.
 */
export async function pacedLoad(
  connections: readonly Connection[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<PacedResultMessage> {
  const free = [...connections];
  const due: number[] = [];
  const latencies: number[] = [];
  const count = perSecond * seconds;
  const beganMs = performance.now();
  let sent = 0;
  let failed = 0;
  await new Promise<void>((resolve) => {
    const send = () => {
      for (let connection = free.at(-1); due.length > 0 && connection; connection = free.at(-1)) {
        const dueMs = due.shift() ?? 0;
        const used = connection;
        free.pop();
        used.exchange((ok) => {
          latencies.push(performance.now() - dueMs);
          if (!ok) failed += 1;
          free.push(used);
          if (latencies.length === count) resolve();
          else send();
        });
      }
    };
    const clock = setInterval(() => {
      const nowMs = performance.now();
      for (; sent < count && beganMs + (sent * 1000) / perSecond <= nowMs; sent += 1)
        due.push(beganMs + (sent * 1000) / perSecond);
      if (sent === count) clearInterval(clock);
      send();
    }, STEP_MS);
  });
  latencies.sort((a, b) => a - b);
  return {
    kind: "paced",
    failed,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: latencies.at(-1) ?? 0,
  };
}
