/** How often a process of a gateway reports itself. */

/** A file has few instances, on one machine, and a report is a write to its disk. */
export const REPORT_EVERY_MS = 30_000;
