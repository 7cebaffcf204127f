/**
 * The composition root: create, listen, shut down. One scope closes in reverse order what the start
 * opened, also when the start fails.
 */

import { within } from "@sluice/kit";
import { setTimeout as pause } from "node:timers/promises";
import { undici } from "@sluice/kit/internals";
import { outboxNames } from "./accounting/outbox/orphaned-outboxes.ts";
import type { Snapshot } from "./config/snapshot.ts";
import { createAdmin, createPublic } from "./create-apps.ts";
import type { OwnListeners } from "./http/extensions/inside.ts";
import { watchAuditHead } from "./http/access/audit-head.ts";
import type { Admission } from "./http/public.ts";
import { createProcess, type GatewayProcess } from "./create-process.ts";
import type { ApplyResult } from "./generation/rollout/apply.ts";
import type { CanaryEnd } from "./generation/rollout/canary/canary.ts";
import type { RollbackNotice } from "./generation/rollout/state/model.ts";
import { ClosingScope } from "./generation/scope.ts";
import { listen, type Listener } from "./http/listener/listen.ts";
import { listenOrExplain, openTls } from "./open-parts.ts";
import { prepareStart, type Start, type StartOptions } from "./prepare-start.ts";
import type { Installation } from "./resources/installation.ts";

/** A process that serves: a gateway, or a worker of one. */
export interface RunningGateway {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly installation: Installation;
  readonly snapshot: Snapshot;
  /** Reads the configuration again and applies it. */
  reload(): Promise<ApplyResult>;
  /** Files of plugins that have changed since they were loaded. */
  readonly waitingForRestart: readonly string[];
  /** Takes what all processes decided about the canary of these contents. */
  countVotes(digest: string, end: CanaryEnd, reason: string): void;
  /** Takes the rollback of another process. */
  rollBack(notice: RollbackNotice): void;
  /** Runs what another process runs. Rejects, or resolves with a refusal, when it cannot. */
  follow(generation: number, digest: string): Promise<ApplyResult | undefined>;
  /** Another process has changed keys or tenants. Resolves once the changes are in force. */
  forgetKeys(): Promise<void>;
  /** Moves the rows of an outbox that no process holds any more. Never rejects. */
  adopt(outbox: string): Promise<void>;
  /**
   * Leaves new connections to other workers, serves those it has until they end, up to the drain
   * timeout, then stops.
   */
  retire(): Promise<void>;
  /**
   * Stops admitting, waits for what is under way up to the drain timeout, flushes the rows and
   * closes everything.
   */
  stop(drainTimeoutMs?: number): Promise<void>;
}

/**
 * Starts a gateway, or a worker of one. Throws a ConfigError with findings, or a StartError with
 * one line; nothing stays open then.
 */
export async function startProcess(options: StartOptions, start?: Start): Promise<RunningGateway> {
  const scope = new ClosingScope(options.log);
  try {
    const parts = await createProcess(options, start ?? (await prepareStart(options)), scope);
    const admission: Admission = { phase: "serving" };
    // Before the first call needs it.
    undici();
    options.onReady?.();
    const listeners = await openListeners(parts, admission, scope);
    // A start may take its time. A block delays clients only from here on.
    await parts.blockWatch.begin();
    if (options.worker === undefined) void adoptLeft(parts);
    parts.fleet.begin(options.worker === undefined ? listeners.admin.url : undefined);
    parts.leader.begin();
    scope.defer(watchAuditHead(parts.store.audit, parts.log));
    return runningGateway(parts, listeners, shutdownOf({ parts, listeners, admission, scope }));
  } catch (error) {
    await scope.close();
    throw error;
  }
}

interface Listeners {
  readonly public: Listener;
  readonly admin: Listener;
}

async function openListeners(
  parts: GatewayProcess,
  admission: Admission,
  scope: ClosingScope,
): Promise<Listeners> {
  const { server } = parts.snapshot;
  const { log, worker, onListening } = parts.options;
  const tls = openTls(server.tls, log);
  const own: OwnListeners = {};
  const publicApp = createPublic(parts, admission, own);
  const adminApp = createAdmin(parts, admission, own);
  const atPublic = await listenOrExplain(
    () => listen(publicApp, server.host, server.port, { tls }),
    `${server.host}:${server.port}`,
  );
  scope.defer(() => atPublic.close());
  onListening?.();
  // The supervisor answers for administration. It asks its workers at an address that only this
  // machine reaches.
  const { host, port } = worker === undefined ? server.admin : { host: "127.0.0.1", port: 0 };
  const adminTls = worker === undefined ? tls : undefined;
  const atAdmin = await listenOrExplain(
    () => listen(adminApp, host, port, { isShared: worker === undefined, tls: adminTls }),
    `${host}:${port}`,
  );
  scope.defer(() => atAdmin.close());
  return { public: atPublic, admin: atAdmin };
}

/** Moves the rows of outboxes that ended processes left, one outbox after the other. */
async function adoptLeft({ snapshot, outboxFile, adopt }: GatewayProcess): Promise<void> {
  for (const name of outboxNames(snapshot.server.dataDirectory))
    if (name !== outboxFile) await adopt(name);
}

interface Stopped {
  readonly parts: GatewayProcess;
  readonly listeners: Listeners;
  readonly admission: Admission;
  readonly scope: ClosingScope;
}

/**
 * Ends a gateway: `drainTimeoutMs` for what is under way, after `delayMs` in which it serves and is
 * not ready.
 */
type Shutdown = (drainTimeoutMs: number, delayMs: number) => Promise<void>;

/** A shutdown that runs once; later calls return the first one's promise. */
function shutdownOf({ parts, listeners, admission, scope }: Stopped): Shutdown {
  const { manager, edits, fleet, pluginFiles, stopping } = parts;
  let stopped: Promise<void> | undefined;
  const shutDown: Shutdown = async (drainTimeoutMs, delayMs) => {
    admission.phase = "leaving";
    stopping.abort(new Error("the gateway stops"));
    fleet.leave();
    pluginFiles.close();
    await edits.close();
    // Clients and load balancers open their next connection elsewhere.
    listeners.public.dismiss();
    if (delayMs > 0) await pause(delayMs);
    admission.phase = "draining";
    await manager.close(drainTimeoutMs);
    await scope.close();
  };
  return (drainTimeoutMs, delayMs) => (stopped ??= shutDown(drainTimeoutMs, delayMs));
}

function runningGateway(
  parts: GatewayProcess,
  listeners: Listeners,
  shutDown: Shutdown,
): RunningGateway {
  const { snapshot, installation, manager, edits, keyRing, pluginFiles, clock, adopt } = parts;
  const { server } = snapshot;
  return {
    publicUrl: listeners.public.url,
    adminUrl: listeners.admin.url,
    installation,
    snapshot,
    get waitingForRestart() {
      return pluginFiles.waiting;
    },
    countVotes: (digest, end, reason) =>
      manager.notify({ type: "votes-counted", digest, end, reason }),
    rollBack: (notice) => manager.notify({ type: "noticed", notice }),
    follow: (generation, digest) => edits.follow(generation, digest),
    forgetKeys: () => keyRing.refresh(),
    adopt,
    reload: () => edits.reload(),
    async retire() {
      const { drainTimeoutMs } = server;
      const startMs = clock.monotonic();
      await within(drainTimeoutMs, listeners.public.retire(), () => undefined);
      // It accepts no connection any more: no load balancer has to be given time.
      await shutDown(Math.max(0, drainTimeoutMs - (clock.monotonic() - startMs)), 0);
    },
    stop: (drainTimeoutMs = server.drainTimeoutMs) =>
      shutDown(drainTimeoutMs, server.shutdownDelayMs),
  };
}
