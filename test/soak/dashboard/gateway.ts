/** A gateway on a core of its own, and a session of a browser that asks it. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MODEL } from "../../bench/scenarios.ts";
import { freePort, type RunningServer, startServer } from "../../bench/target.ts";
import { launch } from "../../bench/targets/gateway/launch.ts";
import { PRESENT } from "../../bench/targets/gateway/present.ts";

const UPSTREAM = fileURLToPath(new URL("../../bench/load/upstream.ts", import.meta.url));
const PROBE = new URL("../loop-probe.ts", import.meta.url).href;
const DEADLINE_MS = 30_000;
const LONGEST = /loop \{"mostMs":([\d.]+)\}/g;

/** What an answer took, and what it was. */
export interface Asked {
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  readonly text: string;
  readonly etag: string | undefined;
}

/** A gateway for a proof. */
export interface ProofGateway extends AsyncDisposable {
  readonly server: RunningServer;
  readonly dataDirectory: string;
  readonly masterKey: string;
  readonly adminUrl: string;
  /** Asks as a page of the dashboard does, by the cookie of a session. */
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<Asked>;
  /** The most CPU that one turn of the serving thread took since the last call, in milliseconds. */
  longestTurnMs(): Promise<number>;
}

/** How a gateway of a proof differs from the one that runs by default. */
export interface ProofOptions {
  /** Fills its data folder before it starts. */
  readonly prepare?: (dataDirectory: string) => Promise<void>;
  /** Whether it measures its turns, which costs CPU itself. Default: true. */
  readonly isProbed?: boolean;
  /** A database of PostgreSQL. Default: SQLite in the data folder. */
  readonly databaseUrl?: string;
}

/** Starts one. */
export async function startProofGateway(options: ProofOptions = {}): Promise<ProofGateway> {
  const { prepare, isProbed = true, databaseUrl } = options;
  const directory = mkdtempSync(join(tmpdir(), "sluice-dashboard-"));
  const upstreamPort = await freePort();
  const port = await freePort();
  const upstream = await startServer(
    {
      command: process.execPath,
      args: [UPSTREAM, "--port", String(upstreamPort), "--model", MODEL],
    },
    { directory, port: upstreamPort },
    "load",
  );
  const context = {
    directory: mkdtempSync(join(directory, "server-")),
    upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
    port,
    nodeFlags: isProbed ? ["--import", PROBE] : [],
  };
  const dataDirectory = join(context.directory, "data");
  mkdirSync(dataDirectory);
  await prepare?.(dataDirectory);
  const launched = await launch(PRESENT, context, {
    ...(databaseUrl !== undefined && {
      store: '{ use: postgres, url: "${env:SLUICE_PROOF_STORE}" }',
      plugins: ["store-postgres"],
    }),
  });
  if ("skip" in launched) throw new Error(launched.skip);
  const env = {
    ...launched.env,
    ...(databaseUrl !== undefined && { SLUICE_PROOF_STORE: databaseUrl }),
  };
  const server = await startServer({ ...launched, env, startLimitMs: 120_000 }, context, "server");
  const { adminUrl, masterKey } = launched;
  const agent = new Agent({ keepAlive: true });
  const cookie = await signIn(adminUrl, masterKey);
  const log = join(context.directory, "output.log");
  return {
    server,
    dataDirectory,
    masterKey,
    adminUrl,
    ask: (path, headers = {}) => ask(`${adminUrl}${path}`, { cookie, ...headers }, agent),
    async longestTurnMs() {
      const seen = (): readonly RegExpMatchArray[] => [
        ...readFileSync(log, "utf8").matchAll(LONGEST),
      ];
      const before = seen().length;
      process.kill(server.pid, "SIGUSR2");
      const limitMs = Date.now() + DEADLINE_MS;
      while (seen().length === before) {
        if (Date.now() > limitMs) throw new Error("The gateway does not print its longest turn.");
        await pause(20);
      }
      return Number(seen().at(-1)?.[1]);
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await server.stop();
      await upstream.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function signIn(adminUrl: string, key: string): Promise<string> {
  const response = await fetch(`${adminUrl}/ui/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: adminUrl },
    body: JSON.stringify({ key }),
  });
  if (!response.ok) throw new Error(`The sign-in got ${response.status}.`);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

function ask(url: string, headers: Readonly<Record<string, string>>, agent: Agent): Promise<Asked> {
  const beganMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers, timeout: DEADLINE_MS }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const body = Buffer.concat(chunks);
        resolve({
          status: answer.statusCode ?? 0,
          ms: performance.now() - beganMs,
          bytes: body.length,
          text: body.toString(),
          etag: answer.headers.etag,
        });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`${url} has no answer.`)));
    sent.on("error", reject).end();
  });
}
