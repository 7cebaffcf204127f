/** One JSON call to a service that the operator named: for guardrails that ask somebody else. */

import { GatewayError, type Host, type Secret } from "@sluice/spec";
import { TimeLimit } from "../waiting.ts";
import { Upstream } from "./upstream.ts";

/** What calls are made with. All of it is the operator's; nothing of a client's request decides where a call goes. */
export interface JsonServiceOptions {
  /** Of the guardrail, for the connections' name. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** A larger answer is none. */
  readonly maxBytes: number;
  /** Calls at the same time at most. Default 32. */
  readonly connections?: number;
}

/** A service that answers JSON with JSON. */
export interface JsonService {
  /**
   * Posts a text of JSON and returns what was answered, parsed. Rejects with an Error whose name says what happened
   * (`Status503`, `NoJson`), with a GatewayError of the transport, or with the signal's reason. Redirects are not followed:
   * they would be a way out of the place that the operator named.
   */
  post(body: string, signal: AbortSignal, headers?: Readonly<Record<string, string>>): Promise<unknown>;
}

const DEFAULT_CONNECTIONS = 32;
const CONNECT_MS = 5_000;

/** A service whose connections are shared with other generations that name it alike. */
export function createJsonService(host: Pick<Host, "shared">, options: JsonServiceOptions): JsonService {
  const { name, url, timeoutMs, maxBytes, connections = DEFAULT_CONNECTIONS } = options;
  const connectMs = Math.min(CONNECT_MS, timeoutMs);
  const key = `json-service:${name}:${connections}:${connectMs}`;
  const upstream = host.shared(key, () => new Upstream({ connections, connectMs }));
  const timeouts = { connectMs, firstByteMs: timeoutMs, idleMs: timeoutMs };
  return {
    async post(body, signal, headers = {}) {
      const late = `The service did not answer within ${timeoutMs} ms.`;
      const limit = new TimeLimit(signal, timeoutMs, () => new GatewayError("upstream_timeout", late));
      try {
        const all = { accept: "application/json", "content-type": "application/json", ...options.headers, ...headers };
        const call = { kind: "http", method: "POST", url, headers: all, body } as const;
        const response = await upstream.send(call, { signal: limit.signal, timeouts });
        const bytes = await response.body.collect(maxBytes);
        if (response.status < 200 || response.status > 299) throw named(`Status${response.status}`);
        return parse(bytes);
      } finally {
        limit.end();
      }
    },
  };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw named("NoJson");
  }
}

/** An error that is told by its name alone: what a service answers may quote the text it judged. */
function named(name: string): Error {
  const error = new Error("A service of a guardrail gave no answer of use.");
  error.name = name;
  return error;
}
