/** What the holds of one step `limits` share. */

import type { Host } from "@sluice/spec";
import type { LimitsConfig } from "./limits-config.ts";
import type { CostEstimator } from "./limits-estimate.ts";
import type { OpenReservations } from "./limits-open.ts";
import type { RuleBook } from "./limits-rules.ts";
import type { SoftBudgets } from "./limits-soft.ts";
import type { Taker } from "./limits-take.ts";

/** What a hold needs of its step. */
export interface HoldParts {
  readonly config: LimitsConfig;
  readonly host: Host;
  readonly book: RuleBook;
  readonly taker: Taker;
  readonly estimator: CostEstimator;
  readonly soft: SoftBudgets;
  readonly open: OpenReservations;
}
