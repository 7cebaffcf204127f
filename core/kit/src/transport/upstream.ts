/** The transport: one HTTP call to an upstream, with the gateway's own timers and bounds. */

import type { Agent, Dispatcher } from "undici";
import { type AttemptWriter, GatewayError, type HttpCall, type ProviderTimeouts, Secret } from "@sluice/contract";
import { ResponseBody } from "./replies/body.ts";
import { type ConnectionPlace, ConnectionPlaces } from "./connections/places.ts";
import { type Connection, type ConnectionHandler, lateAgent } from "./connections/connections.ts";
import { CallWaits } from "./calls/call-waits.ts";
import { asError, isConnectionLost, transportError } from "./errors.ts";

/** The options of a pool of connections. Equal options share a pool. */
export interface UpstreamOptions {
  /** Maximum connections per origin. */
  readonly connections: number;
  readonly connectMs: number;
  /** Whether a key that was alone for a minute may use every connection. Absent: a key has half of them. */
  readonly mayHaveAll?: boolean;
}

/** Opens connections and makes calls on them: undici, or a script. */
export type Dispatching = Pick<Agent, "dispatch" | "close" | "destroy">;

/** Options of one call. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeouts: ProviderTimeouts;
  /** The attempt that records when the call was written in full. Absent: not recorded. */
  readonly attempt?: AttemptWriter;
  /** The call's connection place. It is released when the connection is free again. */
  readonly place?: ConnectionPlace | undefined;
}

/** The head of an upstream's response, and its body. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ResponseBody;
}

/** The key under which generations share the connections to a provider. */
export function upstreamKey(name: string, { connections, connectMs }: UpstreamOptions): string {
  return `upstream:${name}:${connections}:${connectMs}`;
}

/** Maximum bytes of response headers. */
const MAX_HEADER_BYTES = 16_384;
/** Maximum number of response headers. */
const MAX_HEADERS = 200;
/** Maximum interim responses (1xx) before the final one. */
const MAX_INTERIM_RESPONSES = 20;
/** Idle connections close before the provider's own idle limit: 4 s, or at most the provider's option, 25 s. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 25_000;

/** Maximum unread bytes of a socket before reading pauses. The rest of one read, at most 64 KiB, may come on top. */
const SOCKET_BYTES = 16_384;

/** Connections to upstreams. It outlives generations; its creator closes it. */
export class Upstream {
  readonly #agent: Dispatching;
  /** For replays: every call opens and closes a new connection. */
  readonly #fresh: Dispatching;
  /** Places for calls. A call with a place has a free connection. Calls of a script need no connection. */
  readonly places: ConnectionPlaces;

  /** `script` replaces the network. */
  constructor(options: UpstreamOptions, script?: Dispatching) {
    const connect = { timeout: options.connectMs, highWaterMark: SOCKET_BYTES };
    const agentOptions: Agent.Options = {
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Every wait has a timer of this module. undici's own would be a second one with coarser
      // steps.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    };
    this.#agent = script ?? lateAgent(agentOptions);
    this.#fresh = script ?? lateAgent(agentOptions);
    this.places = new ConnectionPlaces(script === undefined ? options.connections : Infinity, options.mayHaveAll);
  }

  /**
   * Sends a call. Resolves with the response's head. Rejects with `upstream_timeout`, `upstream_unreachable`,
   * `upstream_invalid_response`, or with the signal's reason. A call whose reused connection is lost before any response byte
   * is sent once more on a new one if the upstream cannot have processed it: it was not written in full, the loss came within a
   * round trip of its last byte, or its method is idempotent (RFC 9110 9.2.2).
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
      const replay = (handler: CallHandler): void => void this.#fresh.dispatch({ ...dispatch, reset: true }, handler);
      try {
        this.#agent.dispatch(dispatch, new CallHandler(call.method, options, resolve, reject, replay));
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
  // Replies are read, so a content coding gains nothing. Without one there is no decompression
  // bomb.
  if (headers["accept-encoding"] === undefined) flat.push("accept-encoding", "identity");
  return flat;
}

/** undici's callbacks for one call: start, response, data …, end or error. */
class CallHandler implements ConnectionHandler {
  connection: Connection | undefined;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #signal: AbortSignal;
  readonly #idleMs: number;
  readonly #attempt: AttemptWriter | undefined;
  readonly #place: ConnectionPlace | undefined;
  readonly #onAbort: () => void;
  /** Sends the call again; `undefined` after that. */
  #replay: ((handler: CallHandler) => void) | undefined;
  readonly #isRepeatable: boolean;
  #isReused = false;
  /** The request was written in full, and the time has passed in which a loss proves that it was not read. */
  #isDelivered = false;
  #hasAnswered = false;
  #interimResponses = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  /** For the head of the response, then for more of its body. */
  readonly #waits = new CallWaits();
  #failure: unknown;

  constructor(
    method: string,
    options: SendOptions,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: unknown) => void,
    replay: (handler: CallHandler) => void,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#replay = replay;
    this.#isRepeatable = method !== "POST" && method !== "PATCH";
    this.#signal = options.signal;
    this.#attempt = options.attempt;
    this.#place = options.place;
    this.#idleMs = options.timeouts.idleMs;
    this.#onAbort = () => this.#fail(this.#signal.reason);
    this.#signal.addEventListener("abort", this.#onAbort);
    const { firstByteMs } = options.timeouts;
    // Covers the opening of a connection too: undici's headersTimeout does not fire during 1xx
    // replies.
    this.#waits.begin(firstByteMs, () =>
      this.#fail(new GatewayError("upstream_timeout", `The upstream sent no response within ${firstByteMs} ms.`)),
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { connection } = this;
    if (connection !== undefined) this.#isReused = connection.calls++ > 0;
    if (this.#failure !== undefined) controller.abort(asError(this.#failure));
  }

  onRequestSent(): void {
    this.#attempt?.sent();
    if (!this.#isReused || this.#isRepeatable || this.#replay === undefined) return;
    this.#waits.beginRace(this.connection?.openedInMs ?? 0, () => {
      this.#isDelivered = true;
    });
  }

  onResponseStarted(): void {
    this.#hasAnswered = true;
    this.#waits.endRace();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: UpstreamResponse["headers"]): void {
    if (status < 200) {
      if (++this.#interimResponses > MAX_INTERIM_RESPONSES) this.#fail(unreadable("The upstream sent interim responses only."));
      return;
    }
    if (isLongList(controller.rawHeaders)) {
      this.#fail(unreadable(`The upstream's response has more than ${MAX_HEADERS} headers.`));
      return;
    }
    this.#awaitMore();
    this.#body = new ResponseBody(controller, (reason) => this.#fail(reason));
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#waits.restart();
    this.#body?.push(chunk);
  }

  #awaitMore(): void {
    this.#waits.begin(this.#idleMs, () => this.#onIdle());
  }

  #onIdle(): void {
    // Paused by the gateway: the reader is slow, not the upstream.
    if (this.#body?.isPaused === true) this.#awaitMore();
    else this.#fail(new GatewayError("upstream_timeout", `The upstream sent nothing for ${this.#idleMs} ms.`));
  }

  onResponseEnd(): void {
    this.#settle();
    this.#replay = undefined;
    this.#place?.release();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const replay = this.#replay;
    this.#waits.endRace();
    // The upstream closed the connection while the call was on its way, and has not read it (RFC
    // 9112 9.3.1).
    if (replay !== undefined && this.#isStale() && isConnectionLost(error)) {
      this.#replay = undefined;
      this.#controller = undefined;
      this.#attempt?.unbilled();
      replay(this);
      return;
    }
    this.#settle();
    this.#place?.release();
    const failure = this.#failure ?? transportError(error);
    if (this.#body === undefined) this.#reject(failure);
    else this.#body.fail(failure);
  }

  /**
   * Whether the connection was reused and closed before the upstream can have processed the call. undici also fails calls that
   * it has not begun when their connection is reset; those have no controller.
   */
  #isStale(): boolean {
    if (this.#hasAnswered || this.#isDelivered || this.#failure !== undefined) return false;
    return this.#isReused || (this.#controller === undefined && (this.connection?.calls ?? 0) > 0);
  }

  /** Ends the call from the gateway's side; the socket is destroyed, never reused. */
  #fail(reason: unknown): void {
    this.#failure ??= reason;
    this.#settle();
    if (this.#body === undefined) this.#reject(this.#failure);
    else this.#body.fail(this.#failure);
    this.#controller?.abort(asError(this.#failure));
  }

  #settle(): void {
    this.#waits.end();
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

function unreadable(message: string): GatewayError {
  return new GatewayError("upstream_invalid_response", message);
}

/** Raw headers alternate names and values. */
function isLongList(raw: Dispatcher.DispatchController["rawHeaders"]): boolean {
  return Array.isArray(raw) && raw.length > 2 * MAX_HEADERS;
}
