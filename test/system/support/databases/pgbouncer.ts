/**
 * A PgBouncer of a test's own in transaction mode, before the server at 127.0.0.1:5432. Its pool is
 * small: connections go from one client to another, and a session's state with them.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePorts } from "../free-ports.ts";

/** Where Debian's package has the program. */
export const PGBOUNCER = "/usr/sbin/pgbouncer";
/** Whether the program is there. Suites that need it are skipped without it, and name it. */
export const isPgbouncerThere = existsSync(PGBOUNCER);

const START_MS = 10_000;
const SERVER_CONNECTIONS = 3;
const MAX_OUTPUT = 4_000;

/** A running PgBouncer. */
export interface Pgbouncer {
  /** Where its databases are: those of the server, by their names. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts one. Throws `Error` with its output when it does not listen in time. */
export async function startPgbouncer(server = "host=127.0.0.1 port=5432"): Promise<Pgbouncer> {
  const { SLUICE_PORT: port } = await freePorts();
  const folder = mkdtempSync(join(tmpdir(), "sluice-pgbouncer-"));
  const config = join(folder, "pgbouncer.ini");
  chmodSync(folder, 0o755);
  writeFileSync(
    config,
    `[databases]
* = ${server} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 500
`,
    { mode: 0o644 },
  );
  // It refuses to run as root: it becomes a user without rights, which reads its file.
  const isRoot = process.getuid?.() === 0;
  const child = spawn(PGBOUNCER, [config], {
    stdio: ["ignore", "ignore", "pipe"],
    ...(isRoot && { uid: 65_534, gid: 65_534, cwd: "/" }),
  });
  const ended = once(child, "exit");
  let said = "";
  child.stderr.on("data", (part) => (said = `${said}${part}`.slice(-MAX_OUTPUT)));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + START_MS;
  while (!(await listens(Number(port)))) {
    if (child.exitCode === null && Date.now() < deadline) {
      await pause(20);
      continue;
    }
    await stop();
    throw new Error(`${PGBOUNCER} does not listen on port ${port}: ${said}`);
  }
  return { url: `postgresql://postgres@127.0.0.1:${port}`, stop };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const found = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "error").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return found;
}
