/** The connection: commands with a deadline, and a new socket after a command without an answer. */

import { within } from "@sluice/kit";
import { errorMessage, type Log } from "@sluice/contract";
import { explained } from "./faults.ts";
import { readServer, type ServerFacts } from "./server.ts";
import { locateMaster } from "./sentinels.ts";
import type { Script } from "./scripts.ts";
import { clientOptions, type Endpoints, type Login, type ServerAddress } from "./endpoints.ts";

/** What a connection is made with. */
export interface ConnectionOptions {
  /** With its credentials: never logged. */
  readonly endpoints: Endpoints;
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly log: Log;
}

/** Commands to a Redis. They reject at once while there is no connection. */
export interface Connection {
  /** Begins to connect. Rejects when the first attempt fails; the attempts go on. */
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /**
   * Runs a command. Texts of the reply are bytes. Rejects after the timeout without any answer, and
   * after a second.
   */
  command(...parts: readonly (string | Buffer)[]): Promise<unknown>;
  /**
   * Runs a script with the prefix, the server's run id and the parts. Sends its source when the
   * server does not know it.
   */
  run(script: Script, prefix: string, ...parts: readonly (string | Buffer)[]): Promise<unknown>;
}

/** Pauses between attempts to connect: they double, and half of each is by chance. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** The bound of a wait, however busy the server is with other commands. */
const MAX_QUEUE_MS = 1_000;

/** Loaded with the first connection: most gateways list the plugin and open none. */
export type Library = typeof import("@redis/client");
type LibraryClient = ReturnType<typeof makeClient>;

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
  /** Why the last attempt to connect failed; empty without one. */
  #reason = "";
  /** The policy of eviction that was last reported. */
  #policy = "noeviction";
  /** When the last reply came, on the clock of `performance.now`. */
  #repliedMs = -Infinity;

  constructor(options: ConnectionOptions) {
    this.#options = options;
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
    return this.#send(state.client, parts);
  }

  async run(
    script: Script,
    prefix: string,
    ...parts: readonly (string | Buffer)[]
  ): Promise<unknown> {
    // The run id of the server that gets the command: a reconnection changes both.
    const runId = this.#state.name === "connected" ? this.#state.client.runId : "";
    const values = ["1", prefix, prefix, runId, ...parts];
    try {
      return await this.command("EVALSHA", script.sha1, ...values);
    } catch (error) {
      if (!errorMessage(error).startsWith("NOSCRIPT")) throw error;
      return await this.command("EVAL", script.source, ...values);
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
      if (this.#state.name === "connected" && this.#state.client === client)
        this.#connectLater(library);
    };
    client.onBroken(drop);
    this.#state = { name: "connected", client };
    try {
      const { maxmemoryPolicy } = await client.connect();
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

  #send(client: SingleSocketClient, parts: readonly (string | Buffer)[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const deadline = new CommandDeadline(this.#options.commandTimeoutMs, {
        repliedMs: () => this.#repliedMs,
        onLate: (waitedMs) => {
          reject(new Error(`Redis did not answer within ${Math.round(waitedMs)} ms.`));
          // The reply may still come. The next command on this socket might read it as its own.
          client.break();
        },
      });
      const replied = (): void => {
        this.#repliedMs = performance.now();
        deadline.end();
      };
      client.send(parts).then(
        (reply) => (replied(), resolve(reply)),
        (error: unknown) => {
          replied();
          // A replica, or a node that has other keys, is of no use.
          if (UNUSABLE.test(errorMessage(error))) client.break();
          reject(explained(error));
        },
      );
    });
  }
}

/**
 * Error replies of a server that cannot serve this gateway (redis.io, "Redis serialization
 * protocol", and the cluster specification).
 */
const UNUSABLE = /^(READONLY|MOVED|ASK|LOADING|MASTERDOWN|CLUSTERDOWN|NOAUTH|WRONGPASS)\b/;

/** What the deadline of a command asks and reports. */
interface DeadlineHooks {
  /** When any command was last answered. */
  repliedMs(): number;
  /** Called once the deadline has passed, with the milliseconds since the command was sent. */
  onLate(waitedMs: number): void;
}

/**
 * The deadline of one command. A server that answers other commands extends it, up to
 * `MAX_QUEUE_MS`.
 */
class CommandDeadline {
  readonly #timeoutMs: number;
  readonly #hooks: DeadlineHooks;
  readonly #sentMs = performance.now();
  #dueMs: number;
  #timer: NodeJS.Timeout;
  #isPending = true;

  constructor(timeoutMs: number, hooks: DeadlineHooks) {
    this.#timeoutMs = timeoutMs;
    this.#hooks = hooks;
    this.#dueMs = this.#sentMs + timeoutMs;
    this.#timer = setTimeout(this.#expire, timeoutMs);
  }

  /** Ends the wait. */
  end(): void {
    this.#isPending = false;
    clearTimeout(this.#timer);
  }

  /** Due timers run before sockets are read: a reply that has arrived is read first. */
  readonly #expire = (): void => void setImmediate(() => this.#check());

  #check(): void {
    if (!this.#isPending) return;
    const nowMs = performance.now();
    const timeoutMs = this.#timeoutMs;
    // A stalled process has read no replies: the time begins anew.
    const isStalled = nowMs - this.#dueMs > timeoutMs / 4;
    const heardMs = isStalled ? nowMs : Math.max(this.#sentMs, this.#hooks.repliedMs());
    if (nowMs - heardMs >= timeoutMs || nowMs - this.#sentMs >= MAX_QUEUE_MS) {
      this.#hooks.onLate(nowMs - this.#sentMs);
      return;
    }
    this.#dueMs = heardMs + timeoutMs;
    this.#timer = setTimeout(this.#expire, this.#dueMs - nowMs);
  }
}

async function locate(
  library: Library,
  { endpoints, connectTimeoutMs }: ConnectionOptions,
): Promise<ServerAddress> {
  if (endpoints.kind === "server") return endpoints.address;
  const { sentinelLogin } = endpoints;
  return await locateMaster(
    endpoints,
    (address) => new SingleSocketClient(library, address, sentinelLogin, connectTimeoutMs),
  );
}

/** A client of one socket. It never reconnects, and queues no command while it is not connected. */
export class SingleSocketClient {
  readonly #client: LibraryClient;
  readonly #connectTimeoutMs: number;
  #whenBroken = (): void => {};
  #isGreeted = false;
  #runId = "";

  constructor(library: Library, address: ServerAddress, login: Login, connectTimeoutMs: number) {
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#client = makeClient(library, address, login, connectTimeoutMs);
    // An error without a listener would end the process.
    this.#client.on("error", () => this.break());
    this.#client.on("end", () => this.break());
  }

  get isReady(): boolean {
    return this.#isGreeted && this.#client.isReady;
  }

  /** Changes with each start of a server. */
  get runId(): string {
    return this.#runId;
  }

  /**
   * Connects to a server that takes writes. Rejects after the timeout, also when a server accepts
   * the connection and sends no greeting.
   */
  async connect(): Promise<ServerFacts> {
    const facts = await this.#inTime(async () => {
      await this.#client.connect();
      return readServer(await this.#client.sendCommand(["INFO"]));
    });
    this.#runId = facts.runId;
    this.#isGreeted = true;
    return facts;
  }

  /** Runs one command on a connection of its own. Rejects after the timeout. */
  async ask(...parts: readonly string[]): Promise<unknown> {
    try {
      return await this.#inTime(async () => {
        await this.#client.connect();
        return await this.#client.sendCommand([...parts]);
      });
    } finally {
      this.destroySafely();
    }
  }

  #inTime<T>(work: () => Promise<T>): Promise<T> {
    const timeoutMs = this.#connectTimeoutMs;
    return within(timeoutMs, work(), () => {
      throw new Error(`Redis did not greet within ${timeoutMs} ms.`);
    });
  }

  send(parts: readonly (string | Buffer)[]): Promise<unknown> {
    return this.#client.sendCommand([...parts]);
  }

  onBroken(listener: () => void): void {
    this.#whenBroken = listener;
  }

  /** Reports that the socket is of no use. */
  break(): void {
    this.#whenBroken();
  }

  destroySafely(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }
}

function makeClient(
  { createClient, RESP_TYPES }: Library,
  address: ServerAddress,
  login: Login,
  connectTimeout: number,
) {
  const { socket, ...credentials } = clientOptions(address, login);
  return createClient({
    ...credentials,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    socket: { ...socket, connectTimeout, reconnectStrategy: false },
  });
}
