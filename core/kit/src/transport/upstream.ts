/** The transport: one HTTP call to an upstream, with the gateway's own timers and bounds. */

import type { Agent, Dispatcher } from "undici";
import { type HttpCall, Secret } from "@sluice/contract";
import { CallHandler, type SendOptions, type UpstreamResponse } from "./calls/call-handler.ts";
import { type ConnectionHandler, lateAgent } from "./connections/connections.ts";
import { ConnectionPlaces } from "./connections/places.ts";

/** The options of a pool of connections. Equal options share a pool. */
export interface UpstreamOptions {
  /** Maximum connections per origin. */
  readonly connections: number;
  readonly connectMs: number;
  /** Whether a key may use every connection when alone for a minute. Absent: half of them. */
  readonly mayHaveAll?: boolean;
}

/** Opens connections and makes calls on them: undici, or a script. */
export type Dispatching = Pick<Agent, "dispatch" | "close" | "destroy">;

/** The key under which generations share the connections to a provider. */
export function upstreamKey(name: string, { connections, connectMs }: UpstreamOptions): string {
  return `upstream:${name}:${connections}:${connectMs}`;
}

/** Maximum bytes of response headers. */
const MAX_HEADER_BYTES = 16_384;

/** Idle connections close before the provider's own limit: 4 s, or its option up to 25 s. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 25_000;

/**
 * Maximum unread bytes of a socket before reading pauses. The rest of one read, at most 64 KiB, may
 * come on top.
 */
const SOCKET_BYTES = 16_384;

/** Connections to upstreams. It outlives generations; its creator closes it. */
export class Upstream {
  readonly #agent: Dispatching;
  /** For replays: every call opens and closes a new connection. */
  readonly #fresh: Dispatching;
  /** A call with a place has a free connection. Calls of a script need no connection. */
  readonly places: ConnectionPlaces;

  /** `script` replaces the network. */
  constructor(options: UpstreamOptions, script?: Dispatching) {
    const connect = { timeout: options.connectMs, highWaterMark: SOCKET_BYTES };
    const agentOptions: Agent.Options = {
      connections: options.connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Every wait has a timer of this module. undici's own is coarser.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    };
    this.#agent = script ?? lateAgent(agentOptions);
    this.#fresh = script ?? lateAgent(agentOptions);
    this.places = new ConnectionPlaces(
      script === undefined ? options.connections : Infinity,
      options.mayHaveAll,
    );
  }

  /**
   * Sends a call. Resolves with the response's head. Rejects with `upstream_timeout`,
   * `upstream_unreachable`, `upstream_invalid_response`, or with the signal's reason. A call whose
   * reused connection is lost before any response byte is sent once more on a new one if the
   * upstream cannot have processed it: it was not written in full, the loss came within a round
   * trip of its last byte, or its method is idempotent (RFC 9110 9.2.2).
   */
  send(call: HttpCall, options: SendOptions): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      const { signal, place } = options;
      if (signal.aborted) {
        place?.release();
        reject(signal.reason);
        return;
      }
      const slash = call.url.indexOf("/", call.url.indexOf("//") + 2);
      const dispatch: Dispatcher.DispatchOptions = {
        origin: slash < 0 ? call.url : call.url.slice(0, slash),
        path: slash < 0 ? "/" : call.url.slice(slash),
        method: call.method,
        headers: reveal(call.headers),
        body: call.body ?? null,
      };
      const resend = (handler: ConnectionHandler): void =>
        void this.#fresh.dispatch({ ...dispatch, reset: true }, handler);
      try {
        this.#agent.dispatch(
          dispatch,
          new CallHandler(call.method, options, resolve, reject, resend),
        );
      } catch (error) {
        place?.release();
        throw error;
      }
    });
  }

  /** Closes when the running calls have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.close(), this.#fresh.close()]);
  }

  /** Closes immediately; running calls fail. */
  async destroy(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#fresh.destroy()]);
  }
}

function reveal(headers: HttpCall["headers"]): string[] {
  const flat: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat.push(name, value instanceof Secret ? value.reveal() : value);
  }
  // Replies are read, so a coding gains nothing. Without one there is no decompression bomb.
  if (headers["accept-encoding"] === undefined) flat.push("accept-encoding", "identity");
  return flat;
}
