/** The one error class of the house. */

import { ERROR_CODES, type ErrorCode } from "./codes.ts";

const MARKER = Symbol.for("sluice.GatewayError");

/** What may be said beside code and message. */
export interface GatewayErrorOptions {
  /** The offending field, guardrail or parameter: `error.param` of the body. */
  readonly param?: string;
  /** A status other than the code's own, where an upstream's status is kept. */
  readonly status?: number;
  /** Milliseconds after which another try makes sense: becomes `retry-after`. */
  readonly retryAfterMs?: number;
  /** Whether another attempt may succeed; the code's own word when absent. */
  readonly retryable?: boolean;
  /** What went wrong underneath. Goes to the log, never to a client. */
  readonly cause?: unknown;
  /** Further response headers, `allow` for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the upstream said, without credentials and addresses: `error.provider` of the body. */
  readonly provider?: ProviderWords | undefined;
}

/** An upstream's own words of a failure. What it did not say is null. */
export interface ProviderWords {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string | number | null;
  readonly message: string | null;
}

/** A failure with a code of the table. The message is for the client: it names what, which and what to do. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly param: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly provider: ProviderWords | undefined;
  readonly [MARKER] = true;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const info = ERROR_CODES[code];
    this.name = "GatewayError";
    this.code = code;
    this.status = options.status ?? info.status;
    this.type = info.type;
    this.param = options.param;
    this.retryable = options.retryable ?? info.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.headers = options.headers;
    this.provider = options.provider;
  }
}

/** Tells a gateway error from any other, also across two copies of this package. */
export function isGatewayError(error: unknown): error is GatewayError {
  return typeof error === "object" && error !== null && MARKER in error;
}

/** The body that every failed request gets. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: number | string;
    readonly param: string | null;
    readonly provider?: ProviderWords;
  };
}

/** What `error.code` is: the HTTP status, or a word (`server.error_code`). */
export type ErrorCodeForm = "status" | "text";

/** The client's view of an error, as a JSON body. */
export function errorBody(error: GatewayError, form: ErrorCodeForm = "status"): ErrorBody {
  const { message, type, status, param = null, provider } = error;
  const code = form === "text" ? wordOf(error) : status;
  return { error: { message, type, code, param, ...(provider === undefined ? {} : { provider }) } };
}

/** The code of the table; the upstream's own word where the table says no more than that the upstream failed or refused. */
function wordOf({ code, provider }: GatewayError): string {
  const own = provider?.code;
  return code.startsWith("upstream_") && typeof own === "string" && /[a-z]/i.test(own) ? own : code;
}
