/**
 * Makes what a process serves with, up to its first generation. Everything that must be closed is
 * on the scope, in the order of its making.
 */

import type { Clock, Log, Store } from "@sluice/contract";
import type { Snapshot } from "./config/snapshot.ts";
import { ConfigError, runTestsAlone } from "./check-config.ts";
import { createCounter } from "./counting/counter.ts";
import { emptyRecord } from "./accounting/exchange-record.ts";
import { moveLeftOutbox } from "./accounting/outbox/orphaned-outboxes.ts";
import { outboxName } from "./accounting/outbox/lock-file.ts";
import { recoverFolder } from "./accounting/outbox/recover-folder.ts";
import { readStoreMark } from "./accounting/ledger/store-mark.ts";
import { RecentRequests } from "./accounting/recent-requests.ts";
import { auditJobs } from "./fleet/audit-job.ts";
import { orphanedFolderJobs } from "./fleet/orphaned-folders.ts";
import { DeclaredTenants } from "./generation/declared-tenants.ts";
import { effectsOf } from "./generation/diff/effects/effects.ts";
import { createFleet, type Fleet, type FleetParts } from "./fleet/fleet.ts";
import { Leader } from "./fleet/leader.ts";
import { type GenerationHistory, openHistory, sharedNumber } from "./generation/history/history.ts";
import { findLastGood } from "./generation/history/last-good.ts";
import { stopInstance } from "./generation/lifecycle.ts";
import { GenerationManager } from "./generation/manager.ts";
import type { ManagerOptions } from "./generation/rollout/apply.ts";
import type { ProcessParts } from "./generation/parts.ts";
import { contentsOf, type EditSource } from "./generation/rollout/candidate.ts";
import { ConfigReader } from "./generation/rollout/config-reader.ts";
import { ConfigEdits } from "./generation/rollout/edits.ts";
import { RolloutMonitor } from "./generation/rollout/rollout-monitor.ts";
import type { ClosingScope } from "./generation/scope.ts";
import { nextTurn } from "@sluice/kit/internals";
import {
  installationOf,
  openBlockWatch,
  openLedger,
  openState,
  openStore,
  openValidity,
} from "./open-parts.ts";
import { deploymentsIn, openWatch } from "./open-watch.ts";
import { createPreflight } from "./preflight/preflight.ts";
import type { Start, StartOptions } from "./prepare-start.ts";
import { watchPluginFiles } from "./registry/plugin-files.ts";
import { writeDeclared, writeDeclaredTeams } from "./resources/declared-rows.ts";
import { Holds } from "./resources/holds.ts";
import { lockDataFolder } from "./resources/data-lock.ts";
import { KeyRing } from "./resources/key-ring.ts";
import { readRunning } from "./resources/running-file.ts";
import { createSealer } from "./resources/sealer.ts";
import { StoreWatch } from "./resources/store/store-watch.ts";
import type { TenantSource } from "./resources/tenants/tenant-source.ts";
import { SharedPool } from "./resources/shared-pool.ts";
import { systemClock } from "./telemetry/clock.ts";
import { createMetrics, type MetricRegistry } from "./telemetry/metrics.ts";
import { addProcessMetrics } from "./telemetry/process-metrics.ts";

/** What a process serves with. */
export type GatewayProcess = Awaited<ReturnType<typeof createProcess>>;

/**
 * Opens the data folder, the store, the ledger and the shared state, and applies the configuration.
 * Throws a StartError, or a ConfigError with findings; the caller closes the scope then.
 */
export async function createProcess(options: StartOptions, start: Start, scope: ClosingScope) {
  const { log, clock = systemClock, worker } = options;
  const durable = await openDurable(options, start, scope, clock);
  const { store, ledger, installation } = durable;
  const { definitions, snapshot } = start;
  const validity = openValidity(store, snapshot, log, clock);
  const live = () => generations.manager.live?.snapshot;
  const keyRing = new KeyRing({ ...keysOf(durable), clock, validity, log, ...recordsOf(live) });
  follow(validity, keyRing, scope);
  const tokens = createCounter({ log, clock, turn: nextTurn });
  scope.defer(() => tokens.close());
  const shared = new SharedPool();
  const state = await openState(snapshot, definitions, log, clock, worker?.remoteState, durable);
  scope.defer(() => stopInstance(state, `the shared state ${snapshot.shared.use}`));
  const metrics = createMetrics(log);
  scope.defer(addProcessMetrics(metrics));
  const blockWatch = watchBlocking(options, start, metrics, scope);
  const parts: ProcessParts = {
    log,
    metrics,
    clock,
    definitions,
    shared,
    keyRing,
    ledger,
    tokens,
    state,
    sealer: createSealer(installation.pepper),
  };
  const holds = new Holds(snapshot.server.dataDirectory, clock, log);
  const generations = createManager(options, start, parts, store, holds);
  scope.defer(() => generations.manager.close(0));
  const edits = await applyFirst(options, start, { ...generations, clock });
  scope.defer(() => edits.close());
  const pluginFiles = watchPlugins(options, start, scope);
  const fleet = fleetOf(options, start, { ...generations, store, edits, clock });
  scope.defer(() => fleet.close());
  const recent = new RecentRequests(snapshot.server.explainRequests, emptyRecord);
  return {
    ...durable,
    ...parts,
    ...generations,
    state,
    options,
    place: start.place,
    snapshot,
    ledger,
    metrics,
    validity,
    blockWatch,
    edits,
    pluginFiles,
    fleet,
    leader: createLeader(options, { ...generations, snapshot, store, fleet, clock }, scope),
    recent,
    holds,
    ...openWatch({ metrics, shared, clock }, scope),
  };
}

/** What a key ring finds keys by. */
function keysOf({
  store: { keys, teams, tenants },
  installation: { pepper, masterKey },
}: Awaited<ReturnType<typeof openDurable>>) {
  return { pepper, masterKey, keys, teams, tenants };
}

/** What the configuration in force says of keys. */
function recordsOf(live: () => Snapshot | undefined) {
  let declared: { readonly by: Snapshot; readonly tenants: DeclaredTenants } | undefined;
  return {
    previousMaster: () => live()?.server.admin.previousKey,
    inForce(stored: TenantSource) {
      const by = live();
      if (by === undefined) return undefined;
      if (declared?.by !== by) declared = { by, tenants: new DeclaredTenants(by, stored) };
      return declared.tenants;
    },
  };
}

/** Has the key ring follow the log of changes, where the store has one. */
function follow(
  validity: ReturnType<typeof openValidity>,
  keyRing: KeyRing,
  scope: ClosingScope,
): void {
  if (!(validity instanceof StoreWatch)) return;
  validity.onChanges((changes, asOfMs) => keyRing.take(changes, asOfMs));
  validity.start();
  scope.defer(() => validity.stop());
}

/**
 * What outlives the process: its data folder, the store, the ledger, and outboxes that ended
 * processes left there.
 */
async function openDurable(
  options: StartOptions,
  { definitions, snapshot, isCopy }: Start,
  scope: ClosingScope,
  clock: Clock,
) {
  const { log, worker } = options;
  const { dataDirectory: directory } = snapshot.server;
  const installation = installationOf(snapshot, options.environment);
  if (worker === undefined) {
    const lock = lockDataFolder(directory);
    scope.defer(() => lock.release());
  }
  const store = await openStore(snapshot, definitions, log, { ...installation, mayBeAway: isCopy });
  scope.defer(() => stopInstance(store, `the store ${snapshot.store.use}`));
  const outboxFile = outboxName(worker?.number);
  const ledger = openLedger(directory, outboxFile, store, log, clock);
  scope.defer(() => ledger.close());
  const stopping = new AbortController();
  const adoptions = new Set<Promise<void>>();
  scope.defer(async () => {
    stopping.abort(new Error("the gateway stops"));
    await Promise.all(adoptions);
  });
  /**
   * Moves the rows of an outbox whose process has ended. Does nothing once the gateway stops. Never
   * rejects.
   */
  const adopt = (name: string): Promise<void> => {
    if (stopping.signal.aborted) return Promise.resolve();
    const moved = moveLeftOutbox(
      name,
      { directory, store: store.ledger, log, clock },
      stopping.signal,
    );
    adoptions.add(moved);
    return moved.finally(() => adoptions.delete(moved));
  };
  return { installation, store, outboxFile, ledger, stopping, adopt };
}

/** Watches for plugins that hold the event loop. */
function watchBlocking(
  { log, worker }: StartOptions,
  { snapshot, definitions }: Start,
  metrics: MetricRegistry,
  scope: ClosingScope,
) {
  const blockWatch = openBlockWatch(snapshot, definitions, metrics, log, worker?.reportFd);
  scope.defer(() => blockWatch.end());
  return blockWatch;
}

/** Watches the files of the loaded plugins. */
function watchPlugins({ log, worker }: StartOptions, { definitions }: Start, scope: ClosingScope) {
  const advice =
    worker === undefined ? "stop and start the gateway to load it" : "sluice restart loads it";
  const pluginFiles = watchPluginFiles(definitions.plugins, log, advice);
  scope.defer(() => pluginFiles.close());
  return pluginFiles;
}

/** The fleet of the store, in which this process takes no part yet. */
function fleetOf(
  { log, worker }: StartOptions,
  { snapshot, definitions, stored }: Start,
  parts: Pick<FleetParts, "store" | "manager" | "edits" | "clock">,
): Fleet {
  return createFleet({
    ...parts,
    snapshot,
    stored,
    worker: worker?.number ?? 0,
    // The supervisor writes where it listens once all workers serve.
    findAdminUrl: () => readRunning(snapshot.server.dataDirectory)?.adminUrl,
    async test(candidate) {
      const { results, findings } = await runTestsAlone(candidate, definitions);
      return [...findings, ...results.flatMap((result) => result.findings)];
    },
    effectsOf: (from, to) => effectsOf(from, to, definitions.steps),
    log,
  });
}

/** The leader that this process may be. It takes no lease yet. */
function createLeader(
  { log, worker }: StartOptions,
  { manager, snapshot, store, fleet, clock }: LeaderPlace,
  scope: ClosingScope,
): Leader {
  const { leases, audit, instances, ledger, jobs = [] } = store;
  const { dataDirectory, admin } = snapshot.server;
  const leader = new Leader({
    store: {
      jobs: [
        ...jobs,
        ...auditJobs(audit, admin.keepAuditMs, clock),
        ...orphanedFolderJobs({
          instances,
          // One that was used with another store since has rows of that one.
          hasOwnStore: (folder) => readStoreMark(folder) === readStoreMark(dataDirectory),
          async recover(directory, signal) {
            const parts = { directory, store: ledger, log, clock, lockTimeoutMs: 0 };
            const recovered = await recoverFolder(parts, signal);
            return recovered.reduce((sum, { rows }) => sum + rows, 0);
          },
          log,
        }),
      ],
      ...(leases !== undefined && { leases }),
    },
    holder: `${fleet.membership.id}/${worker?.number ?? 0}/${process.pid}`,
    keepLedgerMs: () => manager.live?.snapshot.ledger.keepMs,
    clock,
    log,
  });
  scope.defer(() => leader.stop());
  return leader;
}

interface LeaderPlace {
  readonly manager: GenerationManager;
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly fleet: Fleet;
  readonly clock: Clock;
}

function createManager(
  { log, worker }: StartOptions,
  start: Start,
  parts: ProcessParts,
  store: Pick<Store, "teams" | "tenants">,
  holds: Holds,
) {
  const { definitions, lastNumber } = start;
  const { server } = start.snapshot;
  const history = openHistory(server.dataDirectory, log);
  const monitor =
    server.autoRollback === undefined
      ? undefined
      : new RolloutMonitor(server.autoRollback, parts.clock);
  const manager = new GenerationManager(parts, {
    lastNumber,
    ...(monitor !== undefined && { monitor }),
    preflight: createPreflight(definitions, log),
    onServe(generation) {
      holds.applyTo(deploymentsIn(parts.shared));
      void writeRows(generation.snapshot, store, parts.clock.now(), log);
      worker?.onServe(generation);
    },
    ...numbering(start, history, () => manager.live?.number, worker !== undefined),
    ...(worker !== undefined && {
      onVerdict: worker.onVerdict,
      onRollback: worker.onRollback,
    }),
  });
  return { history, monitor, manager };
}

/** How generations are numbered where other processes run the same contents. */
function numbering(
  { stored }: Start,
  history: GenerationHistory,
  live: () => number | undefined,
  isWorker: boolean,
): Pick<ManagerOptions, "numberOf"> {
  // A number is one of the store: contents whose secrets have changed keep it.
  if (stored !== undefined) return { numberOf: (_digest, last) => live() ?? last + 1 };
  return isWorker ? { numberOf: (digest, last) => sharedNumber(history, digest, last) } : {};
}

/** Writes the rows of what a generation declares. Never rejects. */
async function writeRows(
  { teams, tenants }: Snapshot,
  store: Pick<Store, "teams" | "tenants">,
  nowMs: number,
  log: Log,
): Promise<void> {
  await writeDeclaredTeams(teams, store.teams, nowMs, log);
  await writeDeclared(tenants, store, nowMs, log);
}

type Generations = ReturnType<typeof createManager> & Pick<ProcessParts, "clock">;

/**
 * What a start applies: the files, or kept contents instead of them. These stay as long as the
 * files do, where `onDisk` says what they were.
 */
function startSource({ place, opened, held, definitions }: Start): EditSource {
  if (held === undefined) return { opened, origin: "start" };
  const { texts, contentsOf: generation, onDisk } = held;
  const kept = new ConfigReader(place, definitions).held(texts);
  return {
    opened: kept,
    origin: "last_good",
    held: onDisk === undefined ? undefined : { texts, contentsOf: generation, onDisk },
  };
}

/** Applies the configuration of the start, and follows its files from then on. */
async function applyFirst(
  options: StartOptions,
  start: Start,
  generations: Generations,
): Promise<ConfigEdits> {
  const { place, opened, definitions, snapshot, held, isNewest } = start;
  const { log } = options;
  const { manager, history } = generations;
  const source = startSource(start);
  const how = { hasServed: held !== undefined, source, contents: contentsOf(source) };
  const first = await manager.apply(snapshot, how);
  if (first.outcome !== "applied")
    throw new ConfigError(first.findings, findLastGood(opened, log)?.contentsOf);
  const edits = new ConfigEdits({ place, definitions, log, ...generations }, first, source, opened);
  // What was saved since the files were read, or while no worker lived. The log says how it went.
  const isNewer = !start.isStill();
  if (isNewer || edits.status.drift.length > 0) {
    if (isNewest || (isNewer && held !== undefined)) void edits.catchUp().catch(() => undefined);
    else if (held === undefined) void edits.reload().catch(() => undefined);
  }
  // The next worker starts with it.
  await history.flush();
  return edits;
}
