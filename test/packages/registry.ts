/** A registry of this machine: packages that are published there, and every other one from npm's. */

import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const VERDACCIO = "6.10.4";
/** A dependency of verdaccio asks for a tag that mirrors do not have. */
const OVERRIDES = { "node-fetch": "2.7.0" };
const INSTALL_MS = 300_000;
const START_MS = 60_000;
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/verdaccio");

/** A running registry. */
export interface Registry {
  /** `http://127.0.0.1:PORT/`. */
  readonly url: string;
  /** A file of npm's settings that names this registry alone. */
  readonly userConfig: string;
  stop(): Promise<void>;
}

/** Starts verdaccio in a folder. Rejects when it cannot be installed or does not start. */
export async function startRegistry(folder: string): Promise<Registry> {
  const command = await install();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "verdaccio.json");
  writeFileSync(config, JSON.stringify(configOf(folder, upstreamRegistry())));
  const userConfig = join(folder, "npmrc");
  writeFileSync(
    userConfig,
    `registry=${url}\n//127.0.0.1:${port}/:_authToken=local\naudit=false\nfund=false\nupdate-notifier=false\n`,
  );
  const child = spawn(
    process.execPath,
    [command, "--config", config, "--listen", `127.0.0.1:${port}`],
    {
      stdio: "ignore",
    },
  );
  await answers(`${url}-/ping`);
  return {
    url,
    userConfig,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, "exit");
    },
  };
}

async function install(): Promise<string> {
  const command = join(CACHE, "node_modules/verdaccio/bin/verdaccio");
  if (existsSync(command)) return command;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(
    join(CACHE, "package.json"),
    JSON.stringify({ private: true, overrides: OVERRIDES }),
  );
  const options = { cwd: CACHE, timeout: INSTALL_MS };
  await promisify(execFile)(
    "npm",
    ["install", "--no-audit", "--no-fund", `verdaccio@${VERDACCIO}`],
    options,
  );
  return command;
}

function upstreamRegistry(): string {
  return execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
}

/** Our own names are never looked for elsewhere: a package of theirs there is not ours. */
function configOf(folder: string, upstream: string): object {
  const own = { access: "$all", publish: "$all", unpublish: "$all" };
  return {
    storage: join(folder, "storage"),
    uplinks: { npm: { url: upstream, maxage: "1h" } },
    packages: {
      "@sluice/*": own,
      sluice: own,
      "sluice-*": own,
      "**": { access: "$all", proxy: "npm" },
    },
    max_body_size: "100mb",
    log: { type: "stdout", format: "json", level: "error" },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function answers(url: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    const reply = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (reply?.ok === true) return;
    await new Promise((wake) => setTimeout(wake, 200));
  }
  throw new Error(`The registry did not answer at ${url} within ${START_MS} ms.`);
}
