/**
 * Connections to a scripted upstream: the script replaces the network, the transport is the real
 * one.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { type Dispatching, Upstream, type UpstreamOptions } from "@sluice/kit/internals";

/** A call in its wire form. */
export interface ScriptedCall {
  readonly method: string;
  /** Without its query, which may hold a credential. */
  readonly url: string;
  /** Lower-case names. They may hold a credential: print only headers selected by name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * The scripted behaviour: a response that ends well, is cut or stops sending; no response at all;
 * or a refused connection.
 */
export type ScriptedAnswer =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Written one by one, each in a turn of its own. */
      readonly chunks: readonly (string | Uint8Array)[];
      readonly end: "whole" | "cut" | "silent";
    }
  | { readonly kind: "silent" }
  | { readonly kind: "refused" };

/**
 * Connections whose calls `answer` answers. No socket is opened; timers, bounds and aborts are the
 * transport's.
 */
export function createScriptedUpstream(
  options: UpstreamOptions,
  answer: (call: ScriptedCall) => ScriptedAnswer,
): Upstream {
  const script: Dispatching = {
    dispatch(call, handler) {
      void play(new Performance(handler), answer(callOf(call)));
      return true;
    },
    close: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  } as Dispatching;
  return new Upstream(options, script);
}

function callOf({ origin, path, method, headers, body }: Dispatcher.DispatchOptions): ScriptedCall {
  const flat = headers as readonly string[];
  const named = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2)
    named.set(flat[index]!.toLowerCase(), flat[index + 1]!);
  const text =
    typeof body === "string"
      ? body
      : body instanceof Uint8Array
        ? Buffer.from(body).toString("utf8")
        : "";
  return { method, url: `${String(origin)}${path.split("?")[0]}`, headers: named, body: text };
}

async function play(performance: Performance, answer: ScriptedAnswer): Promise<void> {
  await nextTurn();
  if (!performance.begin()) return;
  if (answer.kind === "refused")
    return performance.fail("ECONNREFUSED", "The script refuses the connection.");
  performance.sent();
  if (answer.kind === "silent") return;
  performance.respond(answer.status, answer.headers);
  for (const chunk of answer.chunks) {
    await nextTurn();
    if (!(await performance.write(chunk))) return;
  }
  await nextTurn();
  if (answer.end === "whole") performance.end();
  else if (answer.end === "cut")
    performance.fail("UND_ERR_SOCKET", "The script cuts the connection.");
}

/**
 * One call from the handler's view: undici's callbacks in undici's order, and none after its end.
 */
class Performance {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller: Dispatcher.DispatchController;
  #isOver = false;
  #isPaused = false;
  #resumed: (() => void) | undefined;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
    const isPaused = (): boolean => this.#isPaused;
    const isOver = (): boolean => this.#isOver;
    this.#controller = {
      get paused() {
        return isPaused();
      },
      get aborted() {
        return isOver();
      },
      reason: null,
      abort: (reason) => this.#finish(() => handler.onResponseError?.(this.#controller, reason)),
      pause: () => (this.#isPaused = true),
      resume: () => {
        this.#isPaused = false;
        this.#resumed?.();
      },
    } as Dispatcher.DispatchController;
  }

  /** Whether the call is still active. */
  begin(): boolean {
    this.#handler.onRequestStart?.(this.#controller, {});
    return !this.#isOver;
  }

  /** The request has been written in full. */
  sent(): void {
    this.#handler.onRequestSent?.();
  }

  respond(status: number, headers: Readonly<Record<string, string>>): void {
    if (!this.#isOver)
      this.#handler.onResponseStart?.(this.#controller, status, { ...headers }, "");
  }

  /** Waits while the reader is slow. Resolves with false after the reader has gone. */
  async write(chunk: string | Uint8Array): Promise<boolean> {
    if (this.#isPaused && !this.#isOver)
      await new Promise<void>((resolve) => (this.#resumed = resolve));
    if (!this.#isOver)
      this.#handler.onResponseData?.(this.#controller, Buffer.from(chunk as string));
    return !this.#isOver;
  }

  end(): void {
    this.#finish(() => this.#handler.onResponseEnd?.(this.#controller, {}));
  }

  fail(code: string, message: string): void {
    this.#finish(() =>
      this.#handler.onResponseError?.(
        this.#controller,
        Object.assign(new Error(message), { code }),
      ),
    );
  }

  #finish(notify: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resumed?.();
    notify();
  }
}
