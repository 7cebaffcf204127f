/** A target: one server under test. Each is a small file in `targets/`. */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pinned, type Core } from "./cores.ts";

const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 10_000;

/** What a target is given to start with. */
export interface BenchContext {
  /** A temporary folder of the target's own. */
  readonly directory: string;
  /** `http://127.0.0.1:port` of the bench upstream. */
  readonly upstreamUrl: string;
  /** The port to listen on. */
  readonly port: number;
  /** Flags for `node`, before the script. */
  readonly nodeFlags: readonly string[];
  /** The server runs so slowly that the tests of its pipelines would miss their deadlines. */
  readonly isSlow?: boolean;
}

/** How a target is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The path that answers once it can serve. Default `/`. */
  readonly readyPath?: string;
  /** What `readyPath` must answer. Default: anything. */
  readonly readyStatus?: number;
  /** Request headers beside the common ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The keys that requests use in turn: the number of each is written over `KEY_NUMBER` in the
   * headers. Default: one.
   */
  readonly usedKeys?: number;
  /** How long it may take to answer first. Default 20 s. */
  readonly startLimitMs?: number;
  /** Done once, when it answers and before it is loaded. */
  prepared?(): Promise<void>;
}

/** One server under test. */
export interface Target {
  readonly name: string;
  /** What it is, for the report. */
  readonly about: string;
  /** Whether it runs on Node, so that it can be profiled. */
  readonly isNode: boolean;
  /** Runs only when `--only` names it. */
  readonly isOnRequest?: boolean;
  /** Writes what it needs and says how it is started, or says in one sentence why it cannot be. */
  prepare(
    context: BenchContext,
  ): Launch | { readonly skip: string } | Promise<Launch | { readonly skip: string }>;
}

/** A server that runs and answers. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly usedKeys: number;
  /** Ends it: SIGTERM, and SIGKILL when that is not enough. */
  stop(): Promise<void>;
}

/**
 * Starts a server on a core and waits until it answers. Throws with the end of its output when it
 * does not.
 */
export async function startServer(
  launch: Launch,
  context: Pick<BenchContext, "directory" | "port">,
  core: Core,
): Promise<RunningServer> {
  const logFile = join(context.directory, "output.log");
  const output = openSync(logFile, "a");
  const [command, args] = pinned(core, launch.command, launch.args);
  const child = spawn(command, args, {
    cwd: launch.cwd ?? context.directory,
    env: { ...process.env, NODE_ENV: "production", ...launch.env },
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  child.once("error", () => undefined);
  try {
    await answers(child, `http://127.0.0.1:${context.port}${launch.readyPath ?? "/"}`, launch);
  } catch (error) {
    await stop(child);
    throw new Error(`${String(error)}\n${readFileSync(logFile, "utf8").slice(-1500)}`, {
      cause: error,
    });
  }
  return {
    pid: child.pid ?? 0,
    port: context.port,
    headers: launch.headers ?? {},
    usedKeys: launch.usedKeys ?? 1,
    stop: () => stop(child),
  };
}

/** A port on 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function answers(
  child: ChildProcess,
  url: string,
  { readyStatus: status, startLimitMs = START_LIMIT_MS }: Launch,
): Promise<void> {
  const limit = Date.now() + startLimitMs;
  while (Date.now() < limit) {
    if (child.exitCode !== null || child.pid === undefined)
      throw new Error(`It ended with code ${child.exitCode} before it answered.`);
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response !== undefined && (status === undefined || response.status === status)) return;
    await pause(50);
  }
  throw new Error(`It did not answer on ${url} within ${startLimitMs} ms.`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const hard = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await ended;
  clearTimeout(hard);
}
