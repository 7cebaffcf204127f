/** The connection: commands with a deadline, and a new socket after every doubt. */

import type { Log } from "@sluice/spec";
import type { Script } from "./scripts.ts";

/** What a connection is made with. */
export interface ConnectionOptions {
  /** With its credentials: never logged. */
  readonly url: string;
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly log: Log;
}

/** Commands to a Redis. They reject at once while there is no connection. */
export interface Connection {
  /** Begins to connect. Rejects when the first attempt fails; the attempts go on. */
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Runs a command. Texts of the reply are bytes. Rejects after the timeout without any answer, and after a second. */
  command(...parts: readonly (string | Buffer)[]): Promise<unknown>;
  /** Runs a script; sends its source when the server does not know it. */
  run(script: Script, key: string, ...parts: readonly (string | Buffer)[]): Promise<unknown>;
}

/** Between two attempts to connect, doubling, half of it by chance. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** However busy the server is with others. */
const LONGEST_QUEUE_MS = 1_000;

/** Loaded with the first connection: most gateways have the plugin in their list and never make one. */
type Library = typeof import("@redis/client");
type Client = ReturnType<typeof makeClient>;

/** A connection to one Redis. */
export function createConnection(options: ConnectionOptions): Connection {
  const { commandTimeoutMs, log } = options;
  let client: Client | undefined;
  let isClosed = false;
  let failures = 0;
  let pause: NodeJS.Timeout | undefined;

  const connect = async (library: Library): Promise<void> => {
    const candidate = makeClient(library, options);
    const drop = (): void => {
      candidate.destroySafely();
      if (client !== candidate || isClosed) return;
      client = undefined;
      connectLater(library);
    };
    candidate.onBroken(drop);
    client = candidate;
    try {
      await candidate.connect();
      failures = 0;
    } catch (error) {
      drop();
      throw error;
    }
  };
  const connectLater = (library: Library): void => {
    if (isClosed || pause !== undefined) return;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10));
    failures += 1;
    pause = setTimeout(
      () => {
        pause = undefined;
        connect(library).catch((error: unknown) => log.debug("no connection to Redis yet", { reason: reasonOf(error) }));
      },
      longest * (0.5 + Math.random() / 2),
    );
    pause.unref();
  };

  let repliedMs = -Infinity;
  const command = (...parts: readonly (string | Buffer)[]): Promise<unknown> => {
    const current = client;
    if (current === undefined || !current.isReady()) return Promise.reject(new Error("There is no connection to Redis."));
    return new Promise((resolve, reject) => {
      let isPending = true;
      const sentMs = performance.now();
      let dueMs = sentMs + commandTimeoutMs;
      let timer: NodeJS.Timeout;
      const giveUp = (): void => {
        if (!isPending) return;
        const nowMs = performance.now();
        // A stalled process has not listened, so the time begins anew.
        const isStalled = nowMs - dueMs > commandTimeoutMs / 4;
        // A Redis that answers others has a long queue, and this command has a place in it.
        const heardMs = isStalled ? nowMs : Math.max(sentMs, repliedMs);
        if (nowMs - heardMs < commandTimeoutMs && nowMs - sentMs < LONGEST_QUEUE_MS) {
          dueMs = heardMs + commandTimeoutMs;
          timer = setTimeout(late, dueMs - nowMs);
          return;
        }
        reject(new Error(`Redis did not answer within ${Math.round(nowMs - sentMs)} ms.`));
        // The reply may still come. Whoever would be given this socket next might read it as its own.
        current.break();
      };
      // Timers that are due come before the sockets are read: the reply gets one more turn.
      const late = (): void => void setImmediate(giveUp);
      timer = setTimeout(late, commandTimeoutMs);
      const stopWaiting = (): void => {
        isPending = false;
        repliedMs = performance.now();
        clearTimeout(timer);
      };
      current.send(parts).then(
        (reply) => (stopWaiting(), resolve(reply)),
        (error: unknown) => {
          stopWaiting();
          // A replica, or a node that has other keys: it is as good as away.
          if (/^(READONLY|MOVED|ASK|LOADING|MASTERDOWN|CLUSTERDOWN|NOAUTH)\b/.test(reasonOf(error))) current.break();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  };

  return {
    async open(signal) {
      signal.throwIfAborted();
      isClosed = false;
      const library = await import("@redis/client");
      if (isClosed) throw new Error("The connection was closed before it was made.");
      await connect(library);
    },
    async close() {
      isClosed = true;
      clearTimeout(pause);
      pause = undefined;
      client?.destroySafely();
      client = undefined;
    },
    command,
    async run(script, key, ...parts) {
      try {
        return await command("EVALSHA", script.sha1, "1", key, ...parts);
      } catch (error) {
        if (!reasonOf(error).startsWith("NOSCRIPT")) throw error;
        return await command("EVAL", script.source, "1", key, ...parts);
      }
    },
  };
}

/** One client for one socket: it never reconnects, and holds nothing back while it is not connected. */
function makeClient({ createClient, RESP_TYPES }: Library, { url, connectTimeoutMs }: ConnectionOptions) {
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false, noDelay: true, keepAlive: true },
  });
  let whenBroken = (): void => {};
  // Without a listener an error would end the process.
  client.on("error", () => whenBroken());
  client.on("end", () => whenBroken());
  return {
    async connect(): Promise<void> {
      // A server that accepts and says nothing is no better than none.
      const { promise, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new Error(`Redis did not greet within ${connectTimeoutMs} ms.`)), connectTimeoutMs);
      await Promise.race([client.connect(), promise]).finally(() => clearTimeout(timer));
    },
    isReady: () => client.isReady,
    send: (parts: readonly (string | Buffer)[]): Promise<unknown> => client.sendCommand([...parts]),
    onBroken: (listener: () => void) => void (whenBroken = listener),
    break: () => whenBroken(),
    destroySafely(): void {
      if (client.isOpen) client.destroy();
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
