/** Reports of guardrails. */

import type { AdminAnswer } from "@sluice/admin-api";

/** A report. */
export type GuardrailReport = AdminAnswer<"GET /guardrails/report">;

/** A route of it. */
export type JudgedRoute = GuardrailReport["routes"][number];
