/** Deployments: targets as the balancer sees them. */

import type { AdminAnswer } from "@sluice/admin-api";

/** A page of deployments. */
export type DeploymentList = AdminAnswer<"GET /deployments">;

/** A deployment. */
export type Deployment = DeploymentList["deployments"][number];

/** A deployment with its last events and its minutes. */
export type DeploymentDetail = AdminAnswer<"GET /deployments/*id">;

/** What happened to it. */
export type DeploymentEvent = DeploymentDetail["events"][number];
