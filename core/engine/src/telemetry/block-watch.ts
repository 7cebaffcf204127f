/**
 * Watches whether the event loop comes round, and tells who holds it. A timer beats, a thread
 * listens: when no beat comes, the thread interrupts the code that runs for as long as it takes to
 * read the stack. Requests pay nothing for it.
 */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Log } from "@sluice/contract";
import { BEAT, type BlockReport, type BlockWatchData, type CodeOwner } from "./block-report.ts";
import { originOf } from "./log.ts";
import { PROCESS_METRICS } from "./metric-table.ts";
import type { MetricRegistry } from "./metrics.ts";

/** Options of the event-loop monitor. */
export interface BlockWatchOptions {
  /** Minimum duration of a reported block, in milliseconds. 0 disables the monitor. */
  readonly thresholdMs: number;
  readonly owners: readonly CodeOwner[];
  readonly metrics: MetricRegistry;
  readonly log: Log;
  /** Where a supervising process reads blocked event loops; absent in a single process. */
  readonly reportFd?: number | undefined;
  /** After how long that process ends this one, in milliseconds; 0: never. */
  readonly endedAfterMs?: number;
}

/**
 * Heartbeats within the threshold. A block is reported at the latest when it exceeds the threshold
 * by a quarter.
 */
const BEATS = 4;
const MIN_BEAT_MS = 10;
/** Of one plugin's blocks a line is logged this often at most. */
const QUIET_MS = 10_000;
/** Duration from which a running block is reported before it ends. */
const ENDLESS_MS = 2_000;
/** The thread holds the stack of one block at a time, and the names of the loaded modules. */
const THREAD_HEAP_MB = 64;

/**
 * A thread has no compile cache of its own accord: without one it would load a compiler to strip
 * the types of one file.
 */
const THREAD_ENTRY = `
  require("node:module").enableCompileCache?.();
  import(require("node:worker_threads").workerData.url);
`;

/** Blocks of one plugin that are not logged yet. */
interface Unlogged {
  count: number;
  totalMs: number;
  loggedAtMs: number;
}

/** A watch over the event loop. */
export interface BlockWatch {
  /** Starts reporting. Resolves when the thread listens or has failed. */
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** Counts the blocks of each plugin, and logs them with a quiet time between two lines. */
function blockReporter(metrics: MetricRegistry, log: Log): (report: BlockReport) => void {
  const blocks = metrics.counter(PROCESS_METRICS.blocks);
  const blockedSeconds = metrics.counter(PROCESS_METRICS.blockedSeconds);
  const unlogged = new Map<string, Unlogged>();
  return ({ plugin, blockedMs, at, stack }) => {
    blocks.with(plugin).add();
    blockedSeconds.with(plugin).add(blockedMs / 1_000);
    const nowMs = performance.now();
    const kept = unlogged.get(plugin) ?? {
      count: 0,
      totalMs: 0,
      loggedAtMs: Number.NEGATIVE_INFINITY,
    };
    unlogged.set(plugin, kept);
    kept.count++;
    kept.totalMs += blockedMs;
    if (nowMs - kept.loggedAtMs < QUIET_MS) return;
    const { count, totalMs } = kept;
    log.warn("the event loop was blocked", {
      plugin,
      blocked_ms: blockedMs,
      at,
      stack,
      blocks: count,
      total_ms: totalMs,
    });
    unlogged.set(plugin, { count: 0, totalMs: 0, loggedAtMs: nowMs });
  };
}

/** Starts the thread that listens. */
export function watchBlocks(options: BlockWatchOptions): BlockWatch {
  const { thresholdMs, owners, metrics, log, reportFd, endedAfterMs = 0 } = options;
  if (thresholdMs === 0) return { begin: () => Promise.resolve(), end: () => Promise.resolve() };
  const beatMs = Math.max(MIN_BEAT_MS, Math.round(thresholdMs / BEATS));
  const beats = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  // The code is named before the process is ended for it.
  const endlessMs = endedAfterMs === 0 ? ENDLESS_MS : Math.min(ENDLESS_MS, endedAfterMs / 2);
  const workerData: BlockWatchData = {
    beats,
    thresholdMs,
    beatMs,
    owners,
    endlessMs,
    logOrigin: originOf(log),
    reportFd,
  };
  const thread = new Worker(THREAD_ENTRY, {
    eval: true,
    workerData: {
      ...workerData,
      url: new URL(`./block-thread${extname(import.meta.url)}`, import.meta.url).href,
    },
    name: "block-watch",
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB, maxYoungGenerationSizeMb: 1 },
  });
  const report = blockReporter(metrics, log);
  const listens = Promise.withResolvers<void>();
  thread.on("message", (message: "ready" | BlockReport) => {
    if (message === "ready") listens.resolve();
    else report(message);
  });
  // Without the thread blocks are not reported. Nothing else depends on it.
  thread.on("error", (error) => log.warn("the event loop monitor has stopped", { error }));
  thread.on("exit", () => listens.resolve());
  let timer: NodeJS.Timeout | undefined;
  let lastMs = 0;
  const beat = (): void => {
    const nowMs = performance.now();
    const gapMs = Math.round(nowMs - lastMs);
    if (gapMs > Atomics.load(beats, BEAT.gapMs)) Atomics.store(beats, BEAT.gapMs, gapMs);
    Atomics.add(beats, BEAT.count, 1);
    lastMs = nowMs;
  };
  return {
    async begin() {
      await listens.promise;
      thread.unref();
      lastMs = performance.now();
      beat();
      timer = setInterval(beat, beatMs);
      timer.unref();
    },
    async end() {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}
