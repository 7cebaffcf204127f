/** Makes the partitions of the coming days, at the start and then every hour. */

import type { StoreHost } from "@sluice/contract";
import type { Pool } from "pg";
import { dayOf } from "./days-of-ids.ts";
import { makePartitions } from "./partitions.ts";

const DAYS_AHEAD = 7;
const EVERY_MS = 3_600_000;
/** When another process makes them, or a report holds the table. */
const AGAIN_MS = 5_000;

/** A running keeper. A row that comes before its partition makes the partition itself. */
export class PartitionKeeper {
  readonly #pool: Pool;
  readonly #host: StoreHost;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(pool: Pool, host: StoreHost) {
    this.#pool = pool;
    this.#host = host;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    await this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    let areAll = false;
    try {
      const today = dayOf(this.#host.clock.now());
      const days = Array.from({ length: DAYS_AHEAD + 2 }, (_, index) => today - 1 + index);
      areAll = await makePartitions(this.#pool, days);
    } catch (error) {
      this.#host.log.warn("partitions of the ledger were not made; rows make their own", { error });
    }
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#run(), areAll ? EVERY_MS : AGAIN_MS);
    this.#timer.unref();
  }
}
