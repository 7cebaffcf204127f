/** The composition root: the only file that knows everything. */

import { type Clock, type Log, type StateDriver, type Store } from "@sluice/spec";
import { createResilientState } from "@sluice/kit/state";
import { type Finding, formatFinding } from "./config/finding.ts";
import { openConfig, type OpenedConfig, type OpenOptions, resolveSnapshot } from "./config/load.ts";
import type { Snapshot } from "./config/snapshot.ts";
import { createCounter } from "./counting/counter.ts";
import { createFamilyFactors } from "./counting/family-factor.ts";
import { createProcessContainer } from "./generation/container.ts";
import { ConfigEdits, lastNumberBefore } from "./generation/edits.ts";
import { openHistory } from "./generation/history.ts";
import { findLastGood } from "./generation/last-good.ts";
import { type ApplyResult, GenerationManager } from "./generation/manager.ts";
import { createAdminApp } from "./http/admin/app.ts";
import { configRoutes } from "./http/admin/config.ts";
import { deploymentRoutes } from "./http/admin/deployments.ts";
import { keyListRoutes } from "./http/admin/key-list.ts";
import { keyRoutes } from "./http/admin/keys.ts";
import { addStateMetrics, metricRoutes } from "./http/admin/metrics.ts";
import { requestRoutes } from "./http/admin/requests.ts";
import { teamRoutes } from "./http/admin/teams.ts";
import { listen } from "./http/listen.ts";
import { createPublicApp } from "./http/public.ts";
import { createRequestMetrics } from "./http/request-metrics.ts";
import { createUsageSampler } from "./http/usage-sample.ts";
import { checkPipelines } from "./pipeline/compile.ts";
import { emptyRecord } from "./pipeline/exchange-record.ts";
import type { Definitions } from "./registry/definitions.ts";
import { loadPlugins } from "./registry/load.ts";
import { watchDataFolder } from "./resources/data-folder.ts";
import { type Installation, openInstallation, StartError } from "./resources/installation.ts";
import { KeyRing } from "./resources/key-ring.ts";
import { createLedger, type Ledger } from "./resources/ledger.ts";
import { openOutbox } from "./resources/outbox.ts";
import { RecentRequests } from "./resources/recent-requests.ts";
import { SharedPool } from "./resources/shared-pool.ts";
import { systemClock } from "./telemetry/clock.ts";
import { withFields } from "./telemetry/log.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { addProcessMetrics } from "./telemetry/process-metrics.ts";

/** Where the configuration is and what surrounds it. */
export interface ConfigPlace {
  readonly path: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A configuration that was read and checked whole. */
export interface CheckedConfig {
  readonly opened: OpenedConfig;
  readonly definitions: Definitions;
  readonly snapshot: Snapshot | undefined;
  readonly findings: readonly Finding[];
}

/** Reads and checks a configuration: files, plugins, schemas, order of the steps. Makes nothing. */
export async function checkConfig(place: OpenOptions): Promise<CheckedConfig> {
  const opened = openConfig(place);
  const { definitions, findings: pluginFindings } = await loadPlugins(opened.plugins);
  const { snapshot, findings, pipelines } = resolveSnapshot(opened, definitions.all);
  const orderFindings = checkPipelines(pipelines, definitions.steps, snapshot?.guardrails);
  const all = [...pluginFindings, ...findings, ...orderFindings];
  return { opened, definitions, snapshot: all.length === 0 ? snapshot : undefined, findings: all };
}

/** A start that failed because of the configuration. */
export class ConfigError extends Error {
  readonly findings: readonly Finding[];
  /** The generation that a start from the last good configuration would take, when there is one. */
  readonly lastGood: number | undefined;

  constructor(findings: readonly Finding[], lastGood?: number) {
    super(`The configuration has ${findings.length} finding${findings.length === 1 ? "" : "s"}.`);
    this.findings = findings;
    this.lastGood = lastGood;
  }
}

/** A gateway that serves. */
export interface RunningGateway {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly installation: Installation;
  readonly snapshot: Snapshot;
  /** Reads the configuration again and applies it. */
  reload(): Promise<ApplyResult>;
  /** Stops admitting, waits for what is under way up to the drain timeout, flushes the rows and closes everything. */
  stop(drainTimeoutMs?: number): Promise<void>;
}

/** What starting needs beside the configuration. */
export interface StartOptions extends ConfigPlace {
  readonly log: Log;
  readonly clock?: Clock;
  /** Starts with the newest generation of the history when the files have findings. */
  readonly mayUseLastGood?: boolean;
}

/** Time for the last rows to reach the store; what does not is moved by the next start. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Starts a gateway. Throws a ConfigError with findings, or a StartError with one line. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const { log, clock = systemClock } = options;
  const inFiles = await checkConfig(options);
  const lastGood = inFiles.snapshot === undefined ? findLastGood(inFiles.opened, log) : undefined;
  const held = options.mayUseLastGood === true ? lastGood : undefined;
  const { definitions, snapshot, findings } =
    held === undefined ? inFiles : await checkConfig({ ...options, source: held.source });
  if (snapshot === undefined) {
    if (held === undefined) throw new ConfigError(findings, lastGood?.contentsOf);
    throw new ConfigError([...inFiles.findings, ...findings]);
  }
  if (held !== undefined) {
    const { contentsOf: generation } = held;
    log.warn("started with the last good configuration, not with the files", {
      generation,
      findings: inFiles.findings.map(formatFinding),
    });
  }
  const { server } = snapshot;
  const installation = openInstallation({
    dataDirectory: server.dataDirectory,
    masterKey: options.environment.SLUICE_MASTER_KEY,
    mayMakeMasterKey: isLoopback(server.host) && isLoopback(server.admin.host),
  });
  const store = await openStore(snapshot, definitions, log);
  const ledger = openLedger(server.dataDirectory, store, log, clock);
  const dataFolder = watchDataFolder(server.dataDirectory, "outbox.db", log);
  const { keys, teams } = store;
  const keyRing = new KeyRing({ pepper: installation.pepper, masterKey: installation.masterKey, keys, teams, clock });
  const tokens = createCounter({ log, clock });
  const counting = { tokens, factors: createFamilyFactors() };
  const shared = new SharedPool();
  const recent = new RecentRequests(server.explainRequests, emptyRecord);
  const state = await openState(snapshot, definitions, log, clock);
  const metrics = createMetrics(log);
  const endProcessMetrics = addProcessMetrics(metrics);
  const container = createProcessContainer({ log, metrics, clock, definitions, shared, keyRing, ledger, tokens, state });
  const history = openHistory(server.dataDirectory, log);
  const manager = new GenerationManager(container, lastNumberBefore(snapshot, history));
  const first = await manager.apply(snapshot);
  if (first.outcome !== "applied") throw new ConfigError(first.findings);

  const edits = new ConfigEdits({ place: options, definitions, manager, history, clock, log }, first, inFiles.opened, held);
  addStateMetrics(metrics, { edits, shared, ledger, state, dataFolder, waitingForRestart: () => [] });
  let isDraining = false;
  const publicApp = createPublicApp({
    log,
    clock,
    record: (rows) => (dataFolder.isIntact ? ledger.record(rows) : Promise.reject(new Error("the data folder is gone"))),
    counting,
    sample: createUsageSampler(counting),
    recent,
    metrics: createRequestMetrics(metrics),
    live: () => (isDraining ? undefined : manager.live),
    isReady: () => !isDraining && manager.live !== undefined && dataFolder.isIntact,
  });
  const keyParts = {
    keys,
    teams,
    keyRing,
    ledger,
    clock,
    log,
    timeZone: server.timeZone,
    declared: () => manager.live?.snapshot.keys ?? [],
  };
  const adminApp = createAdminApp(
    { keyRing, headerNames: server.authHeaders, clock, log },
    {
      ...keyRoutes(keyParts),
      ...keyListRoutes(keyParts),
      ...teamRoutes(keyParts),
      ...configRoutes(edits, log),
      ...deploymentRoutes(shared),
      ...requestRoutes(recent, ledger),
      ...metricRoutes(metrics),
    },
  );
  const publicListener = await listenOrExplain(
    () => listen(publicApp.callback(), server.host, server.port),
    `${server.host}:${server.port}`,
  );
  const adminListener = await listenOrExplain(
    () => listen(adminApp.callback(), server.admin.host, server.admin.port),
    `${server.admin.host}:${server.admin.port}`,
  );

  return {
    publicUrl: publicListener.url,
    adminUrl: adminListener.url,
    installation,
    snapshot,
    reload: () => edits.reload(),
    async stop(drainTimeoutMs = server.drainTimeoutMs) {
      isDraining = true;
      endProcessMetrics();
      dataFolder.close();
      await edits.close();
      const closed = [publicListener.close(), adminListener.close()];
      await manager.close(drainTimeoutMs);
      publicListener.server.closeAllConnections();
      adminListener.server.closeAllConnections();
      await Promise.all(closed);
      await state.stop();
      await tokens.close();
      await ledger.close();
      await store.stop();
    },
  };
}

async function openStore(snapshot: Snapshot, definitions: Definitions, log: Log): Promise<Store> {
  const { use, options } = snapshot.store;
  const definition = definitions.stores.get(use);
  if (definition === undefined) throw new StartError(`No plugin provides the store ${use}.`);
  const store = definition.create(options as never, { log: withFields(log, { plugin: use }), clock: systemClock });
  try {
    await store.start(AbortSignal.timeout(60_000));
  } catch (error) {
    throw new StartError(`The store ${use} did not start: ${messageOf(error)}`, { cause: error });
  }
  return store;
}

/** Time for the server of shared state to answer at the start; without it the gateway starts all the same. */
const STATE_START_TIMEOUT_MS = 5_000;

async function openState(snapshot: Snapshot, definitions: Definitions, log: Log, clock: Clock): Promise<StateDriver> {
  const { use, options, instances } = snapshot.shared;
  const definition = definitions.states.get(use);
  if (definition === undefined) throw new StartError(`No plugin provides the shared state ${use}.`);
  const own = withFields(log, { plugin: use });
  try {
    const driver = definition.create(options as never, { log: own, clock });
    const state = definition.isRemote ? createResilientState({ driver, instances, clock, log: own }) : driver;
    await state.start(AbortSignal.timeout(STATE_START_TIMEOUT_MS));
    return state;
  } catch (error) {
    throw new StartError(`The shared state ${use} did not start: ${messageOf(error)}`, { cause: error });
  }
}

function openLedger(directory: string, store: Store, log: Log, clock: Clock): Ledger & { close(): Promise<void> } {
  let outbox;
  try {
    outbox = openOutbox({ directory });
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error });
  }
  const ledger = createLedger({ outbox, store: store.ledger, log, clock });
  return {
    ...ledger,
    async close() {
      await ledger.flush(AbortSignal.timeout(FLUSH_TIMEOUT_MS)).catch((error: unknown) => {
        log.warn("rows stay in the outbox and are moved by the next start", { error });
      });
      await ledger.stop();
      outbox.close();
    },
  };
}

async function listenOrExplain<T>(open: () => Promise<T>, address: string): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "EADDRINUSE" ? "the port is in use" : code === "EACCES" ? "this user may not use the port" : messageOf(error);
    throw new StartError(`Cannot listen on ${address}: ${why}.`, { cause: error });
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
