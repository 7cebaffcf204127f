/** One call on a connection: undici's callbacks and the gateway's timers. */

import type { Dispatcher } from "undici";
import { type AttemptWriter, GatewayError, type ProviderTimeouts } from "@sluice/contract";
import { type Deadline, deadlinesOf } from "../../state/deadlines.ts";
import type { Ending } from "../../state/late-signal.ts";
import type { Holder } from "../../state/parts.ts";
import type { Connection, ConnectionHandler } from "../connections/connections.ts";
import type { ConnectionPlace } from "../connections/places.ts";
import { asError, transportError } from "../errors.ts";
import { ResponseBody } from "../replies/body.ts";
import { CallReplay, type Resend } from "./call-replay.ts";

/** Options of one call. */
export interface SendOptions {
  readonly signal: Ending;
  readonly timeouts: ProviderTimeouts;
  /** The attempt that records when the call was written in full. Absent: not recorded. */
  readonly attempt?: AttemptWriter;
  /** The call's connection place. It is released when the connection is free again. */
  readonly place?: ConnectionPlace | undefined;
  /** Whose call it is. Absent: the holder of the signal's work. */
  readonly holder?: Holder | undefined;
}

/** The head of an upstream's response, and its body. */
export interface UpstreamResponse {
  readonly status: number;
  /** `content-encoding` is absent where the bytes have no coding. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ResponseBody;
}

/** Maximum number of response headers. */
const MAX_HEADERS = 200;
/** Maximum interim responses (1xx) before the final one. */
const MAX_INTERIM_RESPONSES = 20;

/** Items of `content-encoding` that name no coding. */
const NO_CODING: ReadonlySet<string> = new Set(["", "identity"]);

/** What a call refers to until it is over. */
interface OpenCall {
  readonly options: SendOptions;
  readonly resolve: (response: UpstreamResponse) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
}

/**
 * undici's callbacks for one call: start, response, data …, end or error. undici refers to the last
 * handler of each connection, so a handler lets go of its exchange when the call is over.
 */
export class CallHandler implements ConnectionHandler {
  connection: Connection | undefined;
  /** `undefined` when undici reported the end or the error. */
  #call: OpenCall | undefined;
  readonly #idleMs: number;
  readonly #replay: CallReplay;
  #interimResponses = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;
  /** The open wait: for the head of the response, then for more of its body. */
  #wait: Deadline | undefined;
  #failure: unknown;

  constructor(
    method: string,
    options: SendOptions,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: unknown) => void,
    resend: Resend,
  ) {
    const { signal, timeouts } = options;
    const onAbort = (): void => this.#fail(signal.reason);
    this.#call = { options, resolve, reject, onAbort };
    this.#replay = new CallReplay(method, resend);
    this.#idleMs = timeouts.idleMs;
    signal.addEventListener("abort", onAbort);
    const { firstByteMs } = timeouts;
    // Includes the opening of a connection. undici's headersTimeout does not fire during 1xx
    // replies.
    this.#wait = deadlinesOf(firstByteMs).begin(() =>
      this.#fail(timedOut(`no response within ${firstByteMs} ms`)),
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#replay.started(this.connection);
    if (this.#failure !== undefined) controller.abort(asError(this.#failure));
  }

  onRequestSent(): void {
    this.#call?.options.attempt?.sent();
    this.#replay.sent(this.connection);
  }

  onResponseStarted(): void {
    this.#replay.answered();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: UpstreamResponse["headers"],
  ): void {
    if (status < 200) {
      if (++this.#interimResponses > MAX_INTERIM_RESPONSES)
        this.#fail(unreadable("The upstream sent interim responses only."));
      return;
    }
    if (isLongList(controller.rawHeaders)) {
      this.#fail(unreadable(`The upstream's response has more than ${MAX_HEADERS} headers.`));
      return;
    }
    // Their bytes would stay as long as the response is open.
    controller.rawHeaders = null;
    this.#awaitMore();
    const options = this.#call?.options;
    const holder = options?.holder ?? options?.signal.holder;
    this.#body = new ResponseBody(controller, (reason) => this.#fail(reason), holder);
    this.#call?.resolve({ status, headers: withCodings(headers), body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#wait?.restart();
    this.#body?.push(chunk);
  }

  #awaitMore(): void {
    this.#wait?.end();
    this.#wait = deadlinesOf(this.#idleMs).begin(() => this.#onIdle());
  }

  #onIdle(): void {
    // Paused by the gateway: the reader is slow, not the upstream.
    if (this.#body?.isPaused === true) this.#awaitMore();
    else this.#fail(timedOut(`nothing for ${this.#idleMs} ms`));
  }

  onResponseEnd(): void {
    this.#settle();
    this.#body?.end();
    this.#release();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const resend =
      this.#failure === undefined
        ? this.#replay.after(error, this.connection, this.#controller !== undefined)
        : undefined;
    if (resend !== undefined) {
      this.#controller = undefined;
      this.#call?.options.attempt?.unbilled();
      resend(this);
      return;
    }
    this.#settle();
    const failure = this.#failure ?? transportError(error);
    if (this.#body === undefined) this.#call?.reject(failure);
    else this.#body.fail(failure);
    this.#release();
  }

  /** Ends the call from the gateway's side; the socket is destroyed, never reused. */
  #fail(reason: unknown): void {
    this.#failure ??= reason;
    this.#settle();
    if (this.#body === undefined) this.#call?.reject(this.#failure);
    else this.#body.fail(this.#failure);
    this.#controller?.abort(asError(this.#failure));
  }

  #settle(): void {
    this.#wait?.end();
    this.#replay.end();
    if (this.#call !== undefined)
      this.#call.options.signal.removeEventListener("abort", this.#call.onAbort);
  }

  /** Frees the place, and lets go of what the call referred to. */
  #release(): void {
    this.#call?.options.place?.release();
    this.#call = undefined;
    this.#controller = undefined;
    this.#body = undefined;
  }
}

function timedOut(sent: string): GatewayError {
  return new GatewayError("upstream_timeout", `The upstream sent ${sent}.`);
}

function unreadable(message: string): GatewayError {
  return new GatewayError("upstream_invalid_response", message);
}

/** Raw headers alternate names and values. */
function isLongList(raw: Dispatcher.DispatchController["rawHeaders"]): boolean {
  return Array.isArray(raw) && raw.length > 2 * MAX_HEADERS;
}

/**
 * The headers with the codings of the bytes in one text; without `content-encoding` where there are
 * none: `identity` is none. Names of codings differ not by case, and a list may have empty items
 * (RFC 9110, 8.4.1, 5.6.1).
 */
function withCodings(headers: UpstreamResponse["headers"]): UpstreamResponse["headers"] {
  if (headers["content-encoding"] === undefined) return headers;
  const { "content-encoding": named, ...plain } = headers;
  const names = String(named).toLowerCase().split(",");
  const codings = names.map((name) => name.trim()).filter((name) => !NO_CODING.has(name));
  return codings.length === 0 ? plain : { ...plain, "content-encoding": codings.join(", ") };
}
