/** Opens what the process keeps for its operators: sums of requests, minutes of deployments. */

import { type Clock, DEPLOYMENTS_KEY, type DeploymentRegistry } from "@sluice/contract";
import type { ClosingScope } from "./generation/scope.ts";
import type { SharedPool } from "./resources/shared-pool.ts";
import type { MetricRegistry } from "./telemetry/metrics.ts";
import { DeploymentMinutes } from "./telemetry/series/deployment-minutes.ts";
import { RequestSeries } from "./telemetry/series/request-series.ts";

/** What is read. */
export interface WatchParts {
  readonly metrics: MetricRegistry;
  readonly shared: SharedPool;
  readonly clock: Clock;
}

/** The sums. They end with the scope. */
export function openWatch({ metrics, shared, clock }: WatchParts, scope: ClosingScope) {
  const series = new RequestSeries(metrics, clock);
  scope.defer(() => series.close());
  const minutes = new DeploymentMinutes(() => deploymentsIn(shared)?.list() ?? [], clock);
  scope.defer(() => minutes.close());
  return { series, minutes };
}

/** The deployments of the process; `undefined` where no pipeline has the step `balance`. */
export function deploymentsIn(shared: SharedPool): DeploymentRegistry | undefined {
  return shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined;
}
