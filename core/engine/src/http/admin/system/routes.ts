/** `GET /system`: how the processes are, and what they stand on. */

import type { LedgerHealth } from "../../../accounting/ledger/ledger.ts";
import type { Snapshot } from "../../../config/snapshot.ts";
import type { ConfigEdits } from "../../../generation/rollout/edits.ts";
import type { Definitions } from "../../../registry/definitions.ts";
import type { StoreHealth } from "../../../resources/store/validity.ts";
import { PROCESS_METRICS } from "../../../telemetry/metric-table.ts";
import type { MetricRegistry } from "../../../telemetry/metrics.ts";
import { VERSION } from "../../../telemetry/version.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";

/** The parts of the route. */
export interface SystemParts {
  /** The number of this worker; `undefined` where one process is the gateway. */
  readonly worker: number | undefined;
  readonly snapshot: Pick<Snapshot, "store" | "shared">;
  readonly edits: Pick<ConfigEdits, "status">;
  readonly metrics: Pick<MetricRegistry, "readOne">;
  readonly definitions: Pick<Definitions, "plugins">;
  readonly ledgerHealth: () => LedgerHealth;
  readonly storeHealth: () => StoreHealth | undefined;
  readonly isStateAway: () => boolean | undefined;
}

/** What one process answers; the supervisor of workers joins the answers. */
export type SystemAnswer = ReturnType<typeof describeSystem>;

/** The route. */
export function systemRoute(parts: SystemParts): AdminRoutes {
  return { "GET /system": atWhole("status.read", async () => describeSystem(parts)) };
}

function describeSystem(parts: SystemParts) {
  const { snapshot, definitions, metrics } = parts;
  const { fault, isStoreFailing } = parts.ledgerHealth();
  const health = parts.storeHealth();
  return {
    version: VERSION,
    node: process.version,
    processes: [describeProcess(parts)],
    store: {
      use: snapshot.store.use,
      away: health?.isAway === true || isStoreFailing,
      changes_age_ms: health?.ageMs === undefined ? null : Math.round(health.ageMs),
      writable: fault === undefined,
      fault: fault?.text ?? null,
    },
    shared: { use: snapshot.shared.use, away: parts.isStateAway() ?? null },
    blocks: blocksOf(metrics),
    plugins: definitions.plugins.map(({ specifier, version, definitions: provided }) => ({
      package: specifier,
      version: version ?? null,
      provides: provided.length,
    })),
  };
}

function describeProcess({ worker, edits, metrics, ledgerHealth }: SystemParts) {
  const { live, draining, canary } = edits.status;
  const { pendingBatches, lagMs, keptRows } = ledgerHealth();
  const serving = [live, canary?.generation, ...draining];
  const { user, system } = process.cpuUsage();
  const delay = valueOf(metrics, PROCESS_METRICS.loopDelay.name, "0.99");
  return {
    worker: worker ?? null,
    pid: process.pid,
    uptime_s: Math.round(process.uptime()),
    memory_bytes: process.memoryUsage.rss(),
    heap_bytes: process.memoryUsage().heapUsed,
    cpu_s: (user + system) / 1e6,
    loop_delay_p99_ms: delay === undefined ? null : Math.round(delay * 10_000) / 10,
    open_files: valueOf(metrics, PROCESS_METRICS.files.name) ?? null,
    in_flight: serving.reduce((sum, generation) => sum + (generation?.leases ?? 0), 0),
    outbox_batches: pendingBatches,
    ledger_lag_ms: Math.round(lagMs),
    kept_rows: keptRows,
  };
}

/** Blocks by plugin, the longest together first. */
function blocksOf(metrics: SystemParts["metrics"]) {
  const counts = metrics.readOne(PROCESS_METRICS.blocks.name)?.samples ?? [];
  return counts
    .map(({ labels: [plugin = ""], value }) => ({
      plugin,
      count: typeof value === "number" ? value : 0,
      total_ms: Math.round(
        (valueOf(metrics, PROCESS_METRICS.blockedSeconds.name, plugin) ?? 0) * 1_000,
      ),
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.total_ms - a.total_ms);
}

function valueOf(
  metrics: SystemParts["metrics"],
  name: string,
  label?: string,
): number | undefined {
  const found = metrics
    .readOne(name)
    ?.samples.find(({ labels }) => label === undefined || labels[0] === label);
  return typeof found?.value === "number" ? found.value : undefined;
}
