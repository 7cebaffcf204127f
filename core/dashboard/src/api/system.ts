/** The system: processes and what they stand on; the audit. */

import type { AdminAnswer } from "@sluice/admin-api";

/** The system. */
export type SystemAnswer = AdminAnswer<"GET /system">;

/** A page of the audit. */
export type AuditPage = AdminAnswer<"GET /audit">;

/** A line of it. */
export type AuditLine = AuditPage["lines"][number];
