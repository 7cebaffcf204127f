/** JSON calls to a service that the operator configured, for guardrails that ask a service. */

import { GatewayError, type Host, type GuardrailCaller, type Secret } from "@sluice/contract";
import { parseJson } from "../../json/parse.ts";
import { holderOf } from "../../state/parts.ts";
import { TimeLimit } from "../../waiting.ts";
import type { ConnectionPlace } from "../connections/places.ts";
import { Upstream } from "../upstream.ts";

/**
 * Options of the calls, all from the operator. No part of a client's request decides the
 * destination.
 */
export interface JsonServiceOptions {
  /** The guardrail's name, for the connections. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** The maximum length of an answer; a larger one is refused. */
  readonly maxBytes: number;
  /** Maximum concurrent calls; each key has a part of them. Default 32. */
  readonly connections?: number;
}

/** A service that answers JSON with JSON. */
export interface JsonService {
  /**
   * Posts a JSON text and returns the parsed answer. Rejects with an Error whose name is the cause
   * (`Status503`, `NoJson`), with a GatewayError of the transport, or with the signal's reason.
   * Redirects are not followed: they could leave the configured place. A call without a free
   * connection waits and is then refused with `overloaded`; the wait does not count for the
   * service's timeout.
   */
  post(body: string, signal: AbortSignal, options?: PostOptions): Promise<unknown>;
}

/** Options of one call. */
export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The holder of the connection, from the guardrail's context. Absent: the gateway itself. */
  readonly caller?: GuardrailCaller | undefined;
}

const DEFAULT_CONNECTIONS = 32;
const CONNECT_MS = 5_000;

/** A service whose connections are shared with other generations under the same name. */
export function createJsonService(
  host: Pick<Host, "shared">,
  options: JsonServiceOptions,
): JsonService {
  const { name, url, timeoutMs, maxBytes, connections = DEFAULT_CONNECTIONS } = options;
  const connectMs = Math.min(CONNECT_MS, timeoutMs);
  const key = `json-service:${name}:${connections}:${connectMs}`;
  const upstream = host.shared(
    key,
    () => new Upstream({ connections, connectMs, mayHaveAll: true }),
  );
  const timeouts = { connectMs, firstByteMs: timeoutMs, idleMs: timeoutMs };
  return {
    async post(body, signal, { headers, caller } = {}) {
      const place = await placeFor(caller, upstream, timeoutMs, signal);
      const late = `The service did not answer within ${timeoutMs} ms.`;
      const limit = new TimeLimit(
        signal,
        timeoutMs,
        () => new GatewayError("upstream_timeout", late),
      );
      try {
        const all = {
          accept: "application/json",
          "content-type": "application/json",
          ...options.headers,
          ...headers,
        };
        const call = { kind: "http", method: "POST", url, headers: all, body } as const;
        const response = await upstream.send(call, {
          signal: limit.signal,
          timeouts,
          place,
          holder: caller,
        });
        const bytes = await response.body.collect(maxBytes);
        if (response.status < 200 || response.status > 299) throw named(`Status${response.status}`);
        return parse(bytes);
      } finally {
        limit.end();
      }
    },
  };
}

/** A connection for the caller. The caller's `waited` counts a wait. */
async function placeFor(
  caller: GuardrailCaller | undefined,
  { places }: Upstream,
  waitMs: number,
  signal: AbortSignal,
): Promise<ConnectionPlace> {
  const entered = places.enter(
    caller ?? holderOf(undefined),
    caller?.what ?? "The service of a guardrail",
    signal,
    waitMs,
  );
  if (caller === undefined || !(entered instanceof Promise)) return entered;
  caller.waits += 1;
  return entered;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw named("NoJson");
  }
}

/**
 * An error that is identified by its name only: the answer of a service may quote the checked text.
 */
function named(name: string): Error {
  const error = new Error("The service of a guardrail returned an unusable answer.");
  error.name = name;
  return error;
}
