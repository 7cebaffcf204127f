/** The goals of a soak, and which were met. */

import type { SoakResult } from "./proof.ts";

/** One of them. */
export interface Goal {
  readonly isMet: boolean;
  readonly text: string;
}

/**
 * Fewer reloads than this say nothing about memory: the warm-up of the engine's own code is larger.
 */
const MIN_RELOADS_FOR_SLOPE = 30;
/** A time this small doubles by a single collection of garbage. */
const SMALLEST_P99_MS = 10;
const MAX_HANDLES_GROWN = 10;

/** Compares figures with goals. */
export function soakGoals(result: SoakResult): readonly Goal[] {
  const {
    failed,
    mixed,
    p99Ms,
    p99SwapMs,
    rssSlopeMb,
    heapSlopeMb,
    handlesGrown,
    filesGrown,
    reloads,
  } = result;
  const goals = [
    goal(failed <= 0, `${failed} failed requests`, "0"),
    goal(mixed <= 0, `${mixed} replies of two generations`, "0"),
  ];
  if (Number.isFinite(p99Ms) && Number.isFinite(p99SwapMs)) {
    const limit = 2 * Math.max(p99Ms, SMALLEST_P99_MS);
    goals.push(
      goal(
        p99SwapMs <= limit,
        `${ms(p99SwapMs)} p99 during a swap, ${ms(p99Ms)} between`,
        `${ms(limit)}`,
      ),
    );
  }
  if (reloads < MIN_RELOADS_FOR_SLOPE || rssSlopeMb === undefined || heapSlopeMb === undefined) {
    goals.push({
      isMet: true,
      text: `-     memory: fewer than ${MIN_RELOADS_FOR_SLOPE} reloads say nothing about it`,
    });
  } else {
    goals.push(
      goal(
        heapSlopeMb <= 0.1,
        `${mb(heapSlopeMb)} of heap a reload (resident: ${mb(rssSlopeMb)})`,
        "0.1 MB",
      ),
    );
    goals.push(
      goal(
        handlesGrown <= MAX_HANDLES_GROWN,
        `${handlesGrown} more handles, ${filesGrown} more open files`,
        `${MAX_HANDLES_GROWN}`,
      ),
    );
  }
  return goals;
}

function goal(isMet: boolean, seen: string, limit: string): Goal {
  return { isMet, text: `${isMet ? "ok   " : "MISS "} ${seen} (goal: ${limit})` };
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function mb(value: number): string {
  return `${value.toFixed(3)} MB`;
}
