/** Connections that know whether a call is their first. undici tells nobody, and a stale connection is found out by it. */

import { Agent, type buildConnector, Client, type Dispatcher, Pool } from "undici";

/** One connection slot of a pool: how many calls were written to the socket that is in it now, and how long it took to open. */
export interface Connection {
  calls: number;
  openedInMs: number;
}

/** A handler that is told on which connection its call goes out. */
export interface ConnectionHandler extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

/** An agent whose handlers, all of them `ConnectionHandler`s, are told their connection before `onRequestStart`. */
export function createAgent(options: Agent.Options): Agent {
  return new Agent({
    ...options,
    factory: (origin, poolOptions) =>
      new Pool(origin, { ...poolOptions, factory: (url, clientOptions) => new CountingClient(url, clientOptions) }),
  });
}

class CountingClient extends Client {
  readonly #connection: Connection;

  constructor(url: URL, options: Client.Options) {
    const connection: Connection = { calls: 0, openedInMs: 0 };
    // The pool has made a function of it.
    const connect = options.connect as buildConnector.connector;
    super(url, {
      ...options,
      connect(target, done) {
        connection.calls = 0;
        const startedMs = performance.now();
        return connect(target, (...result) => {
          connection.openedInMs = performance.now() - startedMs;
          done(...result);
        });
      },
    });
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (handler as ConnectionHandler).connection = this.#connection;
    return super.dispatch(options, handler);
  }
}
