/**
 * Which process runs on which core: the server alone on one, load and upstream together on another.
 */

import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** A role that has a core. */
export type Core = "server" | "load";

const CORE_NUMBER: Record<Core, string> = { server: "0", load: "1" };

/** Whether processes can be pinned: `taskset` is installed and there are two cores. */
export const CAN_PIN = availableParallelism() >= 2 && spawnSync("taskset", ["-V"]).status === 0;

/**
 * The command that runs `command` on a core; the command itself where nothing can be pinned.
 * `taskset` keeps the pid.
 */
export function pinned(
  core: Core,
  command: string,
  args: readonly string[],
): [string, readonly string[]] {
  return CAN_PIN ? ["taskset", ["-c", CORE_NUMBER[core], command, ...args]] : [command, args];
}
