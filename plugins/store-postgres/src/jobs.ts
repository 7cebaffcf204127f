/** The work that the leader of a fleet does on the database. Two at once do no harm. */

import type { StoreHost, StoreJob } from "@sluice/contract";
import type { Pool } from "pg";
import { pruneChanges } from "./changes/log.ts";
import { DAY_MS } from "./ledger/days-of-ids.ts";
import { retentionJob } from "./ledger/retention.ts";
import { makeComingPartitions } from "./ledger/coming-partitions.ts";
import { compareSums } from "./ledger/sums/verify.ts";
import { weeksJob } from "./ledger/sums/weeks/job.ts";

/** The deadline of the comparison of one day. */
export const CHECK_MS = 600_000;
const HOUR_MS = 3_600_000;
const PRUNE_EVERY_MS = 300_000;

/** The jobs. `pool` has the deadline of a job. */
export function createJobs(pool: Pool, { clock }: Pick<StoreHost, "clock">): readonly StoreJob[] {
  return [
    {
      name: "partitions",
      everyMs: HOUR_MS,
      async run() {
        if (await makeComingPartitions(pool, clock)) return undefined;
        throw new Error("partitions were not made: another process or a report holds the table");
      },
    },
    retentionJob(pool, () => clock.now()),
    weeksJob(pool),
    {
      name: "sums",
      everyMs: DAY_MS,
      async run({ signal }) {
        const toMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
        const span = { fromMs: toMs - DAY_MS, toMs };
        const { total, sums } = await compareSums({ pool, deadlineMs: CHECK_MS }, span, signal);
        if (total === 0) return undefined;
        throw new Error(
          `${total} amounts of ${sums} sums of yesterday differ from their rows: run sluice ledger verify`,
        );
      },
    },
    {
      name: "changes",
      everyMs: PRUNE_EVERY_MS,
      async run({ signal }) {
        let pruned = 0;
        for (;;) {
          signal.throwIfAborted();
          // oxlint-disable-next-line no-await-in-loop -- one part after the other.
          const count = await pruneChanges(pool);
          pruned += count;
          if (count === 0) return pruned === 0 ? undefined : `pruned ${pruned} changes`;
        }
      },
    },
  ];
}
