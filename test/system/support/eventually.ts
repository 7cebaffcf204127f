/** Waiting for something to become true, with a deadline. */

import { setTimeout as pause } from "node:timers/promises";

const STEP_MS = 5;

/**
 * Resolves with the first value of `look` that is neither `undefined` nor `false`. Rejects after
 * `deadlineMs`, naming what was waited for.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 60_000,
): Promise<T> {
  const untilMs = Date.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > untilMs) throw new Error(`Waited ${deadlineMs} ms for ${what}.`);
    await pause(STEP_MS);
  }
}
