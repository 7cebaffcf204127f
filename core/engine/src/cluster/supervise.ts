/**
 * The supervising process: it serves no client. It keeps the workers alive and answers for
 * administration.
 */

import type { Log } from "@sluice/contract";
import type { ServerSettings } from "../config/snapshot.ts";
import type { Start, StartOptions } from "../prepare-start.ts";
import { responsive } from "./admin/ask-workers.ts";
import { authenticate, masterAlone } from "../http/access/authenticate.ts";
import { supervisorProof } from "../http/access/forwarded.ts";
import { createWorkersListener } from "./admin/admin-workers.ts";
import { listen, type Listener } from "../http/listener/listen.ts";
import { hostState, installationOf, listenOrExplain, openTls } from "../open-parts.ts";
import { lockDataFolder } from "../resources/data-lock.ts";
import { certificateOf, writeRunning } from "../resources/running-file.ts";
import { outboxNames } from "../accounting/outbox/orphaned-outboxes.ts";
import { WORKER_METRICS } from "../telemetry/metric-table.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { prometheusText } from "../telemetry/prometheus.ts";
import { codeDigest, VERSION } from "../telemetry/version.ts";
import { Supervisor } from "./supervisor.ts";
import type { RestartResult } from "./restarts.ts";
import { fixedSettings } from "./fixed-settings.ts";
import { MasterKeys } from "./admin/master-keys.ts";
import type { SupervisorHost } from "./process-host.ts";
import type { RunningGateway } from "../bootstrap.ts";

/** The public members of a running supervisor. */
export type Supervised = Pick<
  RunningGateway,
  "publicUrl" | "adminUrl" | "installation" | "snapshot"
>;

/**
 * Starts the workers and the admin listener. Resolves with `undefined` when a stop was signalled
 * before all served. Throws a StartError, or a StartRefused when a worker did not start: that
 * worker has reported why.
 */
export async function supervise(
  options: StartOptions,
  start: Start,
  host: SupervisorHost,
): Promise<Supervised | undefined> {
  const { log, environment } = options;
  const { snapshot, definitions } = start;
  const { server } = snapshot;
  const installation = installationOf(snapshot, environment);
  const proof = supervisorProof(installation.pepper);
  const readMaster = (): string => installationOf(snapshot, environment).masterKey;
  const masterKeys = new MasterKeys(installation.masterKey, readMaster);
  const dataLock = lockDataFolder(server.dataDirectory);
  const state = hostState(snapshot, definitions, log);
  await state?.start(AbortSignal.timeout(5_000));
  const fixed = fixedSettings(snapshot, definitions);
  const size = server.workers;
  const supervisor = new Supervisor({ size, log, state, fixed, entry: host.worker });
  const restart = (): Promise<RestartResult> =>
    supervisor.restart(() => runningCanary(supervisor, masterKeys));
  const adminListener = await listenForAdmin({
    server,
    isStored: snapshot.configSource.source !== "files",
    log,
    supervisor,
    masterKeys,
    proof,
    restart,
  });
  let forgetRunning = (): void => undefined;
  host.handle({
    async stop() {
      await supervisor.stop();
      adminListener.server.closeAllConnections();
      await adminListener.close();
      await state?.stop();
      forgetRunning();
      dataLock.release();
    },
    kill: () => supervisor.kill(),
    reload: () => supervisor.reload(),
    // The log has the outcome.
    restart: () => void restart(),
  });
  const publicUrl = await supervisor
    .start(outboxNames(server.dataDirectory))
    .catch((error: unknown) => {
      // Serving workers finish their requests: the stop waits for them.
      if (host.isStopping) return undefined;
      supervisor.kill();
      throw error;
    });
  if (publicUrl === undefined || host.isStopping) return undefined;
  const adminUrl = adminListener.url;
  const { pid } = process;
  const running = { pid, publicUrl, adminUrl, version: VERSION, ...certificateOf(server) };
  forgetRunning = writeRunning(server.dataDirectory, running);
  return { publicUrl, adminUrl, installation, snapshot };
}

/**
 * The reason against a restart while a canary runs: a new worker reads the files, and those of a
 * canary would serve all keys.
 */
async function runningCanary(
  supervisor: Supervisor,
  masterKeys: MasterKeys,
): Promise<string | undefined> {
  const answer = await masterKeys.lookAt(responsive(supervisor.serving), "/config/status");
  const { canary = null } = answer as { readonly canary?: object | null };
  return canary === null
    ? undefined
    : "A canary runs: end it with sluice canary promote or abort, then restart.";
}

/** The parts of the supervisor's admin listener. */
interface AdminParts {
  readonly server: ServerSettings;
  readonly isStored: boolean;
  readonly log: Log;
  readonly supervisor: Supervisor;
  readonly masterKeys: MasterKeys;
  readonly proof: string;
  readonly restart: () => Promise<RestartResult>;
}

/** Opens the admin listener. It answers from what its workers answer. */
function listenForAdmin({
  server,
  isStored,
  log,
  supervisor,
  masterKeys,
  proof,
  restart,
}: AdminParts): Promise<Listener> {
  const code = codeDigest();
  const metrics = supervisorMetrics(supervisor, log);
  const admin = createWorkersListener({
    log,
    size: server.workers,
    supervisor: () => ({
      pid: process.pid,
      version: VERSION,
      is_outdated: supervisor.runsOtherCodeThan(code),
    }),
    async authenticate(headers) {
      await authenticate(headers, {
        keyRing: masterAlone(masterKeys.present),
        headerNames: server.authHeaders,
      });
    },
    proof,
    isStored,
    browser: server.admin,
    serving: () => supervisor.serving,
    alive: () => supervisor.alive,
    restart,
    between: (edit) =>
      supervisor.mutex.takeSoon(
        edit,
        "A restart or another edit is under way: ask again when it has ended.",
      ),
    forget: () => supervisor.forget(),
    metrics: () => prometheusText(metrics.read()),
  });
  const { host, port } = server.admin;
  const open = (): Promise<Listener> =>
    listen(admin, host, port, { isShared: false, tls: openTls(server.tls, log) });
  return listenOrExplain(open, `${host}:${port}`);
}

function supervisorMetrics(supervisor: Supervisor, log: Log) {
  const metrics = createMetrics(log);
  metrics.observe("gauge", WORKER_METRICS.serving, () => [[supervisor.serving.length]]);
  metrics.observe("gauge", WORKER_METRICS.leaving, () => [
    [supervisor.alive.length - supervisor.serving.length],
  ]);
  metrics.observe("counter", WORKER_METRICS.ends, () => [[supervisor.counts.ends]]);
  metrics.observe("counter", WORKER_METRICS.hung, () => [[supervisor.counts.hung]]);
  return metrics;
}
