/** The job that compares the sums of yesterday with its rows, in a thread of its own. */

import { once } from "node:events";
import type { StoreJob, SumsCheck } from "@sluice/contract";
import { DAY_MS } from "@sluice/store-sql/sums";
import { startThread } from "../../thread.ts";

/** Makes the job for a file. */
export function sumsJob(file: string, now: () => number): StoreJob {
  return {
    name: "sums",
    everyMs: DAY_MS,
    async run({ signal }) {
      const toMs = Math.floor(now() / DAY_MS) * DAY_MS;
      const worker = startThread("ledger/sums/check-worker", { file, fromMs: toMs - DAY_MS, toMs });
      worker.unref();
      const end = (): void => void worker.terminate();
      signal.addEventListener("abort", end, { once: true });
      try {
        const [found] = (await once(worker, "message", { signal })) as [SumsCheck];
        const { total, sums } = found;
        if (total === 0) return undefined;
        throw new Error(
          `${total} amounts of ${sums} sums of yesterday differ from their rows: run sluice ledger verify`,
        );
      } finally {
        signal.removeEventListener("abort", end);
        await worker.terminate();
      }
    },
  };
}
