/** A client of one socket, made with the library. */

import { within } from "@sluice/kit";
import { clientOptions, type Login, type ServerAddress } from "./endpoints.ts";
import { readServer, type ServerFacts } from "./server.ts";

/** Loaded with the first connection: most gateways list the plugin and open none. */
export type Library = typeof import("@redis/client");
type LibraryClient = ReturnType<typeof makeClient>;

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

  /** Whether the server has answered the greeting of this client. */
  get isGreeted(): boolean {
    return this.#isGreeted;
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
