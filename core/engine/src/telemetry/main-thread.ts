/**
 * The processor time of the main thread, read from another thread. Linux: `/proc/self/task/<pid>`
 * (proc_pid_schedstat, proc_pid_stat(5)).
 */

import { readFileSync } from "node:fs";

/** The main thread at one moment. */
export interface MainThread {
  /** The processor time that it has used, in milliseconds. */
  readonly cpuMs: number;
  /**
   * Whether it has a processor or waits for one. A thread that sleeps in a system call does not.
   */
  readonly isRunnable: boolean;
}

const FOLDER = `/proc/self/task/${process.pid}`;
const NANOS_IN_MS = 1e6;

/** Reads the main thread; `undefined` where the system does not show it. */
export function readMainThread(): MainThread | undefined {
  try {
    const [cpuNs] = readFileSync(`${FOLDER}/schedstat`, "latin1").split(" ");
    const stat = readFileSync(`${FOLDER}/stat`, "latin1");
    // The name of the thread, in parentheses, may hold any character.
    const state = stat[stat.lastIndexOf(")") + 2];
    const cpuMs = Number(cpuNs) / NANOS_IN_MS;
    return Number.isFinite(cpuMs) ? { cpuMs, isRunnable: state === "R" } : undefined;
  } catch {
    return undefined;
  }
}

/** The least share of a processor that a computing thread has, also on a busy machine. */
export const BUSY_SHARE = 0.25;

/**
 * Adds up the time in which the main thread is held: what passes while it computes with a share of
 * a processor, or sleeps in a system call. A thread that waits for a processor is not held.
 */
export class HeldTime {
  /** Milliseconds since `reset`. */
  ms = 0;
  /** The processor time since `reset`, in milliseconds. */
  cpuMs = 0;
  readonly #read: () => MainThread | undefined;
  #last: MainThread | undefined;

  constructor(read = readMainThread) {
    this.#read = read;
    this.#last = read();
  }

  reset(): void {
    this.ms = 0;
    this.cpuMs = 0;
    this.#last = this.#read();
  }

  /** Counts what the clock shows since the last call. */
  pass(passedMs: number): void {
    const now = this.#read();
    const cpuMs =
      now === undefined || this.#last === undefined ? passedMs : now.cpuMs - this.#last.cpuMs;
    this.cpuMs += cpuMs;
    this.ms += now?.isRunnable === true ? Math.min(passedMs, cpuMs / BUSY_SHARE) : passedMs;
    this.#last = now;
  }
}
