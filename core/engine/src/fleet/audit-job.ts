/** The job of the leader that deletes old lines of the audit. */

import { AUDIT_PRUNED, type AuditStore, type Clock, type StoreJob } from "@sluice/contract";

const HOUR_MS = 3_600_000;

/** The job; none where lines are kept for ever, or the store cannot delete them. */
export function auditJobs(
  audit: Pick<AuditStore, "prune"> | undefined,
  keepMs: number | undefined,
  clock: Pick<Clock, "now">,
): readonly StoreJob[] {
  if (keepMs === undefined || audit?.prune === undefined) return [];
  return [
    {
      name: "audit",
      everyMs: HOUR_MS,
      async run({ signal }) {
        let pruned = 0;
        for (;;) {
          signal.throwIfAborted();
          const atMs = clock.now();
          // oxlint-disable-next-line no-await-in-loop -- one part after the other.
          const count = await audit.prune?.(atMs - keepMs, ({ seq, hash }) => ({
            ...AUDIT_PRUNED,
            atMs,
            after: { through: seq, hash },
          }));
          pruned += count ?? 0;
          if (count === undefined || count === 0)
            return pruned === 0 ? undefined : `pruned ${pruned} lines`;
        }
      },
    },
  ];
}
