/** Respawns: a worker that ended is replaced after a backoff. */

import type { Log } from "@sluice/contract";
import { refusalOf } from "./spawn-worker.ts";
import type { WorkerTable } from "./worker-table.ts";

/** A worker that has run for this time resets the backoff. */
const STEADY_MS = 60_000;
const MIN_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 30_000;

/** The parts of the supervisor that respawns need. */
export interface RespawnParts {
  readonly workers: WorkerTable;
  readonly log: Log;
  /**
   * Starts a worker, with the generation of the others where `mustBeNewest`. Rejects with a
   * StartRefused.
   */
  readonly spawn: (mustBeNewest: boolean) => Promise<unknown>;
  /** Whether a restart runs: it starts all workers itself. */
  readonly isPaused: () => boolean;
}

/** The respawns of one supervisor. */
export class Respawns {
  readonly #parts: RespawnParts;
  readonly #waiting = new Set<NodeJS.Timeout>();
  readonly #underWay = new Set<Promise<void>>();
  /** Failures in a row. */
  #failures = 0;

  constructor(parts: RespawnParts) {
    this.#parts = parts;
  }

  /** Counts a worker that ended by itself after this time. */
  countEnd(ranMs: number): void {
    this.#failures = ranMs > STEADY_MS ? 1 : this.#failures + 1;
  }

  /**
   * Starts a worker in the place of a crashed one, with a backoff. It runs the generation of the
   * others. Where no worker serves, that generation may be the cause: then every second one starts
   * with the files, which may have been corrected.
   */
  begin(mustBeNewest = true): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      if (!this.#isNeeded()) return;
      const respawn = this.#spawn(mustBeNewest).finally(() => this.#underWay.delete(respawn));
      this.#underWay.add(respawn);
    }, backOffMs(this.#failures));
    this.#waiting.add(timer);
  }

  /** Begins one for each missing worker. */
  fill(): void {
    const { workers } = this.#parts;
    while (workers.serving.length + this.#waiting.size < workers.size && !workers.isStopping)
      this.begin();
  }

  /** Resolves when no respawn is under way. Those that wait for their backoff stay. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Ends the waits. */
  close(): void {
    for (const timer of this.#waiting) clearTimeout(timer);
  }

  #isNeeded(): boolean {
    const { workers, isPaused } = this.#parts;
    return (
      !workers.isStopping &&
      !isPaused() &&
      workers.serving.length + this.#underWay.size < workers.size
    );
  }

  async #spawn(mustBeNewest: boolean): Promise<void> {
    const { workers, log, spawn } = this.#parts;
    try {
      await spawn(mustBeNewest);
    } catch (error) {
      if (workers.isStopping) return;
      this.#failures++;
      log.error("a worker could not be started; it is tried again", { reasons: refusalOf(error) });
      this.begin(workers.serving.length > 0 || !mustBeNewest);
    }
  }
}

/** The backoff after a number of failures in a row, in milliseconds. */
function backOffMs(failures: number): number {
  const longest = Math.min(
    MAX_BACK_OFF_MS,
    MIN_BACK_OFF_MS * 2 ** Math.min(Math.max(0, failures - 1), 20),
  );
  return longest * (0.5 + Math.random() / 2);
}
