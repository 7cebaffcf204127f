/**
 * Restarts: every worker is replaced, one by one, and each new one serves before the old one
 * retires.
 */

import type { Log } from "@sluice/contract";
import type { Mutex } from "./mutex.ts";
import type { Respawns } from "./respawns.ts";
import { refusalOf } from "./spawn-worker.ts";
import type { WorkerTable } from "./worker-table.ts";

/** Workers that still end, beyond twice the number of workers, with which a restart may begin. */
const MAX_LEAVING = 8;

/** The result of a restart. */
export interface RestartResult {
  readonly outcome: "restarted" | "refused";
  readonly replaced: number;
  readonly workers: number;
  readonly reasons: readonly string[];
}

/** The parts of the supervisor that restarts need. */
export interface RestartParts {
  readonly workers: WorkerTable;
  readonly respawns: Respawns;
  readonly mutex: Mutex;
  readonly log: Log;
  /**
   * Starts a worker, with the generation of the others where `mustBeNewest`. Rejects with a
   * StartRefused.
   */
  readonly spawn: (mustBeNewest: boolean) => Promise<unknown>;
}

/** The restarts of one supervisor. */
export class Restarts {
  readonly #parts: RestartParts;
  /** The restart that waits for the mutex. */
  #waiting: Promise<RestartResult> | undefined;
  #isUnderWay = false;

  constructor(parts: RestartParts) {
    this.#parts = parts;
  }

  /** Whether workers are being replaced. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /**
   * Replaces every worker. The restart ends at the first worker that does not start. During a
   * restart, one more may wait; it begins afterwards. `mayNot` returns the reason why the restart
   * may not begin. Never rejects.
   */
  ask(mayNot: () => Promise<string | undefined>): Promise<RestartResult> {
    this.#waiting ??= this.#parts.mutex.take(async () => {
      this.#waiting = undefined;
      const reason = (await mayNot().catch(() => undefined)) ?? this.#tooManyLeaving();
      return reason === undefined ? this.#replaceAll() : this.#refused(0, [reason]);
    });
    return this.#waiting;
  }

  async #replaceAll(): Promise<RestartResult> {
    const { workers, respawns, spawn, log } = this.#parts;
    const { size } = workers;
    this.#isUnderWay = true;
    let replaced = 0;
    try {
      await respawns.ended();
      const old = workers.serving;
      for (; replaced < size; replaced++) {
        await spawn(replaced > 0);
        const member = old[replaced];
        // The worker may have crashed meanwhile.
        if (member !== undefined) workers.retire(member);
      }
    } catch (error) {
      return this.#refused(replaced, refusalOf(error));
    } finally {
      this.#isUnderWay = false;
      // Workers that ended meanwhile.
      respawns.fill();
    }
    log.info("every worker was replaced", { workers: size });
    return { outcome: "restarted", replaced, workers: size, reasons: [] };
  }

  /**
   * The reason against a restart while too many workers are still ending; `undefined` when it may
   * begin.
   */
  #tooManyLeaving(): string | undefined {
    const { workers } = this.#parts;
    const leaving = workers.members.length - workers.serving.length;
    if (leaving < MAX_LEAVING + 2 * workers.size) return undefined;
    return `${leaving} workers of earlier restarts still finish what they have under way: restart again when they have ended, at the latest after server.drain_timeout.`;
  }

  #refused(replaced: number, reasons: readonly string[]): RestartResult {
    const { workers, log } = this.#parts;
    log.warn("a restart was refused", { replaced, reasons });
    return { outcome: "refused", replaced, workers: workers.size, reasons };
  }
}
