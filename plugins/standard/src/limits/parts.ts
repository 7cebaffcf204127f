/** What the leases of one step `limits` share. */

import type { Host } from "@sluice/contract";
import type { LimitsConfig } from "./config.ts";
import type { CostEstimator } from "./estimate.ts";
import type { OpenReservations } from "./key-share.ts";
import type { LimitResolver } from "./rules/resolver.ts";
import type { SoftBudgets } from "./soft-budget.ts";
import type { TargetTokens } from "./target-tokens.ts";
import type { Reserver } from "./reserver.ts";

/** What a lease needs of its step. */
export interface LeaseParts {
  readonly config: LimitsConfig;
  readonly host: Host;
  readonly resolver: LimitResolver;
  readonly reserver: Reserver;
  readonly estimator: CostEstimator;
  readonly soft: SoftBudgets;
  readonly open: OpenReservations;
  readonly tokens: TargetTokens;
}
