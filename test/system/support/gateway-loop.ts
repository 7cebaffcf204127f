/**
 * Loaded before `sluice serve` in the processes of `gateway-host.ts`. A gateway that has stopped
 * does not end its process: the process waits for the arguments of the next one and runs the
 * command line again. Every other end is the end of the process.
 */

import { flushCompileCache } from "node:module";
import { type CommandStart, END_OF_GATEWAY } from "./command-process.ts";

const MAIN = new URL("../../../core/cli/src/main.ts", import.meta.url).href;
/** What `sluice serve` follows. A stopped gateway leaves its handlers. */
const FOLLOWED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2", "unhandledRejection"] as const;

const exit = process.exit.bind(process);
let runs = 0;

function endRun(code: string | number | null | undefined = process.exitCode): void {
  if (code !== 0) return exit(code);
  if (runs === 0) flushCompileCache();
  for (const name of FOLLOWED) process.removeAllListeners(name);
  // The test removes the folder of the gateway.
  process.chdir("/");
  for (const stream of [process.stdout, process.stderr]) stream.write(END_OF_GATEWAY);
}

process.exit = endRun as typeof process.exit;
process.on("disconnect", () => exit(0));
process.on("message", ({ args, folder, environment }: CommandStart) => {
  process.argv.splice(2, Infinity, ...args);
  process.env = environment;
  process.chdir(folder);
  // The module runs the command when it is loaded. With another query it is loaded anew, alone.
  void import(`${MAIN}?run=${(runs += 1)}`);
});
