/**
 * Scripts: what the test upstream does with one request. Data, so that a test can print what it
 * asked for.
 */

import type { JsonObject } from "@sluice/contract";
import type { UpstreamRequest, WireUsage } from "./record.ts";

export type { WireUsage } from "./record.ts";

/** Where and how a reply goes wrong after it was begun. */
export interface ReplyFault {
  /**
   * `reset` drops the connection with a TCP reset, `hang` goes silent for ever, `end` ends the body
   * in good order but too early, `error` sends an in-band error event and ends, `garbage` sends an
   * event that is not JSON and goes on. A whole body can only hang; every other kind resets it.
   */
  readonly kind: "reset" | "hang" | "end" | "error" | "garbage";
  /** What is sent first: events of a stream, bytes of a whole body. 0: the headers alone. */
  readonly after: number;
}

/** One tool call of a reply. */
export interface ScriptedToolCall {
  /** Default: `call_` with request number and index. */
  readonly id?: string;
  readonly name: string;
  /** The arguments as JSON text. Streamed in fragments of `fragmentLength` characters. */
  readonly arguments: string;
}

/** A good reply, whole or streamed as the request's `stream` says. */
export interface ReplyAction {
  readonly kind: "reply";
  /**
   * The content. Streamed word by word; one word is one completion token. Default: `DEFAULT_TEXT`.
   */
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Characters of a streamed argument fragment. Default 6. */
  readonly fragmentLength?: number;
  /** Default: `tool_calls` with tool calls, else `stop`. */
  readonly finishReason?: string;
  /**
   * The model in the reply. Default: the requested one with a date behind it, as the reference API
   * answers.
   */
  readonly model?: string;
  /**
   * `never` leaves usage out, whatever the request asks for. Default: counted, one token a word.
   */
  readonly usage?: WireUsage | "never";
  /** How vectors are written, whatever the request asks for. */
  readonly embeddingFormat?: "float" | "base64";
  /** Sends log probabilities. Default: as the request's `logprobs` says. */
  readonly logprobs?: boolean;
  /** Further members of the body and of each chunk. */
  readonly extra?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Silence before the headers. */
  readonly delayMs?: number;
  /** Silence before each event of a stream but the first. Default 0: one turn of the event loop. */
  readonly eventDelayMs?: number;
  /**
   * Sends the body in pieces of so many bytes, `everyMs` apart, without regard to events or
   * characters.
   */
  readonly drip?: { readonly bytes: number; readonly everyMs: number };
  readonly fault?: ReplyFault;
}

/** An error before anything else, with the reference API's error body. */
export interface ErrorAction {
  readonly kind: "error";
  readonly status: number;
  readonly message?: string;
  readonly type?: string;
  readonly code?: string | null;
  readonly param?: string | null;
  /** The `retry-after` header: seconds or an HTTP date. */
  readonly retryAfter?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMs?: number;
}

/** Bytes as they are: wire fixtures and garbage. */
export interface BytesAction {
  readonly kind: "bytes";
  /** Default 200. */
  readonly status?: number;
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly body: string | Uint8Array;
  /** What the bytes bill, for the truth ledger. */
  readonly usage?: WireUsage;
  readonly headers?: Readonly<Record<string, string>>;
  readonly drip?: { readonly bytes: number; readonly everyMs: number };
}

/** Drops the connection, or goes silent, before any header. */
export interface SilentAction {
  readonly kind: "reset" | "hang";
}

/** What the upstream does with one request. */
export type UpstreamAction = ReplyAction | ErrorAction | BytesAction | SilentAction;

/** An action, or a function that chooses one from the request. */
export type UpstreamScript = UpstreamAction | ((request: UpstreamRequest) => UpstreamAction);

/** The content of a reply that was not scripted. */
export const DEFAULT_TEXT = "The quick brown fox jumps over the lazy dog.";

/** Replies that no client can use: HTML with status 200, cut JSON, and nothing at all. */
export const GARBAGE = {
  html: {
    kind: "bytes",
    contentType: "text/html",
    body: "<html><body><h1>It works!</h1></body></html>",
  },
  invalidJson: {
    kind: "bytes",
    body: '{"id":"chatcmpl-cut","object":"chat.completion","choices":[{"ind',
  },
  empty: { kind: "bytes", body: "" },
} as const satisfies Record<string, BytesAction>;

/** The scripts of one upstream: a default, and scripts by the request's `model` or `user`. */
export class ScriptBook {
  #fallback: UpstreamScript = { kind: "reply" };
  readonly #named = new Map<string, UpstreamScript[]>();

  /**
   * Sets the default when `name` is undefined. Several scripts serve one request each, the last one
   * all the rest.
   */
  write(name: string | undefined, scripts: readonly UpstreamScript[]): void {
    const [first] = scripts;
    if (first === undefined) throw new TypeError("script() needs at least one action.");
    if (name !== undefined) this.#named.set(name, [...scripts]);
    else this.#fallback = first;
  }

  /** The action for a request: by its `model`, else by its `user`, else the default. */
  read(request: UpstreamRequest): UpstreamAction {
    const queue = this.#queue(request.parsed?.["model"]) ?? this.#queue(request.parsed?.["user"]);
    const script =
      (queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0]) ?? this.#fallback;
    return typeof script === "function" ? script(request) : script;
  }

  /** Forgets everything that was written. */
  clear(): void {
    this.#named.clear();
    this.#fallback = { kind: "reply" };
  }

  #queue(name: unknown): UpstreamScript[] | undefined {
    return typeof name === "string" ? this.#named.get(name) : undefined;
  }
}
