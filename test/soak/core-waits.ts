/**
 * How long the threads of a gateway that serve have waited for a core, by the kernel's count. Linux
 * only. On a machine that load, upstream and gateway share, this is the part of a latency that the
 * machine adds.
 */

import { readFileSync } from "node:fs";

/** Reads the sum of waits of a gateway's serving threads, each in milliseconds. */
export class CoreWaits {
  readonly #paths: readonly string[];

  /** `pid`: the gateway's process. Its workers serve where it has some. */
  constructor(pid: number) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const pids = children === "" ? [String(pid)] : children.split(" ");
    // The first thread of a process serves.
    this.#paths = pids.map((each) => `/proc/${each}/task/${each}/schedstat`);
  }

  read(): readonly number[] {
    return this.#paths.map((path) => {
      const [, waitedNs = "0"] = readFileSync(path, "utf8").split(" ");
      return Number(waitedNs) / 1e6;
    });
  }

  /** The longest wait of one thread since an earlier reading. */
  since(earlier: readonly number[]): number {
    return Math.max(...this.read().map((ms, index) => ms - (earlier[index] ?? ms)));
  }
}
