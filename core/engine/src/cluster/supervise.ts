/** The supervising process: it serves no client. It keeps the workers alive and answers for administration. */

import type { Start, StartOptions } from "../prepare-start.ts";
import { mayAdminister, responsive } from "./admin/ask-workers.ts";
import { authenticate, masterAlone } from "../http/admin/authenticate.ts";
import { createWorkersListener } from "./admin/admin-workers.ts";
import { listen } from "../http/listener/listen.ts";
import { hostState, installationOf, listenOrExplain, openTls } from "../open-parts.ts";
import { lockDataFolder } from "../resources/data-lock.ts";
import { certificateOf, writeRunning } from "../resources/running-file.ts";
import { outboxNames } from "../accounting/outbox/orphaned-outboxes.ts";
import { WORKER_METRICS } from "../telemetry/metric-table.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { prometheusText } from "../telemetry/prometheus.ts";
import { codeDigest, VERSION } from "../telemetry/version.ts";
import { Supervisor } from "./supervisor.ts";
import type { RestartResult } from "./supervisor-parts.ts";
import { fixedSettings } from "./fixed-settings.ts";
import { MasterKeys } from "./admin/master-keys.ts";
import type { SupervisorHost } from "./process-host.ts";
import type { RunningGateway } from "../bootstrap.ts";

/** The public members of a running supervisor. */
export type Supervised = Pick<RunningGateway, "publicUrl" | "adminUrl" | "installation" | "snapshot">;

/**
 * Starts the workers and the admin listener. Resolves with `undefined` when a stop was signalled before all served. Throws a StartError,
 * or a StartRefused when a worker did not start: that worker has reported why.
 */
export async function supervise(
  options: StartOptions,
  { snapshot, definitions }: Start,
  host: SupervisorHost,
): Promise<Supervised | undefined> {
  const { log, environment } = options;
  const { server } = snapshot;
  const installation = installationOf(snapshot, environment);
  const masterKeys = new MasterKeys(installation.masterKey, () => installationOf(snapshot, environment).masterKey);
  const dataLock = lockDataFolder(server.dataDirectory);
  const code = codeDigest();
  const state = hostState(snapshot, definitions, log);
  await state?.start(AbortSignal.timeout(5_000));
  const supervisor = new Supervisor({
    size: server.workers,
    log,
    state,
    fixed: fixedSettings(snapshot, definitions),
    entry: host.worker,
  });
  const metrics = createMetrics(log);
  metrics.observe("gauge", WORKER_METRICS.serving, () => [[supervisor.serving.length]]);
  metrics.observe("gauge", WORKER_METRICS.leaving, () => [[supervisor.alive.length - supervisor.serving.length]]);
  metrics.observe("counter", WORKER_METRICS.ends, () => [[supervisor.counts.ends]]);
  metrics.observe("counter", WORKER_METRICS.hung, () => [[supervisor.counts.hung]]);
  // A new worker reads the files: those of a canary would serve all keys.
  const restart = (): Promise<RestartResult> =>
    supervisor.restart(async () => {
      const status = (await masterKeys.lookAt(responsive(supervisor.serving), "/config/status")) as {
        readonly canary?: object | null;
      };
      return (status.canary ?? null) === null
        ? undefined
        : "A canary runs: end it with sluice canary promote or abort, then restart.";
    });
  const admin = createWorkersListener({
    log,
    size: server.workers,
    supervisor: () => ({ pid: process.pid, version: VERSION, is_outdated: supervisor.runsOtherCodeThan(code) }),
    async authenticate(headers) {
      try {
        await authenticate(headers, server.authHeaders, masterAlone(masterKeys.present));
      } catch (refusal) {
        // The workers know whether the previous key is still accepted.
        if (!(await mayAdminister(responsive(supervisor.serving), headers))) throw refusal;
      }
    },
    serving: () => supervisor.serving,
    alive: () => supervisor.alive,
    restart,
    between: (edit) => supervisor.mutex.takeSoon(edit, "A restart or another edit is under way: ask again when it has ended."),
    forget: () => supervisor.forget(),
    metrics: () => prometheusText(metrics.read()),
  });
  const place = server.admin;
  const adminListener = await listenOrExplain(
    () => listen(admin, place.host, place.port, { isShared: false, tls: openTls(server.tls, log) }),
    `${place.host}:${place.port}`,
  );
  let forget = (): void => undefined;
  host.handle({
    async stop() {
      await supervisor.stop();
      adminListener.server.closeAllConnections();
      await adminListener.close();
      await state?.stop();
      forget();
      dataLock.release();
    },
    kill: () => supervisor.kill(),
    reload: () => supervisor.reload(),
    // The log has the outcome.
    restart: () => void restart(),
  });
  const publicUrl = await supervisor.start(outboxNames(server.dataDirectory)).catch((error: unknown) => {
    // Serving workers finish their requests: the stop waits for them.
    if (host.isStopping) return undefined;
    supervisor.kill();
    throw error;
  });
  if (publicUrl === undefined || host.isStopping) return undefined;
  forget = writeRunning(server.dataDirectory, {
    pid: process.pid,
    publicUrl,
    adminUrl: adminListener.url,
    version: VERSION,
    ...certificateOf(server),
  });
  return { publicUrl, adminUrl: adminListener.url, installation, snapshot };
}
