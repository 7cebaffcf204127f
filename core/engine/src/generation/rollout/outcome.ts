/** Outcomes of an edit. */

import type { CanaryEnd } from "./canary/canary.ts";

/** The outcome of an attempt to apply a configuration. */
export type ApplyOutcome =
  | "applied"
  | "unchanged"
  | "refused"
  | "superseded"
  | "canary"
  | CanaryEnd;

/** The counts of outcomes before the first attempt. */
export function noOutcomes(): Record<ApplyOutcome, number> {
  return {
    applied: 0,
    unchanged: 0,
    refused: 0,
    superseded: 0,
    canary: 0,
    promoted: 0,
    returned: 0,
  };
}
