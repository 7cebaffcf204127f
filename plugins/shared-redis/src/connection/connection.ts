/** The connection: commands with a deadline, and a new socket after a command without an answer. */

import { errorMessage, type Log } from "@sluice/contract";
import type { Script } from "../scripts/script.ts";
import { Commands } from "./commands.ts";
import type { Endpoints, ServerAddress } from "./endpoints.ts";
import { explained } from "./faults.ts";
import { locateMaster } from "./sentinels.ts";
import { type Library, SingleSocketClient } from "./socket-client.ts";

/** What a connection is made with. */
export interface ConnectionOptions {
  /** With its credentials: never logged. */
  readonly endpoints: Endpoints;
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly log: Log;
  /**
   * Whether the server is one of a cluster: it is of use where it has other keys. Absent: it is
   * not.
   */
  readonly isOfCluster?: boolean;
  /** Called when an open connection breaks. */
  readonly onBroken?: (reason: Error) => void;
}

/** Commands to a Redis. They reject at once while there is no connection. */
export interface Connection {
  /** Whether commands are sent. */
  readonly isReady: boolean;
  /** The run id of the server of this connection, or of the last one; empty before the first. */
  readonly runId: string;
  /** Begins to connect. Rejects when the first attempt fails; the attempts go on. */
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /**
   * Runs a command. Texts of the reply are bytes. Rejects after the timeout without any answer, and
   * after a second.
   */
  command(...parts: readonly (string | Buffer)[]): Promise<unknown>;
  /**
   * Runs a script with the names of keys, the prefix, the server's run id and the parts. Sends its
   * source when the server does not know it. `isAsking`: the slot of the keys is about to move to
   * this server.
   */
  run(script: Script, call: ScriptCall, isAsking?: boolean): Promise<unknown>;
}

/** What a script is run with. */
export interface ScriptCall {
  readonly keys: readonly string[];
  readonly prefix: string;
  readonly parts: readonly (string | Buffer)[];
}

/** Pauses between attempts to connect: they double, and half of each is by chance. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;

/** A connection to one Redis. */
export function createConnection(options: ConnectionOptions): Connection {
  return new RedisConnection(options);
}

/**
 * The states of a connection:
 *
 *     closed ── open ──► connected ── broken ──► waiting ── after a pause ──► connected
 *        ▲                   │                      │
 *        └────── close ──────┴──────── close ───────┘
 *
 * In the state connected a client exists; commands are rejected until its socket is ready.
 */
type State =
  | { readonly name: "closed" }
  | { readonly name: "connected"; readonly client: SingleSocketClient }
  | { readonly name: "waiting"; readonly pause: NodeJS.Timeout };

const CLOSED: State = { name: "closed" };

class RedisConnection implements Connection {
  readonly #options: ConnectionOptions;
  #state: State = CLOSED;
  /** Changes with `open` and `close`: an import or a connect of an earlier one is void. */
  #epoch = 0;
  #failures = 0;
  #runId = "";
  /** Why the last attempt to connect failed; empty without one. */
  #reason = "";
  /** The policy of eviction that was last reported. */
  #policy = "noeviction";
  readonly #commands: Commands;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#commands = new Commands(options.commandTimeoutMs, options.isOfCluster === true);
  }

  get isReady(): boolean {
    return this.#state.name === "connected" && this.#state.client.isReady;
  }

  get runId(): string {
    const state = this.#state;
    return state.name === "connected" && state.client.isGreeted ? state.client.runId : this.#runId;
  }

  async open(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const epoch = (this.#epoch += 1);
    const library = await import("@redis/client");
    if (epoch !== this.#epoch) throw new Error("The connection was closed before it was made.");
    await this.#connect(library);
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#epoch += 1;
    this.#state = CLOSED;
    if (state.name === "waiting") clearTimeout(state.pause);
    if (state.name === "connected") state.client.destroySafely();
  }

  command(...parts: readonly (string | Buffer)[]): Promise<unknown> {
    const state = this.#state;
    if (state.name !== "connected" || !state.client.isReady)
      return Promise.reject(new Error(`There is no connection to Redis.${this.#reason}`));
    return this.#commands.send(state.client, parts);
  }

  async run(script: Script, call: ScriptCall, isAsking = false): Promise<unknown> {
    const { keys, prefix, parts } = call;
    const send = (verb: string, text: string): Promise<unknown> => {
      // The library sends the commands of one turn in their order, without another between them.
      if (isAsking) this.command("ASKING").catch(() => undefined);
      // The run id of the server that gets the command: a reconnection changes both.
      const values = [String(keys.length), ...keys, prefix, this.runId];
      return this.command(verb, text, ...values, ...parts);
    };
    try {
      return await send("EVALSHA", script.sha1);
    } catch (error) {
      if (!errorMessage(error).startsWith("NOSCRIPT")) throw error;
      return await send("EVAL", script.source);
    }
  }

  async #connect(library: Library): Promise<void> {
    const epoch = this.#epoch;
    let address: ServerAddress;
    try {
      address = await locate(library, this.#options);
    } catch (error) {
      if (epoch === this.#epoch) this.#connectLater(library);
      throw this.#failed(error);
    }
    if (epoch !== this.#epoch) throw new Error("The connection was closed before it was made.");
    const { endpoints, connectTimeoutMs } = this.#options;
    const client = new SingleSocketClient(library, address, endpoints.login, connectTimeoutMs);
    const drop = (): void => {
      client.destroySafely();
      if (this.#state.name !== "connected" || this.#state.client !== client) return;
      this.#connectLater(library);
      if (client.isGreeted) this.#options.onBroken?.(new Error("The connection to Redis broke."));
    };
    client.onBroken(drop);
    this.#state = { name: "connected", client };
    try {
      const { maxmemoryPolicy, runId } = await client.connect();
      this.#runId = runId;
      this.#failures = 0;
      this.#reason = "";
      this.#checkPolicy(maxmemoryPolicy);
    } catch (error) {
      drop();
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): Error {
    const fault = explained(error);
    this.#reason = ` ${fault.message}`;
    return fault;
  }

  #checkPolicy(policy: string): void {
    if (policy !== this.#policy && policy !== "noeviction") {
      this.#options.log.warn(
        "Redis may evict limits and budgets: set maxmemory-policy noeviction",
        {
          maxmemory_policy: policy,
        },
      );
    }
    this.#policy = policy;
  }

  #connectLater(library: Library): void {
    const maxMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const retry = (): void => {
      this.#connect(library).catch((error: unknown) => {
        this.#options.log.debug("no connection to Redis yet", { reason: errorMessage(error) });
      });
    };
    const pause = setTimeout(retry, maxMs * (0.5 + Math.random() / 2));
    pause.unref();
    this.#state = { name: "waiting", pause };
  }
}

async function locate(
  library: Library,
  { endpoints, connectTimeoutMs }: ConnectionOptions,
): Promise<ServerAddress> {
  if (endpoints.kind === "server") return endpoints.address;
  if (endpoints.kind === "cluster") throw new Error("A connection has one server.");
  const { sentinelLogin } = endpoints;
  return await locateMaster(
    endpoints,
    (address) => new SingleSocketClient(library, address, sentinelLogin, connectTimeoutMs),
  );
}
