/** How long to wait before a retry, and the wait itself. */

import { setTimeout as pause } from "node:timers/promises";

/** What the wait follows from, in milliseconds. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** What the upstream asked for. */
  readonly retryAfterMs: number | undefined;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * Milliseconds before the retry of this number, 1 for the first: exponential with full jitter. After a Retry-After the jitter
 * comes on top, so that clients do not return at the same moment.
 */
export function backoffMs(retry: number, { baseMs, maxMs, retryAfterMs, random }: BackoffOptions): number {
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
