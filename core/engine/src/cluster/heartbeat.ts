/**
 * Heartbeats of workers: each worker sends one while its event loop runs. A worker that stays
 * silent for too long is reported.
 */

import type { Worker } from "node:cluster";

/** The interval of a worker's heartbeats. */
export const BEAT_MS = 500;
/** A shorter limit would end workers that collect garbage. */
const MIN_LIMIT_MS = 1_000;

interface Beats {
  heardMs: number;
  readonly limitMs: number;
  isReported: boolean;
}

/** The state of the heartbeats. */
export class HeartbeatMonitor {
  readonly #beats = new Map<Worker, Beats>();
  readonly #onSilent: (worker: Worker, silentMs: number) => void;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  #lookedMs: number;

  /** `onSilent` is called once for each worker that is silent for longer than its limit. */
  constructor(
    onSilent: (worker: Worker, silentMs: number) => void,
    nowMs = () => performance.now(),
  ) {
    this.#onSilent = onSilent;
    this.#nowMs = nowMs;
    this.#lookedMs = nowMs();
    this.#timer = setInterval(() => this.look(), BEAT_MS);
    this.#timer.unref();
  }

  /** Follows a worker; a limit of 0 reports nothing. */
  follow(worker: Worker, limitMs: number): void {
    const limit = limitMs === 0 ? Number.POSITIVE_INFINITY : Math.max(MIN_LIMIT_MS, limitMs);
    this.#beats.set(worker, { heardMs: this.#nowMs(), limitMs: limit, isReported: false });
  }

  heard(worker: Worker): void {
    const beats = this.#beats.get(worker);
    if (beats !== undefined) beats.heardMs = this.#nowMs();
  }

  forget(worker: Worker): void {
    this.#beats.delete(worker);
  }

  /** For how long nothing was heard of a worker that is followed; 0 of any other. */
  silentMs(worker: Worker): number {
    const beats = this.#beats.get(worker);
    return beats === undefined ? 0 : Math.max(0, this.#nowMs() - beats.heardMs);
  }

  /** Looks at all of them. */
  look(): void {
    const nowMs = this.#nowMs();
    // While this process stood still itself, or the machine did, no beat could be heard.
    const lateMs = Math.max(0, nowMs - this.#lookedMs - BEAT_MS);
    this.#lookedMs = nowMs;
    for (const [worker, beats] of this.#beats) {
      beats.heardMs += lateMs;
      const silentMs = nowMs - beats.heardMs;
      if (silentMs <= beats.limitMs || beats.isReported) continue;
      beats.isReported = true;
      this.#onSilent(worker, silentMs);
    }
  }
}
