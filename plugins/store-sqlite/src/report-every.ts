/** How often processes of a gateway write about themselves. */

/** A file has few instances, on one machine, and a report is a write to its disk. */
export const REPORT_EVERY_MS = 30_000;
/** How often the leader of the workers renews its lease. */
export const RENEW_EVERY_MS = 30_000;
