/** `sluice serve`: the gateway as a process, with its signals. */

import cluster from "node:cluster";
import { prepareStart, type RunningGateway, startGateway, type StartOptions } from "../bootstrap.ts";
import type { Log } from "@sluice/spec";
import { SINGLE_PROCESS } from "../http/admin/restart.ts";
import { checkAddresses } from "../open-parts.ts";
import { createLog, type LogLevel } from "../telemetry/log.ts";
import { EXIT } from "./exit.ts";
import { reasonsOf } from "./start-reasons.ts";
import { supervise } from "./supervise.ts";
import { welcome } from "./welcome.ts";
import { runWorker } from "./worker.ts";

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
  // Before the gateway serves, a hang-up and the wish for a restart ask for what is happening anyway.
  const ignore = (): void => {};
  process.on("SIGHUP", ignore);
  process.on("SIGUSR2", ignore);
  const log = createLog(logLevel as LogLevel);
  // A plugin's forgotten promise is a fault of that plugin, and no reason to cut everybody's streams.
  process.on("unhandledRejection", (error) => log.error("a promise was rejected, and nobody waits for it", { error }));
  const options: StartOptions = { path: config, cwd: process.cwd(), environment: process.env, log, mayUseLastGood: lastGood };
  let gateway: RunningGateway;
  try {
    if (cluster.isWorker) {
      await runWorker(options);
      return;
    }
    const start = await prepareStart(options);
    await checkAddresses(start.snapshot);
    if (start.snapshot.server.workers > 1 || supervised) {
      await supervise(options, start);
      return;
    }
    gateway = await startGateway(options, start);
  } catch (error) {
    for (const line of reasonsOf(error)) console.error(line);
    // Something already open must not keep a failed start alive.
    process.exit(EXIT.notStarted);
  }
  handleSignals(gateway, log);
  process.off("SIGHUP", ignore);
  console.log(welcome(gateway));
}

function handleSignals(gateway: RunningGateway, log: Log): void {
  // The log says how it went.
  process.on("SIGHUP", () => void gateway.reload().catch(() => undefined));
  process.on("SIGUSR2", () => log.warn(SINGLE_PROCESS));
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    // The second signal means now: what is under way is cut, and rows that did not reach the store wait in the outbox.
    if (isStopping) process.exit(1);
    isStopping = true;
    console.log(`${signal}: finishing what is under way; once more ends at once.`);
    gateway.stop().then(
      () => process.exit(EXIT.done),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
