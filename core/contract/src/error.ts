/** The error class of the gateway. */

import { ERROR_CODES, type ErrorCode } from "./codes.ts";

const MARKER = Symbol.for("sluice.GatewayError");

/** Optional members of an error. */
export interface GatewayErrorOptions {
  /** The refused field, guardrail or parameter: `error.param` of the body. */
  readonly param?: string;
  /** A status that replaces the status of the code, where the upstream's status is kept. */
  readonly status?: number;
  /** Milliseconds after which a retry is useful: becomes `retry-after`. */
  readonly retryAfterMs?: number;
  /** Whether another attempt may succeed. Absent: the `retryable` of the code. */
  readonly retryable?: boolean;
  /** The underlying error. It goes to the log, never to a client. */
  readonly cause?: unknown;
  /** Further response headers, for example `allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The upstream's error, without credentials and addresses: `error.provider` of the body. */
  readonly provider?: ProviderWords | undefined;
}

/** The upstream's own description of a failure. A member that the upstream did not send is null. */
export interface ProviderWords {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string | number | null;
  readonly message: string | null;
}

/**
 * A failure with a code of the table. Clients read the message: it says what happened, which object
 * failed, and what to do.
 */
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

/** Returns whether a value is a gateway error. Works across two copies of this package. */
export function isGatewayError(error: unknown): error is GatewayError {
  return typeof error === "object" && error !== null && MARKER in error;
}

/** The body of every failed reply. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: number | string;
    readonly param: string | null;
    readonly provider?: ProviderWords;
  };
}

/** The form of `error.code`: the HTTP status, or the name of the code (`server.error_code`). */
export type ErrorCodeForm = "status" | "text";

/** The client's view of an error, as a JSON body. */
export function errorBody(error: GatewayError, form: ErrorCodeForm = "status"): ErrorBody {
  const { message, type, status, param = null, provider } = error;
  const code = form === "text" ? wordOf(error) : status;
  return { error: { message, type, code, param, ...(provider === undefined ? {} : { provider }) } };
}

/**
 * The code for `error.code` in words. For codes that only say that the upstream failed or refused,
 * the upstream's own code.
 */
function wordOf({ code, provider }: GatewayError): string {
  const own = provider?.code;
  return code.startsWith("upstream_") && typeof own === "string" && /[a-z]/i.test(own) ? own : code;
}

/** In a few words: the system's code of the cause, such as `ECONNREFUSED`, else its message. */
export function errorReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string")
    return cause.code;
  return errorMessage(cause);
}

/** The message of an error; the text of any other thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
