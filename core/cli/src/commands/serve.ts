/** `sluice serve`: the gateway as a process, with its signals. */

import cluster from "node:cluster";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import {
  checkAddresses,
  prepareStart,
  reasonsOf,
  SINGLE_PROCESS,
  type Start,
  startProcess,
  type StartOptions,
} from "@sluice/engine/start";
import { certificateOf, writeRunning } from "@sluice/engine/installation";
import { createLog, type LogLevel, watchStart } from "@sluice/engine/telemetry";
import { VERSION } from "@sluice/engine/version";
import { EXIT } from "../exit.ts";
import { buildDashboard } from "../dashboard/build-dashboard.ts";
import { OWN_URLS } from "../own-urls.ts";
import { followSignals, type ProcessSignals } from "../process-signals.ts";
import {
  REPORT_FD,
  runWorker,
  StartRefused,
  supervise,
  type WorkerEnd,
} from "@sluice/engine/cluster";
import { announcement } from "../welcome.ts";
import { collectOnceIdle } from "../collect-once-idle.ts";
import { endStart } from "../end-of-start.ts";

/** Options of the command. */
export interface ServeOptions {
  readonly config: string;
  readonly logLevel: string;
  readonly lastGood?: boolean;
  readonly supervised?: boolean;
}

const LEVELS = ["debug", "info", "warn", "error", "silent"];

export async function serve({
  config,
  logLevel,
  lastGood = false,
  supervised = false,
}: ServeOptions): Promise<void> {
  if (!LEVELS.includes(logLevel)) {
    console.error(`--log-level ${logLevel} is not one of: ${LEVELS.join(", ")}.`);
    process.exitCode = EXIT.usage;
    return;
  }
  // What the gateway writes (keys, rows) is its owner's alone.
  process.umask(0o077);
  const log = createLog(logLevel as LogLevel);
  // A plugin's forgotten promise is a fault of that plugin, and no reason to cut all streams.
  process.on("unhandledRejection", (error) =>
    log.error("a rejected promise has no handler", { error }),
  );
  const endWatch = watchStart(
    { kind: "report", reportFd: cluster.isWorker ? REPORT_FD : undefined },
    OWN_URLS,
  );
  const options: StartOptions = {
    path: config,
    cwd: process.cwd(),
    environment: process.env,
    log,
    mayUseLastGood: lastGood,
    // The first start of a version writes for some tenths of a second.
    onReady: flushCompileCache,
  };
  try {
    if (cluster.isWorker) {
      // A terminal signals a whole group of processes. The supervisor alone decides what a signal
      // means.
      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const)
        process.on(signal, () => undefined);
      await runWorker(options, { exit: exitWorker });
      return;
    }
    const signals = followSignals();
    await buildDashboard(log);
    const start = await prepareStart(options);
    await checkAddresses(start.snapshot);
    if (start.snapshot.server.workers > 1 || supervised)
      await serveWithWorkers(options, start, signals);
    else await serveAlone(options, start, signals);
  } catch (error) {
    // A worker that did not start has printed why.
    if (!(error instanceof StartRefused)) for (const line of reasonsOf(error)) console.error(line);
    // Something already open must not keep a failed start alive.
    process.exit(EXIT.notStarted);
  } finally {
    endStart();
    collectOnceIdle();
    await endWatch();
  }
}

/**
 * The command itself: a worker runs it with the arguments of the supervisor. Its place says which
 * installation runs.
 */
const COMMAND = process.argv[1] ?? join(import.meta.dirname, "../../bin/sluice.js");

async function serveWithWorkers(
  options: StartOptions,
  start: Start,
  signals: ProcessSignals,
): Promise<void> {
  const started = await supervise(options, start, {
    worker: { file: COMMAND, args: process.argv.slice(2) },
    handle: (handlers) => signals.handle(handlers),
    get isStopping() {
      return signals.isStopping;
    },
  });
  if (started !== undefined) console.log(announcement(started, process.stdout.isTTY));
}

function exitWorker(end: WorkerEnd): void {
  switch (end.kind) {
    case "stopped":
      return process.exit(EXIT.done);
    case "failed":
      console.error(end.error);
      return process.exit(1);
    case "not-started":
      for (const line of end.reasons) console.error(line);
      return process.exit(EXIT.notStarted);
    default:
      end satisfies never;
  }
}

async function serveAlone(
  options: StartOptions,
  start: Start,
  signals: ProcessSignals,
): Promise<void> {
  const { log } = options;
  const gateway = await startProcess({ ...options, onListening: () => signals.hold() }, start);
  const { publicUrl, adminUrl, snapshot } = gateway;
  const forget = writeRunning(snapshot.server.dataDirectory, {
    pid: process.pid,
    publicUrl,
    adminUrl,
    version: VERSION,
    ...certificateOf(snapshot.server),
  });
  signals.handle({
    async stop() {
      await gateway.stop();
      forget();
    },
    // The log says how it went.
    reload: () => void gateway.reload().catch(() => undefined),
    restart: () => log.warn(SINGLE_PROCESS),
  });
  if (!signals.isStopping) console.log(announcement(gateway, process.stdout.isTTY));
}
