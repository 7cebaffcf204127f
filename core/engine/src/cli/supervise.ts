/** The supervising process: it serves no client. It keeps the workers alive and answers for administration. */

import type { Start, StartOptions } from "../prepare-start.ts";
import { lookAt, responsive } from "../http/admin/ask-workers.ts";
import { authenticate, masterAlone } from "../http/admin/authenticate.ts";
import { createWorkersListener } from "../http/admin/workers.ts";
import { listen } from "../http/listen.ts";
import { hostState, installationOf, listenOrExplain, openTls } from "../open-parts.ts";
import { lockDataFolder } from "../resources/data-lock.ts";
import { certificateOf, writeRunning } from "../resources/running-file.ts";
import { outboxNames } from "../resources/left-outboxes.ts";
import { CREW_METRICS } from "../telemetry/metric-table.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { prometheusText } from "../telemetry/prometheus.ts";
import { codeDigest, VERSION } from "../telemetry/version.ts";
import { Crew } from "./crew.ts";
import type { RestartResult } from "./crew-parts.ts";
import { EXIT } from "./exit.ts";
import { fixedSettings } from "./fixed-settings.ts";
import { StartRefused } from "./hire.ts";
import type { ProcessSignals } from "./process-signals.ts";
import { announcement } from "./welcome.ts";

/** Starts the workers and the admin listener, and follows signals from the first worker on. Throws a StartError. */
export async function supervise(options: StartOptions, { snapshot, definitions }: Start, signals: ProcessSignals): Promise<void> {
  const { log, environment } = options;
  const { server } = snapshot;
  const installation = installationOf(snapshot, environment);
  const dataLock = lockDataFolder(server.dataDirectory);
  const code = codeDigest();
  const state = hostState(snapshot, definitions, log);
  await state?.start(AbortSignal.timeout(5_000));
  const crew = new Crew({ size: server.workers, log, state, fixed: fixedSettings(snapshot, definitions) });
  const metrics = createMetrics(log);
  metrics.observe("gauge", CREW_METRICS.serving, () => [[crew.serving.length]]);
  metrics.observe("gauge", CREW_METRICS.leaving, () => [[crew.alive.length - crew.serving.length]]);
  metrics.observe("counter", CREW_METRICS.ends, () => [[crew.counts.ends]]);
  metrics.observe("counter", CREW_METRICS.hung, () => [[crew.counts.hung]]);
  // A new worker reads the files: those of a canary would be everybody's.
  const restart = (): Promise<RestartResult> =>
    crew.restart(async () => {
      const status = (await lookAt(responsive(crew.serving), "/config/status", installation.masterKey)) as {
        readonly canary?: object | null;
      };
      return (status.canary ?? null) === null
        ? undefined
        : "A canary runs: end it with sluice canary promote or abort, then restart.";
    });
  const admin = createWorkersListener({
    log,
    size: server.workers,
    supervisor: () => ({ pid: process.pid, version: VERSION, is_outdated: crew.runsOtherCodeThan(code) }),
    authenticate: (headers) => authenticate(headers, server.authHeaders, masterAlone(installation.masterKey)),
    serving: () => crew.serving,
    alive: () => crew.alive,
    restart,
    between: (edit) => crew.turns.takeSoon(edit, "A restart or another edit is under way: ask again when it has ended."),
    forget: () => crew.forget(),
    metrics: () => prometheusText(metrics.read()),
  });
  const { host, port } = server.admin;
  const adminListener = await listenOrExplain(
    () => listen(admin, host, port, { isShared: false, tls: openTls(server.tls, log) }),
    `${host}:${port}`,
  );
  let forget = (): void => undefined;
  signals.handle({
    async stop() {
      await crew.stop();
      adminListener.server.closeAllConnections();
      await adminListener.close();
      await state?.stop();
      forget();
      dataLock.release();
    },
    kill: () => crew.kill(),
    reload: () => crew.reload(),
    // The log says how it went.
    restart: () => void restart(),
  });
  const publicUrl = await crew.start(outboxNames(server.dataDirectory)).catch((error: unknown) => {
    // Those that serve already finish what they have: the stop waits for them.
    if (signals.isStopping) return undefined;
    crew.kill();
    // The worker has said why.
    if (error instanceof StartRefused) process.exit(EXIT.notStarted);
    throw error;
  });
  if (publicUrl === undefined || signals.isStopping) return;
  forget = writeRunning(server.dataDirectory, {
    pid: process.pid,
    publicUrl,
    adminUrl: adminListener.url,
    version: VERSION,
    ...certificateOf(server),
  });
  const started = { publicUrl, adminUrl: adminListener.url, installation, snapshot };
  console.log(announcement(started, process.stdout.isTTY));
}
