/** Starts a server, and says how long that took and what memory it has. */

import { type ChildProcess, spawn } from "node:child_process";
import { on, once } from "node:events";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { cpuMs, residentMb } from "../process-cost.ts";
import { freePort } from "../target.ts";

/** A server that has said that it listens. */
export interface Started {
  readonly pid: number;
  readonly readyMs: number;
  readonly readyCpuMs: number;
  residentAfter(ms: number): Promise<number>;
  /**
   * Megabytes that are in use after a full collection. Only of a server with the flags of `PROBED`.
   */
  heldMb(): Promise<number>;
  stop(): Promise<void>;
}

/** Flags for `node` with which a server tells what memory it holds. */
export const PROBED: readonly string[] = [
  "--expose-gc",
  "--import",
  fileURLToPath(new URL("../../soak/memory-probe.ts", import.meta.url)),
];

/** A Koa server with one route and nothing else. */
export function bareKoa(directory: string): Promise<Started> {
  return started([fileURLToPath(new URL("bare-koa.js", import.meta.url))], directory, {});
}

/** The gateway of a checkout with the shipped configuration. */
export async function gatewayOf(root: string, directory: string): Promise<Started> {
  for (const folder of ["config", "pipelines"])
    cpSync(join(root, folder), join(directory, folder), { recursive: true });
  const ports = {
    SLUICE_PORT: String(await freePort()),
    SLUICE_ADMIN_PORT: String(await freePort()),
  };
  return started(
    [join(root, "core/cli/bin/sluice.js"), "serve", "--log-level", "silent"],
    directory,
    ports,
  );
}

/**
 * Starts a Node program that writes to standard output when it listens. Throws when it ends before
 * that.
 */
export async function started(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<Started> {
  const beganMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  child.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => void (text.startsWith("memory ") || process.stderr.write(text)));
  if (pid === undefined) throw new Error(`${process.execPath} cannot be started.`);
  await Promise.race([once(child.stdout, "data"), failed(child)]);
  const readyMs = performance.now() - beganMs;
  return {
    pid,
    readyMs,
    readyCpuMs: cpuMs(pid),
    async residentAfter(ms) {
      await pause(ms);
      return residentMb(pid);
    },
    async heldMb() {
      const lines = on(child.stderr, "data");
      child.kill("SIGUSR2");
      let text = "";
      for await (const [line] of lines as AsyncIterable<[string]>)
        if (line.startsWith("memory ")) {
          text = line;
          break;
        }
      const { heapUsed, external } = JSON.parse(text.replace(/^memory /, "")) as NodeJS.MemoryUsage;
      return (heapUsed + external) / 1_048_576;
    },
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, "exit")) as [number | null];
  throw new Error(`The server ended with ${String(code)} before it listened.`);
}
