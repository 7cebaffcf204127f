/** Admin route for metrics: `GET /metrics`, in Prometheus' text format. */

import {
  DEPLOYMENTS_KEY,
  type DeploymentRegistry,
  type DeploymentView,
  type StateDriver,
} from "@sluice/contract";
import type { ConfigEdits } from "../../generation/rollout/edits.ts";
import type { Ledger } from "../../accounting/ledger/ledger.ts";
import type { LeaderView } from "../../fleet/leader.ts";
import type { StoreHealth } from "../../resources/store/validity.ts";
import type { SharedPool } from "../../resources/shared-pool.ts";
import { STATE_METRICS as STATE } from "../../telemetry/metric-table.ts";
import type { MetricRegistry, Sample } from "../../telemetry/metrics.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../../telemetry/prometheus.ts";
import { type AdminRoutes, atWhole, TextAnswer } from "../access/route.ts";

/** The parts whose state the page shows. */
export interface StateMetricParts {
  readonly edits: Pick<ConfigEdits, "status">;
  readonly shared: Pick<SharedPool, "find">;
  readonly ledger: Pick<Ledger, "health">;
  readonly state: Pick<StateDriver, "isAway">;
  readonly storeHealth: () => StoreHealth | undefined;
  readonly leader: () => LeaderView;
  /** Files of plugins that wait for a restart. */
  readonly waitingForRestart: () => readonly string[];
}

/** `GET /metrics`: all metrics, in the text format of Prometheus. */
export function metricRoutes(metrics: MetricRegistry): AdminRoutes {
  return {
    "GET /metrics": atWhole(
      "metrics.read",
      async () => new TextAnswer(PROMETHEUS_TYPE, prometheusText(metrics.read())),
    ),
  };
}

/** Adds gauges that are read on demand: requests do not count them. */
export function addStateMetrics(metrics: MetricRegistry, parts: StateMetricParts): void {
  const { edits, ledger, state } = parts;
  const gauge = (
    description: (typeof STATE)[keyof typeof STATE],
    look: () => Iterable<Sample>,
  ): void => {
    metrics.observe("gauge", description, look);
  };
  gauge(STATE.generation, () => one(edits.status.live?.number));
  gauge(STATE.config, () => {
    const { live, entry } = edits.status;
    return live === undefined ? [] : [[1, live.snapshot.digest, entry?.origin ?? "unknown"]];
  });
  gauge(STATE.drift, () => one(edits.status.drift.length));
  gauge(STATE.waiting, () => one(parts.waitingForRestart().length));
  metrics.observe("counter", STATE.applies, () =>
    Object.entries(edits.status.outcomes).map(([outcome, count]): Sample => [count, outcome]),
  );
  metrics.observe("counter", STATE.failing, () => one(edits.status.failing));
  gauge(STATE.draining, () => one(edits.status.draining.length));
  gauge(STATE.drainingLeases, () =>
    one(edits.status.draining.reduce((sum, { leases }) => sum + leases, 0)),
  );
  gauge(STATE.drainingAge, () =>
    one(
      edits.status.draining.reduce(
        (oldest, { oldestLeaseMs }) => Math.max(oldest, oldestLeaseMs / 1_000),
        0,
      ),
    ),
  );
  gauge(STATE.inFlight, () => {
    const { live, draining } = edits.status;
    return one([live, ...draining].reduce((sum, generation) => sum + (generation?.leases ?? 0), 0));
  });

  addDeploymentMetrics(metrics, parts);

  gauge(STATE.outbox, () => one(ledger.health().pendingBatches));
  gauge(STATE.lag, () => one(ledger.health().lagMs / 1_000));
  gauge(STATE.storeFailing, () => one(Number(ledger.health().isStoreFailing)));
  gauge(STATE.dataFolder, () => one(Number(ledger.health().fault?.place !== "data_folder")));
  gauge(STATE.writable, () => one(Number(ledger.health().fault === undefined)));
  gauge(STATE.keptRows, () => one(ledger.health().keptRows));
  gauge(STATE.storeAway, () => {
    const health = parts.storeHealth();
    return one(health && Number(health.isAway));
  });
  gauge(STATE.changesAge, () => {
    const { ageMs } = parts.storeHealth() ?? {};
    return one(ageMs === undefined ? undefined : ageMs / 1_000);
  });
  gauge(STATE.leader, () => one(Number(parts.leader().isLeading)));
  gauge(STATE.jobFailing, () => {
    const { isLeading, jobs } = parts.leader();
    const notes = isLeading ? Object.entries(jobs) : [];
    return notes.map(([name, { error }]): Sample => [Number(error !== null), name]);
  });
  gauge(STATE.stateAway, () => one(state.isAway === undefined ? undefined : Number(state.isAway)));
}

function addDeploymentMetrics(metrics: MetricRegistry, { edits, shared }: StateMetricParts): void {
  const deployments =
    (valueOf: (view: DeploymentView) => number, join: (a: number, b: number) => number) =>
    (): Sample[] => {
      const registry = shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined;
      const named = new Set(
        edits.status.live?.snapshot.models.flatMap(({ targets }) => targets.map(idOf)),
      );
      const values = new Map<string, number>();
      for (const view of registry?.list() ?? []) {
        // A client wrote the model behind a wildcard, so it is no label.
        const id = named.has(view.id) ? view.id : `${view.provider}/*`;
        const before = values.get(id);
        values.set(id, before === undefined ? valueOf(view) : join(before, valueOf(view)));
      }
      return Array.from(values, ([id, value]): Sample => [value, id]);
    };
  const sum = (a: number, b: number): number => a + b;
  const breakers = deployments(({ breaker }) => BREAKER[breaker], Math.max);
  const ejections = deployments((view) => view.ejections, sum);
  const inFlight = deployments((view) => view.inFlight, sum);
  const queued = deployments((view) => view.queued, sum);
  metrics.observe("gauge", STATE.breaker, breakers);
  metrics.observe("counter", STATE.ejections, ejections);
  metrics.observe("gauge", STATE.deploymentInFlight, inFlight);
  metrics.observe("gauge", STATE.queued, queued);
}

const BREAKER = { closed: 0, half_open: 1, open: 2 } as const;

function idOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider}/${model}`;
}

function one(value: number | undefined): Sample[] {
  return value === undefined ? [] : [[value]];
}
