/** Redis servers of a test's own, on free ports. The service of the machine is left alone. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";

/** Whether servers can be started. Suites that need one are skipped without it. */
export const hasRedisServer = spawnSync("redis-server", ["--version"]).status === 0;

/** A running server. */
export interface RedisServer {
  readonly port: number;
  readonly process: ChildProcess;
  /** Kills it, as a crash would. Resolves when it has ended. */
  kill(): Promise<void>;
}

/** A folder with servers, removed at the end. */
export interface RedisServers {
  readonly folder: string;
  /** Starts a server with these lines of configuration, and waits until it accepts connections. */
  start(
    lines: readonly string[],
    options?: { readonly port?: number; readonly isSentinel?: boolean },
  ): Promise<RedisServer>;
  dispose(): Promise<void>;
}

/** Makes an empty folder for servers. */
export function redisServers(): RedisServers {
  const folder = mkdtempSync(join(tmpdir(), "sluice-redis-"));
  const running: RedisServer[] = [];
  let count = 0;
  return {
    folder,
    async start(lines, { port: wanted, isSentinel = false } = {}) {
      const port = wanted ?? (await freePort());
      count += 1;
      const path = join(folder, `server-${count}.conf`);
      const hasPort = lines.some((line) => line.startsWith("port "));
      const base = [hasPort ? "" : `port ${port}`, "bind 127.0.0.1", `dir ${folder}`, 'save ""'];
      const own = isSentinel ? base.slice(0, 3) : base;
      writeFileSync(path, [...own, ...lines, ""].join("\n"));
      const child = spawn("redis-server", [path, ...(isSentinel ? ["--sentinel"] : [])], {
        stdio: "ignore",
      });
      const server: RedisServer = {
        port,
        process: child,
        async kill() {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, "exit");
          child.kill("SIGKILL");
          await ended;
        },
      };
      running.push(server);
      await eventually(`Redis on port ${port}`, () => accepts(port));
      return server;
    },
    async dispose() {
      await Promise.all(running.map((server) => server.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** An authority, and certificates of a server and of a client, made by `openssl` in a folder. */
export function makeCertificates(folder: string) {
  const file = (name: string): string => join(folder, name);
  const run = (...parts: string[]): void =>
    void execFileSync("openssl", parts, { cwd: folder, stdio: "ignore" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  run(
    "req",
    "-x509",
    ...newKey,
    "-subj",
    "/CN=test authority",
    "-days",
    "2",
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
  );
  writeFileSync(file("names"), "subjectAltName=DNS:redis.test\n");
  for (const name of ["server", "client"]) {
    run("req", ...newKey, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    run(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-days",
      "2",
      "-extfile",
      "names",
      "-out",
      `${name}.pem`,
    );
  }
  return {
    ca: file("ca.pem"),
    server: { cert: file("server.pem"), key: file("server.key") },
    client: { cert: file("client.pem"), key: file("client.key") },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("connect", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });
}
