/** The wait before a retry. */

import { setTimeout as pause } from "node:timers/promises";

/** The parameters of a wait, in milliseconds. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** The upstream's Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * The wait before a retry; `number` is 1 for the first. It is exponential with full jitter. A
 * Retry-After is a minimum, and the jitter is added, so that clients do not return at the same
 * moment.
 */
export function backoffMs(
  retry: number,
  { baseMs, maxMs, retryAfterMs, random }: BackoffOptions,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs + random() * Math.min(baseMs, maxMs);
  return random() * Math.min(maxMs, baseMs * 2 ** (retry - 1));
}

/** Waits. Rejects with the signal's reason as soon as it is aborted. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await pause(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
