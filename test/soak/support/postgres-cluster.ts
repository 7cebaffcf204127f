/** A PostgreSQL server of a proof's own: in a temporary folder, on a port of its own. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePorts } from "../../system/support/free-ports.ts";

const run = promisify(execFile);
const DEBIAN = "/usr/lib/postgresql";

/** How a server is stopped: `fast` ends its sessions, `immediate` is a crash. */
export type StopMode = "fast" | "immediate";

/** A running server. */
export interface PostgresCluster {
  readonly port: number;
  /** The address of a database; of `postgres` without a name. */
  url(database?: string): string;
  /** Runs one statement in a database; in `postgres` without a name. */
  query(statement: string, database?: string): Promise<void>;
  /** The first process of the running server. */
  pid(): Promise<number>;
  start(): Promise<void>;
  stop(mode?: StopMode): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/**
 * Makes and starts a server that trusts local connections. As root it runs as the user `postgres`,
 * because PostgreSQL refuses root. `settings` are lines of postgresql.conf. Throws `Error` where
 * PostgreSQL is not installed.
 */
export async function startCluster(
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PostgresCluster> {
  const programs = await programFolder();
  const user = await userOfServer();
  const folder = await mkdtemp(join(tmpdir(), "sluice-postgres-"));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const port = Number((await freePorts()).SLUICE_PORT);
  const as = { ...user, cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" } };
  const options = Object.entries({ ...settings, port, listen_addresses: "127.0.0.1" });
  const words = options.map(([name, value]) => `-c ${name}=${value}`).join(" ");
  const control = async (...words_: readonly string[]): Promise<void> =>
    void (await run(join(programs, "pg_ctl"), ["-D", data, "-w", "-t", "60", ...words_], as));
  const cluster: PostgresCluster = {
    port,
    url: (database = "postgres") => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    async query(statement, database) {
      const client = new Client({ connectionString: cluster.url(database) });
      await client.connect();
      await client.query(statement).finally(() => client.end());
    },
    async pid() {
      const text = await readFile(join(data, "postmaster.pid"), "utf8");
      return Number(text.split("\n")[0]);
    },
    start: async () =>
      control(
        "-l",
        join(folder, "log"),
        "-o",
        `${words} -c unix_socket_directories=${folder}`,
        "start",
      ),
    stop: async (mode = "fast") => control("-m", mode, "stop"),
    async remove() {
      await cluster.stop("immediate").catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"];
  try {
    await run(join(programs, "initdb"), init, as);
    await cluster.start();
  } catch (error) {
    await cluster.remove();
    throw error;
  }
  return cluster;
}

/** The folder of `initdb`: Debian has one for each version, outside of PATH. */
async function programFolder(): Promise<string> {
  const versions = existsSync(DEBIAN) ? await readdir(DEBIAN) : [];
  const folders = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, "bin"));
  const others = (process.env["PATH"] ?? "").split(":");
  const found = [...folders, ...others].find((folder) => existsSync(join(folder, "initdb")));
  if (found === undefined) throw new Error("PostgreSQL is not installed: there is no initdb.");
  return found;
}

async function userOfServer(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "postgres"])).stdout)),
  );
  return { uid: uid ?? 0, gid: gid ?? 0 };
}
