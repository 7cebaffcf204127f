/** A gateway in a process of its own, on free ports, with a probe. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { extname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseJson } from "@sluice/kit";

/** What a gateway holds. */
export interface Held {
  readonly rss: number;
  readonly heapUsed: number;
  readonly handles: number;
  readonly files: number;
}

/** A gateway that serves. */
export interface GatewayChild {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly masterKey: string;
  /** The memory and handles that the gateway holds after a garbage collection. */
  held(): Promise<Held>;
  stop(): Promise<void>;
}

const COMMAND = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));
const PROBE = new URL(`probe${extname(import.meta.url)}`, import.meta.url).href;
const LISTENS = /Sluice listens on (\S+), for administration on ([^\s"]+)\.(?:"|$)/m;
const START_MS = 30_000;
const PROBE_MS = 15_000;
const STOP_MS = 10_000;

/** Starts the gateway. Throws an Error with its output when it does not become ready. */
export async function startGatewayChild(path: string): Promise<GatewayChild> {
  const masterKey = `sk-${randomBytes(24).toString("hex")}`;
  const child = spawn(
    process.execPath,
    ["--expose-gc", "--import", PROBE, COMMAND, "serve", "--config", path, "--log-level", "error"],
    {
      env: {
        ...process.env,
        SLUICE_MASTER_KEY: masterKey,
        SLUICE_SOAK_KEY: "of the fake upstream",
        SLUICE_HOST: "127.0.0.1",
        SLUICE_PORT: "0",
        SLUICE_ADMIN_PORT: "0",
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const said = { out: "", error: "", lines: [] as string[] };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.error = `${said.error}${text}`.slice(-MAX_SAID);
    said.lines.push(...text.split("\n").filter((line) => line.startsWith("soak {")));
  });
  const match = await until(START_MS, child, () => LISTENS.exec(said.out));
  if (match === undefined) {
    await end(child);
    throw new Error(`the gateway did not start:\n${said.out}${said.error}`);
  }
  const [, publicUrl = "", adminUrl = ""] = match;
  return {
    publicUrl,
    adminUrl,
    masterKey,
    async held() {
      const before = said.lines.length;
      child.kill("SIGUSR2");
      const line = await until(PROBE_MS, child, () => said.lines[before]);
      if (line === undefined)
        throw new Error(`the gateway does not say what it holds:\n${said.error}`);
      return parseJson(line.slice("soak ".length)) as Held;
    },
    stop: () => end(child),
  };
}

const MAX_SAID = 20_000;

/** Looks again and again, as long as the process lives and the time lasts. */
async function until<T>(
  timeoutMs: number,
  child: ChildProcess,
  look: () => T | null | undefined,
): Promise<T | undefined> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const seen = look();
    if (seen !== null && seen !== undefined) return seen;
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > endMs)
      return undefined;
    await pause(20);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}
