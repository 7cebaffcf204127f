/** The transport: one HTTP call to an upstream, with timers and bounds of our own. */

import { Agent, type Dispatcher } from "undici";
import { GatewayError, type HttpCall, type ProviderTimeouts, Secret } from "@sluice/spec";
import { transportError } from "./errors.ts";
import { ResponseBody } from "./body.ts";

/** What a pool of connections is made from. Equal options share a pool. */
export interface UpstreamOptions {
  /** Connections at most, per origin. */
  readonly connections: number;
  readonly connectMs: number;
}

/** What one call may take. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeouts: ProviderTimeouts;
}

/** The head of an upstream's response, and its body still to come. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ResponseBody;
}

/** Response headers over this many bytes are refused. */
const MAX_HEADER_BYTES = 16_384;
/** Idle connections close before the provider's own idle limit does: 4 s, at most what the provider says, 25 s. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 25_000;

/** Connections to upstreams. It outlives generations; whoever made it closes it. */
export class Upstream {
  readonly #agent: Agent;

  constructor(options: UpstreamOptions) {
    this.#agent = new Agent({
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Every wait has a timer of ours; undici's would be a second one with coarser steps.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: options.connectMs },
    });
  }

  /**
   * Sends a call. Resolves with the response's head. Rejects with `upstream_timeout`, `upstream_unreachable`,
   * `upstream_invalid_response`, or with the signal's reason.
   */
  send(call: HttpCall, options: SendOptions): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const slash = call.url.indexOf("/", call.url.indexOf("//") + 2);
      const handler = new CallHandler(options, resolve, reject);
      this.#agent.dispatch(
        {
          origin: slash < 0 ? call.url : call.url.slice(0, slash),
          path: slash < 0 ? "/" : call.url.slice(slash),
          method: call.method,
          headers: reveal(call.headers),
          body: call.body ?? null,
        },
        handler,
      );
    });
  }

  /** Closes when the calls under way have ended. */
  async close(): Promise<void> {
    await this.#agent.close();
  }

  /** Closes at once; calls under way fail. */
  async destroy(): Promise<void> {
    await this.#agent.destroy();
  }
}

function reveal(headers: HttpCall["headers"]): string[] {
  const flat: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat.push(name, value instanceof Secret ? value.reveal() : value);
  }
  return flat;
}

/** undici's callbacks for one call: start, response, data …, end or error. */
class CallHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #signal: AbortSignal;
  readonly #idleMs: number;
  readonly #onAbort: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  #timer: NodeJS.Timeout;
  #failure: unknown;

  constructor(options: SendOptions, resolve: (response: UpstreamResponse) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = options.signal;
    this.#idleMs = options.timeouts.idleMs;
    this.#onAbort = () => this.#fail(this.#signal.reason);
    this.#signal.addEventListener("abort", this.#onAbort);
    const { firstByteMs } = options.timeouts;
    // Covers the wait for a connection too: headersTimeout of undici would not fire under 1xx replies.
    this.#timer = setTimeout(
      () => this.#fail(new GatewayError("upstream_timeout", `The upstream sent no response within ${firstByteMs} ms.`)),
      firstByteMs,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== undefined) controller.abort(asError(this.#failure));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: UpstreamResponse["headers"]): void {
    if (status < 200) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onIdle(), this.#idleMs);
    this.#body = new ResponseBody(controller, (reason) => this.#fail(reason));
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#timer.refresh();
    this.#body?.push(chunk);
  }

  #onIdle(): void {
    // Paused by us: the reader is slow, not the upstream. Its time runs anew.
    if (this.#body?.isPaused === true) this.#timer.refresh();
    else this.#fail(new GatewayError("upstream_timeout", `The upstream sent nothing for ${this.#idleMs} ms.`));
  }

  onResponseEnd(): void {
    this.#settle();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle();
    const failure = this.#failure ?? transportError(error);
    if (this.#body === undefined) this.#reject(failure);
    else this.#body.fail(failure);
  }

  /** Ends the call from our side; the socket is destroyed, never reused. */
  #fail(reason: unknown): void {
    this.#failure ??= reason;
    this.#settle();
    if (this.#body === undefined) this.#reject(this.#failure);
    else this.#body.fail(this.#failure);
    this.#controller?.abort(asError(this.#failure));
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
