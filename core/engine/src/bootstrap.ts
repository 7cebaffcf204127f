/** The composition root: the only file that knows everything. */

import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "./check-config.ts";
import type { Snapshot } from "./config/snapshot.ts";
import { createCounter } from "./counting/counter.ts";
import { createFamilyFactors } from "./counting/family-factor.ts";
import { createProcessContainer } from "./generation/container.ts";
import type { CanaryEnd } from "./generation/canary.ts";
import { ConfigEdits } from "./generation/edits.ts";
import { goBackOnFaults, type WentBack } from "./generation/going-back.ts";
import { openHistory, sharedNumber } from "./generation/history.ts";
import { findLastGood } from "./generation/last-good.ts";
import type { ApplyResult } from "./generation/apply.ts";
import { GenerationManager } from "./generation/manager.ts";
import { EditMeanings } from "./generation/meaning.ts";
import { SwapWatch } from "./generation/swap-watch.ts";
import { createAdminApp } from "./http/admin/app.ts";
import { configRoutes } from "./http/admin/config.ts";
import { deploymentRoutes } from "./http/admin/deployments.ts";
import { keyListRoutes } from "./http/admin/key-list.ts";
import { keyRoutes } from "./http/admin/keys.ts";
import { addStateMetrics, metricRoutes } from "./http/admin/metrics.ts";
import { keyIdOf } from "./http/admin/find-key.ts";
import { requestListRoute } from "./http/admin/request-list.ts";
import { requestRoutes } from "./http/admin/requests.ts";
import { storedNames } from "./http/admin/stored-names.ts";
import { restartRoute } from "./http/admin/restart.ts";
import { teamRoutes } from "./http/admin/teams.ts";
import { listen } from "./http/listen.ts";
import { presentedBy } from "./http/presented.ts";
import { createPublicApp } from "./http/public.ts";
import { createRequestMetrics } from "./http/request-metrics.ts";
import { createUsageSampler } from "./http/usage-sample.ts";
import { installationOf, listenOrExplain, openBlockWatch, openLedger, openState, openStore, openTls } from "./open-parts.ts";
import { emptyRecord } from "./pipeline/exchange-record.ts";
import { prepareStart, type Start, type StartOptions } from "./prepare-start.ts";
import { createRehearsal } from "./rehearsal/rehearsal.ts";
import { watchPluginFiles } from "./registry/plugin-files.ts";
import { lockDataFolder } from "./resources/data-lock.ts";
import type { Installation } from "./resources/installation.ts";
import { KeyRing } from "./resources/key-ring.ts";
import { moveLeftOutbox, outboxNames } from "./resources/left-outboxes.ts";
import { outboxName } from "./resources/outbox-file.ts";
import { RecentRequests } from "./resources/recent-requests.ts";
import { RequestShapes } from "./resources/request-shapes.ts";
import { SharedPool } from "./resources/shared-pool.ts";
import { systemClock } from "./telemetry/clock.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { addProcessMetrics } from "./telemetry/process-metrics.ts";

/** A gateway that serves. */
export interface RunningGateway {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly installation: Installation;
  readonly snapshot: Snapshot;
  /** Reads the configuration again and applies it. */
  reload(): Promise<ApplyResult>;
  /** Files of plugins that have changed since they were loaded. */
  readonly waitingForRestart: readonly string[];
  /** Ends the canary of these contents. Where none runs, one that went well is read from the files. */
  endCanary(digest: string, end: CanaryEnd, reason: string): void;
  /** Leaves contents that failed in another process, where they run. */
  goBack(wentBack: WentBack): void;
  /** Runs what another process runs. Rejects, or resolves with a refusal, when it cannot. */
  follow(generation: number, digest: string): Promise<ApplyResult | undefined>;
  /** Looks every key and team up anew: another process has changed them. */
  forgetKeys(): void;
  /** Moves the rows of an outbox that no process holds any more. Never rejects. */
  adopt(outbox: string): Promise<void>;
  /** Leaves new connections to other workers, serves those it has until they end, up to the drain timeout, then stops. */
  retire(): Promise<void>;
  /** Stops admitting, waits for what is under way up to the drain timeout, flushes the rows and closes everything. */
  stop(drainTimeoutMs?: number): Promise<void>;
}

/** Starts a gateway, or a worker of one. Throws a ConfigError with findings, or a StartError with one line. */
export async function startGateway(options: StartOptions, start?: Start): Promise<RunningGateway> {
  const { log, clock = systemClock, worker } = options;
  const { opened, definitions, snapshot, held, isNewest, lastNumber } = start ?? (await prepareStart(options));
  const { server } = snapshot;
  const installation = installationOf(snapshot, options.environment);
  const dataLock = worker === undefined ? lockDataFolder(server.dataDirectory) : undefined;
  const store = await openStore(snapshot, definitions, log, installation.pepper);
  const outboxFile = outboxName(worker?.number);
  const ledger = openLedger(server.dataDirectory, outboxFile, store, log, clock);
  const { keys, teams } = store;
  const keyRing = new KeyRing({ pepper: installation.pepper, masterKey: installation.masterKey, keys, teams, clock });
  const tokens = createCounter({ log, clock });
  const counting = { tokens, factors: createFamilyFactors() };
  const shared = new SharedPool();
  const recent = new RecentRequests(server.explainRequests, emptyRecord);
  const shapes = new RequestShapes();
  const state = await openState(snapshot, definitions, log, clock, worker?.hostedState);
  const metrics = createMetrics(log);
  const endProcessMetrics = addProcessMetrics(metrics);
  const blockWatch = openBlockWatch(snapshot, definitions, metrics, log, worker?.reportFd);
  const container = createProcessContainer({ log, metrics, clock, definitions, shared, keyRing, ledger, tokens, state });
  const history = openHistory(server.dataDirectory, log);
  const swaps = server.autoRollback === undefined ? undefined : new SwapWatch(server.autoRollback, clock);
  const manager = new GenerationManager(container, {
    lastNumber,
    ...(swaps !== undefined && { swaps }),
    rehearse: createRehearsal(definitions, log),
    ...(worker !== undefined && {
      numberOf: (digest, last) => sharedNumber(history, digest, last),
      onVerdict: worker.onVerdict,
      onServe: worker.onServe,
    }),
  });
  const first = await manager.apply(snapshot, { hasServed: held !== undefined });
  if (first.outcome !== "applied") throw new ConfigError(first.findings, findLastGood(opened, log)?.contentsOf);

  const edits = new ConfigEdits({ place: options, definitions, manager, history, swaps, clock, log }, first, opened, held);
  // What was saved since the files were read, or while no worker lived. The log says how it went.
  if (edits.status.drift.length > 0) {
    if (isNewest) void edits.catchUp().catch(() => undefined);
    else if (held === undefined) void edits.reload().catch(() => undefined);
  }
  // The next worker starts with it.
  await history.flush();
  const advice = worker === undefined ? "stop and start the gateway to load it" : "sluice restart loads it";
  const pluginFiles = watchPluginFiles(definitions.plugins, log, advice);
  addStateMetrics(metrics, { edits, shared, ledger, state, waitingForRestart: () => pluginFiles.waiting });
  /** `leaving`: not ready, and still serving. `draining`: new calls are refused. */
  let phase: "serving" | "leaving" | "draining" = "serving";
  const publicApp = createPublicApp({
    log,
    clock,
    record: (rows) => ledger.record(rows),
    note: (row) => ledger.note(row),
    checkLedger: () => ledger.check(),
    counting,
    sample: createUsageSampler(counting),
    recent,
    shapes,
    metrics: createRequestMetrics(metrics),
    live: (message) => (phase === "draining" ? undefined : manager.generationFor(() => presentedBy(message, server.authHeaders))),
    isReady: () => phase === "serving" && manager.live !== undefined && ledger.health().fault === undefined,
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
    defaults: () => manager.live?.snapshot.server.keyDefaults ?? {},
  };
  const adminApp = createAdminApp(
    {
      keyRing,
      headerNames: server.authHeaders,
      readKey: () => manager.live?.snapshot.server.admin.readKey,
      isStopping: () => phase !== "serving",
      clock,
      log,
    },
    {
      ...keyRoutes(keyParts),
      ...keyListRoutes(keyParts),
      ...teamRoutes(keyParts),
      ...configRoutes(
        edits,
        new EditMeanings({ place: options, definitions, manager, history, shapes }),
        () => pluginFiles.waiting,
        log,
        () => ledger.health(),
        storedNames(keys, teams),
      ),
      ...restartRoute(),
      ...deploymentRoutes(shared, log),
      ...requestRoutes(recent, ledger),
      ...requestListRoute(recent, ledger, (asked) => keyIdOf(keyParts, asked)),
      ...metricRoutes(metrics),
    },
  );
  const tls = openTls(server.tls, log);
  const publicListener = await listenOrExplain(
    () => listen(publicApp.callback(), server.host, server.port, { tls }),
    `${server.host}:${server.port}`,
  );
  options.onListening?.();
  // The supervising process answers for administration, and asks its workers where nobody else can reach them.
  const adminPlace = worker === undefined ? server.admin : { host: "127.0.0.1", port: 0 };
  const adminTls = worker === undefined ? tls : undefined;
  const adminListener = await listenOrExplain(
    () => listen(adminApp.callback(), adminPlace.host, adminPlace.port, { isShared: worker === undefined, tls: adminTls }),
    `${adminPlace.host}:${adminPlace.port}`,
  );
  // A start may take its time: only who is served is kept waiting by a block.
  await blockWatch.begin();
  const stopping = new AbortController();
  const adopt = (name: string): Promise<void> =>
    moveLeftOutbox(name, { directory: server.dataDirectory, store: store.ledger, log, clock }, stopping.signal);
  const left = worker === undefined ? outboxNames(server.dataDirectory).filter((name) => name !== outboxFile) : [];
  const adopting = (async () => {
    for (const name of left) await adopt(name);
  })();

  const gateway: RunningGateway = {
    publicUrl: publicListener.url,
    adminUrl: adminListener.url,
    installation,
    snapshot,
    get waitingForRestart() {
      return pluginFiles.waiting;
    },
    endCanary(digest, end, reason) {
      const { canary, live } = manager.status;
      if (canary?.generation.snapshot.digest === digest) manager.endCanary(end, reason);
      else if (end === "promoted" && live?.snapshot.digest !== digest) void edits.reload().catch(() => undefined);
    },
    goBack: goBackOnFaults({ swaps, manager, edits, log, tell: worker?.onWentBack }),
    follow: (generation, digest) => edits.follow(generation, digest),
    forgetKeys: () => keyRing.forget(),
    adopt,
    reload: () => edits.reload(),
    async retire() {
      const { drainTimeoutMs } = server;
      const startMs = clock.monotonic();
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, drainTimeoutMs);
      await Promise.race([publicListener.retire(), late.promise]);
      clearTimeout(timer);
      // It accepts nothing any more: there is nothing to be taken out of.
      stopped ??= stop(Math.max(0, drainTimeoutMs - (clock.monotonic() - startMs)), 0);
      await stopped;
    },
    stop(drainTimeoutMs = server.drainTimeoutMs) {
      stopped ??= stop(drainTimeoutMs, server.drainDelayMs);
      return stopped;
    },
  };
  let stopped: Promise<void> | undefined;
  const stop = async (drainTimeoutMs: number, delayMs: number): Promise<void> => {
    phase = "leaving";
    stopping.abort(new Error("the gateway stops"));
    pluginFiles.close();
    await edits.close();
    if (delayMs > 0) await pause(delayMs);
    phase = "draining";
    publicListener.dismiss();
    await manager.close(drainTimeoutMs);
    await publicListener.close();
    await adminListener.close();
    endProcessMetrics();
    await blockWatch.end();
    await state.stop();
    await tokens.close();
    await adopting;
    await ledger.close();
    await store.stop();
    dataLock?.release();
  };
  return gateway;
}
