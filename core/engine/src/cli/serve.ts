/** `sluice serve`: the gateway as a process, with its signals. */

import { ConfigError, type RunningGateway, startGateway } from "../bootstrap.ts";
import { formatFinding } from "../config/finding.ts";
import { StartError } from "../resources/installation.ts";
import { createLog, type LogLevel } from "../telemetry/log.ts";
import { EXIT } from "./exit.ts";
import { welcome } from "./welcome.ts";

/** Options of the command. */
export interface ServeOptions {
  readonly config: string;
  readonly logLevel: string;
  readonly lastGood?: boolean;
}

const LEVELS = ["debug", "info", "warn", "error", "silent"];

export async function serve({ config, logLevel, lastGood = false }: ServeOptions): Promise<void> {
  if (!LEVELS.includes(logLevel)) {
    console.error(`--log-level ${logLevel} is not one of: ${LEVELS.join(", ")}.`);
    process.exitCode = EXIT.usage;
    return;
  }
  // What the gateway writes (keys, rows) is its owner's alone.
  process.umask(0o077);
  // A hang-up before the gateway serves asks for what is happening anyway.
  const ignore = (): void => {};
  process.on("SIGHUP", ignore);
  const log = createLog(logLevel as LogLevel);
  // A plugin's forgotten promise is a fault of that plugin, and no reason to cut everybody's streams.
  process.on("unhandledRejection", (error) => log.error("a promise was rejected, and nobody waits for it", { error }));
  let gateway: RunningGateway;
  try {
    gateway = await startGateway({ path: config, cwd: process.cwd(), environment: process.env, log, mayUseLastGood: lastGood });
  } catch (error) {
    explain(error);
    // Something already open must not keep a failed start alive.
    process.exit(EXIT.notStarted);
  }
  handleSignals(gateway);
  process.off("SIGHUP", ignore);
  console.log(welcome(gateway));
}

function explain(error: unknown): void {
  if (error instanceof ConfigError) {
    for (const finding of error.findings) console.error(formatFinding(finding));
    if (error.lastGood !== undefined) {
      console.error(
        `Generation ${error.lastGood} ran here last: sluice serve --last-good starts with it, and leaves the files as they are.`,
      );
    }
  } else if (error instanceof StartError) {
    console.error(error.message);
  } else {
    console.error(error);
  }
}

function handleSignals(gateway: RunningGateway): void {
  // The log says how it went.
  process.on("SIGHUP", () => void gateway.reload().catch(() => undefined));
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
