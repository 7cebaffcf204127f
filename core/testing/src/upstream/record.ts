/**
 * The truth ledger: what the test upstream received, sent and billed, whatever the gateway says
 * about it.
 */

import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "@sluice/contract";

/** Tokens, in the reference API's words. */
export interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: JsonObject;
  readonly completion_tokens_details?: JsonObject;
}

/**
 * One request as the upstream saw it. Filled in while the request lives. Times are milliseconds
 * since 1970.
 */
export interface UpstreamRequest {
  /** 1 for the first request since the start or the last `reset()`. */
  readonly number: number;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Which TCP connection it came on, counted from 1. */
  readonly connection: number;
  readonly startedAtMs: number;
  /** The body as text; empty until it has arrived. */
  readonly body: string;
  /** The body as a JSON object; undefined when it is none. */
  readonly parsed: JsonObject | undefined;
  /** The status that was sent. */
  readonly status: number | undefined;
  /** Events of a stream that were written, `[DONE]` included. */
  readonly eventsSent: number;
  /** When the peer closed the connection before our reply had ended. */
  readonly closedByPeerAtMs: number | undefined;
  /** When our reply was handed to the socket in full. */
  readonly finishedAtMs: number | undefined;
  /** The reply was sent in full. */
  readonly finished: boolean;
  /** Nothing more will happen: finished, closed by the peer, or reset by the script. */
  readonly settled: boolean;
  /**
   * What the upstream bills: all tokens of a reply, those of the words sent when it was cut,
   * undefined when there was none.
   */
  readonly usage: WireUsage | undefined;
}

/** The same record for the one who fills it in. */
export type OpenRecord = { -readonly [Name in keyof UpstreamRequest]: UpstreamRequest[Name] };

/** A new record, with everything that is known when the headers have arrived. */
export function openRecord(
  known: Pick<
    UpstreamRequest,
    "number" | "method" | "path" | "headers" | "connection" | "startedAtMs"
  >,
): OpenRecord {
  return {
    ...known,
    body: "",
    parsed: undefined,
    status: undefined,
    eventsSent: 0,
    closedByPeerAtMs: undefined,
    finishedAtMs: undefined,
    finished: false,
    settled: false,
    usage: undefined,
  };
}

/** Sets the body of a record, and its parsed form when it is a JSON object. */
export function recordBody(record: OpenRecord, body: string): void {
  record.body = body;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      record.parsed = value as JsonObject;
  } catch {
    record.parsed = undefined;
  }
}

/** Wakes those who wait for something to become true of the ledger. */
export class Watchers {
  readonly #waiting = new Set<() => void>();

  /** Notifies all waiters that a record has changed. */
  changed(): void {
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves with the first defined value of `look`. Rejects after `timeoutMs`, naming what was
   * waited for.
   */
  wait<T>(what: string, look: () => T | undefined, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const again = () => {
        const found = look();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(again);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(again);
        reject(new Error(`The upstream waited ${timeoutMs} ms for ${what}.`));
      }, timeoutMs);
      this.#waiting.add(again);
      again();
    });
  }
}
