/** The CPU of a command. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** `USER_HZ`: 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** CPU milliseconds of a command of a checkout, user and system. Throws when the command fails. */
export function timeCommand(root: string, command: readonly string[]): number {
  const beforeMs = endedChildrenMs();
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, "core/cli/bin/sluice.js"), ...command],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  if (status !== 0)
    throw new Error(`sluice ${command.join(" ")} ended with ${String(status)}: ${stderr}`);
  return endedChildrenMs() - beforeMs;
}

/**
 * CPU milliseconds of this process's children that have ended: cutime and cstime, the 16th and 17th
 * fields of the line.
 */
function endedChildrenMs(): number {
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
