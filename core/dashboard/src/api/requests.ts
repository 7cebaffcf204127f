/** The explanation of one request. */

import type { AdminAnswer } from "@sluice/admin-api";

/** The explanation. */
export type Trace = AdminAnswer<"GET /requests/:id">;

/** One step of the pipeline. */
export type TraceStep = NonNullable<Trace["steps"]>[number];

/** One upstream call. Times are milliseconds from the start of the request. */
export type TraceAttempt = Trace["attempts"][number];
