/**
 * Connections that know whether a call is their first. undici does not report it, and the detection
 * of a stale connection needs it.
 */

import type { Agent, buildConnector, Client, Dispatcher } from "undici";
import { joinWrites } from "./joined-writes.ts";
import { undici } from "./undici.ts";

/**
 * One connection slot of a pool: the number of calls on its present socket, and the time to open
 * it.
 */
export interface Connection {
  calls: number;
  openedInMs: number;
}

/** A handler that learns the connection of its call. */
export interface ConnectionHandler extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

/**
 * An agent that passes the connection to its handlers (all of them `ConnectionHandler`s) before
 * `onRequestStart`.
 */
function createAgent(options: Agent.Options): Agent {
  const { Agent, Pool } = undici();
  const CountingClient = countingClient();
  return new Agent({
    ...options,
    factory: (origin, poolOptions) =>
      new Pool(origin, {
        ...poolOptions,
        // As an option of the agent, it makes a key of its own for the pool, of each call's origin.
        allowH2: false,
        factory: (url, clientOptions) => new CountingClient(url, clientOptions),
      }),
  });
}

/** An agent that is created by its first call. Closing it before that does nothing. */
export function lateAgent(options: Agent.Options): Pick<Agent, "dispatch" | "close" | "destroy"> {
  let agent: Agent | undefined;
  return {
    dispatch: (call, handler) => (agent ??= createAgent(options)).dispatch(call, handler),
    close: async () => agent?.close(),
    destroy: async () => agent?.destroy(),
  } as Pick<Agent, "dispatch" | "close" | "destroy">;
}

type ClientClass = new (url: URL, options: Client.Options) => Client;

let made: ClientClass | undefined;

/** The class, made once: it extends one of a package that is loaded late. */
function countingClient(): ClientClass {
  return (made ??= class CountingClient extends undici().Client {
    readonly #connection: Connection;

    constructor(url: URL, options: Client.Options) {
      const connection: Connection = { calls: 0, openedInMs: 0 };
      // The pool has turned the option into a function.
      const connect = options.connect as buildConnector.connector;
      super(url, {
        ...options,
        connect(target, done) {
          connection.calls = 0;
          const startedMs = performance.now();
          return connect(target, (...result) => {
            connection.openedInMs = performance.now() - startedMs;
            joinWrites(result[1]);
            done(...result);
          });
        },
      });
      this.#connection = connection;
    }

    override dispatch(
      options: Dispatcher.DispatchOptions,
      handler: Dispatcher.DispatchHandler,
    ): boolean {
      (handler as ConnectionHandler).connection = this.#connection;
      return super.dispatch(options, handler);
    }
  });
}
