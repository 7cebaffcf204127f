/** The gateways of the proof: three with the same files, on one PostgreSQL and one Redis. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePorts } from "../../system/support/free-ports.ts";
import { createWorkspace, type Workspace } from "../../system/support/workspace.ts";

export const MASTER_KEY = "sk-master-of-the-fleet-proof-0123456789";
/** What one call costs, in nano-dollars. */
export const CALL_NANO_USD = 10_000_000;
export const PREFIX = "{sluice}:";
/** A reservation of a killed gateway ends a minute after this. */
const DEADLINE_S = 15;
const INSTANCES = 3;
const LOOK_UPS_AT_ONCE = 8;
const COMMAND = new URL("../../../core/cli/bin/sluice.js", import.meta.url).pathname;

/** Where a gateway is, and where its servers are for it. */
export interface GatewayPlace {
  readonly host: string;
  readonly upstream: string;
  readonly postgresHost: string;
  readonly redisHost: string;
  /** The words before its command. */
  readonly prefix: readonly string[];
}

/** The ports of the servers. */
export interface ServerPorts {
  readonly postgres: number;
  readonly redis: number;
  readonly database: string;
}

/** One gateway of the fleet. */
export class Gateway {
  readonly name: string;
  readonly workspace: Workspace;
  readonly #place: GatewayPlace;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #adminPort: string;
  readonly publicUrl: string;
  #process: ChildProcess | undefined;
  /** The keys of its clients. */
  #keys: readonly string[] = [];
  /** Whether clients are sent to it. */
  isUp = false;
  /** When it was killed, on the clock of `performance.now`. */
  readonly killedAtMs: number[] = [];

  constructor(
    name: string,
    workspace: Workspace,
    place: GatewayPlace,
    ports: Awaited<ReturnType<typeof freePorts>>,
    servers: ServerPorts,
  ) {
    this.name = name;
    this.workspace = workspace;
    this.#place = place;
    this.#adminPort = ports.SLUICE_ADMIN_PORT;
    this.publicUrl = `http://${place.host}:${ports.SLUICE_PORT}`;
    const { postgres, redis, database } = servers;
    this.#environment = {
      ...process.env,
      ...ports,
      SLUICE_MASTER_KEY: MASTER_KEY,
      OPENAI_API_KEY: "sk-upstream-of-the-fleet-proof",
      DATABASE_URL: `postgresql://postgres@${place.postgresHost}:${postgres}/${database}`,
      REDIS_URL: `redis://${place.redisHost}:${redis}`,
    };
  }

  /** Its admin listener, for those in its own network. */
  get adminUrl(): string {
    return `http://127.0.0.1:${this.#adminPort}`;
  }

  /** The environment of commands about it. */
  get environment(): NodeJS.ProcessEnv {
    return this.#environment;
  }

  /**
   * Starts it, waits until it is ready, and has it look up all keys: it serves these while its
   * store is away. Rejects when it ends before.
   */
  async start(): Promise<void> {
    const { configPath, folder } = this.workspace;
    const command = [process.execPath, COMMAND, "serve", "--config", configPath];
    const [program = "", ...words] = [...this.#place.prefix, ...command, "--log-level", "info"];
    const child = spawn(program, words, {
      cwd: folder,
      env: this.#environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.pipe(createWriteStream(join(folder, "log"), { flags: "a" }));
    this.#process = child;
    while (!(await this.isReady())) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${this.name} ended: ${this.lastLines()}`);
      await pause(100);
    }
    await this.serve(this.#keys);
    if (this.#process === child) this.isUp = true;
  }

  /**
   * Has it look up these keys, now and after each start. Resolves when it has all: a gateway that
   * has lost its store before knows none.
   */
  async serve(keys: readonly string[]): Promise<void> {
    this.#keys = keys;
    const left = keys.values();
    const lookUpSome = async (): Promise<void> => {
      for (const key of left) while (!(await this.#lookUp(key))) await pause(500);
    };
    await Promise.all(Array.from({ length: LOOK_UPS_AT_ONCE }, lookUpSome));
  }

  async #lookUp(key: string): Promise<boolean> {
    const answer = await fetch(`${this.publicUrl}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(5_000),
    }).catch(() => undefined);
    await answer?.text();
    return answer?.status === 200 || this.#hasEnded;
  }

  get #hasEnded(): boolean {
    const { exitCode = null, signalCode = null } = this.#process ?? {};
    return exitCode !== null || signalCode !== null;
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.publicUrl}/health/ready`, {
        signal: AbortSignal.timeout(1_000),
      });
      await answer.text();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  /** SIGKILL, and the end. */
  async kill(): Promise<void> {
    this.killedAtMs.push(performance.now());
    await this.#end("SIGKILL");
  }

  /** SIGTERM, and the end. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  lastLines(): string {
    return readFileSync(join(this.workspace.folder, "log"), "utf8")
      .split("\n")
      .slice(-8)
      .join("\n");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.isUp = false;
    const child = this.#process;
    if (child === undefined || this.#hasEnded) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

/** Makes and starts a gateway at each place. */
export async function startGateways(
  places: readonly GatewayPlace[],
  servers: ServerPorts,
): Promise<Gateway[]> {
  const gateways: Gateway[] = [];
  for (const [at, place] of places.entries()) {
    const workspace = workspaceOf(place);
    const [first] = gateways;
    if (first !== undefined) {
      mkdirSync(workspace.dataDirectory, { recursive: true });
      const pepper = join(first.workspace.dataDirectory, "pepper");
      cpSync(pepper, join(workspace.dataDirectory, "pepper"));
    }
    const gateway = new Gateway(`gateway ${at + 1}`, workspace, place, await freePorts(), servers);
    await gateway.start();
    gateways.push(gateway);
  }
  return gateways;
}

function workspaceOf({ host, upstream }: GatewayPlace): Workspace {
  const price = `price: { input: 0, output: 0, request: ${CALL_NANO_USD / 1e9} }`;
  const workspace = createWorkspace({
    baseUrl: `${upstream}/v1`,
    server: `host: ${host}`,
    postgres: "",
    sections: [
      `shared: { use: redis, url: "\${env:REDIS_URL}", instances: ${INSTANCES}, command_timeout: 500ms }`,
    ],
    models: [`{ id: chat, targets: [{ provider: openai, model: chat, ${price} }] }`],
  });
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  const text = readFileSync(pipeline, "utf8")
    .replace(/^deadline: .*$/m, `deadline: ${DEADLINE_S}s`)
    .replace(/^tests:[\s\S]*$/m, "");
  writeFileSync(pipeline, text);
  return workspace;
}

/** How long a reservation of a killed gateway holds, in milliseconds. */
export const LEASE_MS = (DEADLINE_S + 60) * 1_000;
