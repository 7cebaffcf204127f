/** How the gateway is, in one answer. */

import type { AdminAnswer } from "@sluice/admin-api";

/** `GET /overview` */
export type Overview = AdminAnswer<"GET /overview">;

/** A deployment that fails more than others. */
export type WorstDeployment = Overview["deployments"]["worst"][number];

/** A budget that is nearly used. */
export type NearBudget = Overview["budgets"]["nearest"][number];
