/** Builds the dashboard in a checkout whose build is older than its sources. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Log } from "@sluice/contract";

/** Characters of the build's errors that the log shows. */
const MAX_ERRORS = 2_000;
const BUILD = new URL("../../../dashboard/build.ts", import.meta.url);

/**
 * Starts the build in a process of its own: the gateway serves meanwhile, and reads the files with
 * the first request for them. Does nothing in an installed package, and where the tools of the
 * build are not installed.
 */
export async function buildDashboard(log: Log): Promise<void> {
  if (!existsSync(BUILD) || !hasTools()) return;
  const { isStale } = (await import(BUILD.href)) as { isStale(): boolean };
  if (!isStale()) return;
  const child = spawn(process.execPath, [fileURLToPath(BUILD)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  // A gateway that ends is not held by the build, and leaves none behind.
  const end = (): void => void child.kill();
  process.once("exit", end);
  child.unref();
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_ERRORS);
  });
  child.on("error", (error) => log.warn("the dashboard was not built", { error }));
  child.on("exit", (code) => {
    process.off("exit", end);
    if (code !== 0 && code !== null) log.warn("the dashboard was not built", { errors });
  });
}

function hasTools(): boolean {
  try {
    createRequire(BUILD).resolve("vite/package.json");
    return true;
  } catch {
    return false;
  }
}
