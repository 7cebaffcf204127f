/** What became of a rollout at each instance. */

import type { RolloutReport } from "@sluice/contract";
import { joinReports } from "./canary/verdict.ts";

/** The outcome at an instance: that of the process that is worst off. */
export interface InstanceOutcome {
  /** `none`: no process of it has reported. */
  readonly outcome: RolloutReport["outcome"] | "none";
  readonly reasons: readonly string[];
}

/** From the worst to the best. */
const ORDER: readonly RolloutReport["outcome"][] = [
  "refused",
  "waiting",
  "returned",
  "canary",
  "applied",
];

/** The outcomes by instance. Reports come newest first. */
export function outcomesOf(
  reports: readonly RolloutReport[],
): (instance: string) => InstanceOutcome {
  const byInstance = Map.groupBy(joinReports(reports).last, ({ instance }) => instance);
  return (instance) => {
    const [worst] = (byInstance.get(instance) ?? []).toSorted(
      (left, right) => ORDER.indexOf(left.outcome) - ORDER.indexOf(right.outcome),
    );
    return { outcome: worst?.outcome ?? "none", reasons: worst?.reasons ?? [] };
  };
}
