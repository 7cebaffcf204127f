/** `sluice serve`: the gateway as a process, with its signals. */

import cluster from "node:cluster";
import { startGateway } from "../bootstrap.ts";
import { prepareStart, type Start, type StartOptions } from "../prepare-start.ts";
import { SINGLE_PROCESS } from "../http/admin/restart.ts";
import { checkAddresses } from "../open-parts.ts";
import { certificateOf, writeRunning } from "../resources/running-file.ts";
import { createLog, type LogLevel } from "../telemetry/log.ts";
import { watchStart } from "../telemetry/start-watch.ts";
import { VERSION } from "../telemetry/version.ts";
import { EXIT } from "./exit.ts";
import { followSignals, type ProcessSignals } from "./process-signals.ts";
import { reasonsOf } from "./start-reasons.ts";
import { supervise } from "./supervise.ts";
import { announcement } from "./welcome.ts";
import { runWorker } from "./worker.ts";
import { REPORT_FD } from "./worker-messages.ts";

/** Options of the command. */
export interface ServeOptions {
  readonly config: string;
  readonly logLevel: string;
  readonly lastGood?: boolean;
  readonly supervised?: boolean;
}

const LEVELS = ["debug", "info", "warn", "error", "silent"];

export async function serve({ config, logLevel, lastGood = false, supervised = false }: ServeOptions): Promise<void> {
  if (!LEVELS.includes(logLevel)) {
    console.error(`--log-level ${logLevel} is not one of: ${LEVELS.join(", ")}.`);
    process.exitCode = EXIT.usage;
    return;
  }
  // What the gateway writes (keys, rows) is its owner's alone.
  process.umask(0o077);
  const log = createLog(logLevel as LogLevel);
  // A plugin's forgotten promise is a fault of that plugin, and no reason to cut everybody's streams.
  process.on("unhandledRejection", (error) => log.error("a promise was rejected, and nobody waits for it", { error }));
  const endWatch = watchStart({ kind: "report", reportFd: cluster.isWorker ? REPORT_FD : undefined });
  const options: StartOptions = { path: config, cwd: process.cwd(), environment: process.env, log, mayUseLastGood: lastGood };
  try {
    if (cluster.isWorker) {
      await runWorker(options);
      return;
    }
    const signals = followSignals();
    const start = await prepareStart(options);
    await checkAddresses(start.snapshot);
    if (start.snapshot.server.workers > 1 || supervised) await supervise(options, start, signals);
    else await serveAlone(options, start, signals);
  } catch (error) {
    for (const line of reasonsOf(error)) console.error(line);
    // Something already open must not keep a failed start alive.
    process.exit(EXIT.notStarted);
  } finally {
    await endWatch();
  }
}

async function serveAlone(options: StartOptions, start: Start, signals: ProcessSignals): Promise<void> {
  const { log } = options;
  const gateway = await startGateway({ ...options, onListening: () => signals.hold() }, start);
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
