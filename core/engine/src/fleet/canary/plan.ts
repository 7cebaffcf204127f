/** Plans of canaries, as the store has them and as a process runs them. */

import type { RolloutPlan } from "@sluice/contract";
import type { CanaryPlan } from "../../generation/rollout/canary/canary.ts";

/** The stored form of a plan. */
export function storedPlan({ share, forMs, minRequests, abortIf }: CanaryPlan): RolloutPlan {
  const { errorRate = null, p99Ms = null } = abortIf;
  return { share, forMs, minRequests, errorRate, p99Ms };
}

/** The plan of a canary on which the fleet decides. */
export function fleetPlan({ share, forMs, minRequests, ...bounds }: RolloutPlan): CanaryPlan {
  const abortIf = { errorRate: bounds.errorRate ?? undefined, p99Ms: bounds.p99Ms ?? undefined };
  return { share, forMs, minRequests, abortIf, isOfFleet: true };
}
