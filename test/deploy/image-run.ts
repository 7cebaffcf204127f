/**
 * Runs the root of an image as a container does: its user, its entry point, a read-only root, and
 * `/data` and `/tmp` as the only places to write.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ImageConfig } from "./image.ts";

const USER = "65532:65532";
const START_MS = 60_000;
const STOP_MS = 30_000;
const MASTER_KEY = `sk-${randomBytes(32).toString("hex")}`;
const PUBLIC_PORT = 14_000;
const ADMIN_PORT = 14_001;

/** Starts the image, calls it and stops it. Returns what did not hold. */
export async function runImage(
  root: string,
  config: ImageConfig,
  folder: string,
): Promise<string[]> {
  const faults: string[] = [];
  const expect = (what: string, isTrue: boolean): void => {
    console.log(`${isTrue ? "ok" : "FAILED"}: ${what}`);
    if (!isTrue) faults.push(what);
  };
  expect(`the user is ${USER}`, config.User === USER);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, 65_532, 65_532);
  const gateway = start(root, config, data);
  try {
    const isReady = await waits(() => asks(`http://127.0.0.1:${PUBLIC_PORT}/health/ready`));
    expect("it is ready with an empty data folder", isReady);
    expect("the health check passes", healthCheck(root, config, data) === 0);
    const reply = await fetch(`http://127.0.0.1:${PUBLIC_PORT}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }] }),
      signal: AbortSignal.timeout(10_000),
    });
    expect("a chat request is answered", (await reply.text()).includes('"Hello"'));
    const ended = new Promise<number | null>((resolve) => gateway.once("exit", resolve));
    process.kill(gatewayPid(data), "SIGTERM");
    const code = await Promise.race([ended, pause(STOP_MS, "late", { ref: false })]);
    expect("SIGTERM ends it with 0", code === 0);
    expect("the health check fails after the end", healthCheck(root, config, data) === 1);
  } finally {
    if (gateway.exitCode === null) gateway.kill("SIGKILL");
  }
  return faults;
}

function start(root: string, config: ImageConfig, data: string): ChildProcess {
  const environment = {
    SLUICE_PORT: String(PUBLIC_PORT),
    SLUICE_ADMIN_PORT: String(ADMIN_PORT),
    SLUICE_HOST: "127.0.0.1",
    SLUICE_MASTER_KEY: MASTER_KEY,
  };
  const child = spawn(
    "unshare",
    inContainer(root, data, config, [...config.Entrypoint, ...config.Cmd]),
    {
      env: { ...environmentOf(config), ...environment },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  return child;
}

function healthCheck(root: string, config: ImageConfig, data: string): number | null {
  const check = [
    "/nodejs/bin/node",
    "/app/node_modules/@sluice/cli/bin/health.js",
    "live",
    "/data",
  ];
  return spawnSync("unshare", inContainer(root, data, config, check), {
    env: environmentOf(config),
    stdio: ["ignore", "inherit", "inherit"],
    timeout: 10_000,
  }).status;
}

/** Options of unshare(1): mounts in a name space of its own, then the command in the root. */
function inContainer(
  root: string,
  data: string,
  { WorkingDir }: ImageConfig,
  command: readonly string[],
): readonly string[] {
  const script = join(data, "../enter.sh");
  writeFileSync(
    script,
    `set -e
root=$1 data=$2 folder=$3
shift 3
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs -o size=64m tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
if chroot --userspec=${USER} "$root" /bin/touch /app/written 2>/dev/null; then exit 90; fi
cd /
exec chroot --userspec=${USER} "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
`,
  );
  return ["--mount", "--", "/bin/sh", script, root, data, WorkingDir, ...command];
}

function environmentOf(config: ImageConfig): Record<string, string> {
  return Object.fromEntries(
    config.Env.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

/** The process of the gateway, which is its own entry point: unshare and chroot became it. */
function gatewayPid(data: string): number {
  return (JSON.parse(readFileSync(join(data, "gateway.json"), "utf8")) as { readonly pid: number })
    .pid;
}

async function asks(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false;
  }
}

async function waits(isTrue: () => Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + START_MS;
  while (performance.now() < endMs) {
    if (await isTrue()) return true;
    await pause(200);
  }
  return false;
}
