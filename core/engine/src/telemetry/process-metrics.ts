/** How the process itself is: memory, processor time, and whether its event loop comes round. */

import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { PROCESS_METRICS } from "./metric-table.ts";
import type { MetricRegistry } from "./metrics.ts";

const RESOLUTION_MS = 20;
/**
 * Two readers at the same moment see the same: a second of rounds is shown before it is forgotten.
 */
const MIN_ROUNDS = 1_000 / RESOLUTION_MS;
const NANOSECONDS = 1e9;
const OPEN_FILES = "/proc/self/fd";

/** Adds the metrics. What comes back ends the watching of the event loop. */
export function addProcessMetrics(metrics: MetricRegistry): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // The timer's own interval is in what it measures.
  const late = (nanoseconds: number): number =>
    Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  metrics.observe("gauge", PROCESS_METRICS.loopDelay, () => {
    if (delay.count === 0) return [];
    const samples = [
      [late(delay.percentile(50)), "0.5"],
      [late(delay.percentile(99)), "0.99"],
      [late(delay.max), "1"],
    ] as const;
    if (delay.count >= MIN_ROUNDS) delay.reset();
    return samples;
  });
  metrics.observe("gauge", PROCESS_METRICS.memory, () => [[process.memoryUsage.rss()]]);
  metrics.observe("gauge", PROCESS_METRICS.heap, () => [[process.memoryUsage().heapUsed]]);
  metrics.observe("counter", PROCESS_METRICS.cpu, () => {
    const { user, system } = process.cpuUsage();
    return [[(user + system) / 1e6]];
  });
  metrics.observe("gauge", PROCESS_METRICS.files, openFiles);
  const startedSeconds = Math.round(Date.now() / 1_000 - process.uptime());
  metrics.observe("gauge", PROCESS_METRICS.started, () => [[startedSeconds]]);
  return () => delay.disable();
}

function openFiles(): [number][] {
  try {
    return [[readdirSync(OPEN_FILES).length]];
  } catch {
    return [];
  }
}
