/**
 * One full collection soon after a start: it leaves the heap the pages of its largest moment, which
 * V8 gives back when it has been loaded for a while, and not to a process that idles.
 */

import { setFlagsFromString } from "node:v8";

/** Between two looks at the event loop, in milliseconds. */
const LOOK_MS = 1_000;
/** Looks at a process that is loaded from its start on: V8 collects there by itself. */
const MAX_LOOKS = 10;
/** The share of a look's time that the event loop may have worked. */
const MAX_BUSY = 0.05;

/** For tests. */
export interface CollectOptions {
  readonly lookMs?: number;
  readonly collect?: () => void;
}

/**
 * Collects once, after the first second in which the event loop did nothing to speak of: no request
 * waits for it. Does not keep the process alive.
 */
export function collectOnceIdle({
  lookMs = LOOK_MS,
  collect = collectAll,
}: CollectOptions = {}): void {
  let looks = 0;
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    looks += 1;
    const isIdle = utilization <= MAX_BUSY;
    if (isIdle || looks === MAX_LOOKS) clearInterval(timer);
    if (isIdle) collect();
  }, lookMs);
  timer.unref();
}

/** 10 ms of the thread's CPU for a heap of 40 MB. */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const collect = process.getBuiltinModule("node:vm").runInNewContext("gc") as () => void;
  // Code that is compiled from here on has the flags under which the next process looks for it.
  setFlagsFromString("--no-expose-gc");
  collect();
}
