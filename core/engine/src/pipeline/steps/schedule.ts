/**
 * Schedules: when a step applies. The clock is asked for every request, the calendar once a minute
 * at most.
 */

import type { Clock } from "@sluice/contract";
import { offsetMs } from "@sluice/runtime";
import { matchesCron } from "../../config/cron.ts";
import type { StepSchedule } from "../../config/snapshot.ts";
import { scheduleOf } from "../../config/validate/step-use.ts";

const MINUTE_MS = 60_000;

/** Whether the schedule says now. `timeZone` is that of times which name none. */
export function compileSchedule(
  active: StepSchedule,
  timeZone: string,
  clock: Clock,
): () => boolean {
  const { fromMs, untilMs, cron, timeZone: zone } = scheduleOf(active, timeZone);
  let isActive = false;
  /** The answer holds from here to there. */
  let sinceMs = Infinity;
  let changeMs = -Infinity;
  return () => {
    const nowMs = clock.now();
    if (nowMs < changeMs && nowMs >= sinceMs) return isActive;
    sinceMs = nowMs;
    if (nowMs < fromMs || nowMs >= untilMs) {
      isActive = false;
      changeMs = nowMs < fromMs ? fromMs : Infinity;
      return isActive;
    }
    isActive = cron === undefined || matchesCron(cron, new Date(nowMs + offsetMs(nowMs, zone)));
    changeMs =
      cron === undefined
        ? untilMs
        : Math.min(untilMs, (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS);
    return isActive;
  };
}
