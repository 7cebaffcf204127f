/** What a span of time cost, in one answer. */

import type { AdminAnswer } from "@sluice/admin-api";

/** `GET /spend/summary`. Days and hours are UTC. */
export type SpendSummary = AdminAnswer<"GET /spend/summary">;

/** One group of it. Which of the ids it has says `group_by`. */
export type SpendGroup = SpendSummary["groups"][number];
