/**
 * Access tokens of a service: cached until shortly before they expire, fetched by one call at a
 * time.
 */

import { createHash } from "node:crypto";
import {
  type Clock,
  GatewayError,
  type Host,
  type HttpCall,
  type JsonObject,
  Secret,
  type SharedValue,
} from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { parseJson } from "../../json/parse.ts";
import { readRetryAfterMs } from "./retry-after.ts";
import { Upstream } from "../upstream.ts";

/** A source of tokens. */
export interface TokenSource extends SharedValue {
  /** A valid token. Rejects with a GatewayError when none is available. */
  get(): Promise<Secret>;
  close(): Promise<void>;
}

/** The source of tokens. */
export interface TokenOptions {
  /** The token's name where a secret is printed. */
  readonly name: string;
  readonly clock: Clock;
  /**
   * The call that fetches a token. Made again each time, so that it can contain the time, or the
   * present content of a file.
   */
  request(): HttpCall | Promise<HttpCall>;
}

const TIMEOUTS = { connectMs: 5_000, firstByteMs: 8_000, idleMs: 5_000 };
const MAX_REPLY_BYTES = 64 * 1024;
/** A token is fetched again this long before its end, or in the last tenth of its life. */
const MARGIN_MS = 300_000;
/** The assumed life of a token from a service that does not state it (RFC 6749 5.1 allows that). */
const UNSTATED_LIFE_MS = 300_000;
/** While the cached token is valid, a failed refresh is repeated after this time. */
const RENEWAL_PAUSE_MS = 5_000;

/**
 * The token source of a host for one identity, shared by the generations. `identity` distinguishes
 * it from others and includes its secrets; only a hash of it is kept.
 */
export function openTokens(
  host: Host,
  identity: readonly string[],
  options: Omit<TokenOptions, "clock">,
): TokenSource {
  const digest = createHash("sha256").update(JSON.stringify(identity)).digest("base64url");
  return host.shared(`token:${options.name}:${digest}`, () =>
    createTokenSource({ ...options, clock: host.clock }),
  );
}

/** A token source. It opens no connection before the first use. */
export function createTokenSource({ name, clock, request }: TokenOptions): TokenSource {
  let upstream: Upstream | undefined;
  let held:
    | { readonly token: Secret; readonly renewAtMs: number; readonly endsAtMs: number }
    | undefined;
  let fetching: Promise<Secret> | undefined;
  let pausedUntilMs = 0;

  const fetchToken = async (): Promise<Secret> => {
    upstream ??= new Upstream({ connections: 1, connectMs: TIMEOUTS.connectMs });
    // No caller's signal: other callers may wait for the same token. The timeouts end the call.
    const response = await upstream.send(await request(), {
      signal: new AbortController().signal,
      timeouts: TIMEOUTS,
    });
    const body = jsonOf(await response.body.collect(MAX_REPLY_BYTES));
    const { access_token: value, expires_in: life } = body;
    if (response.status !== 200)
      throw refused(response.status, body, readRetryAfterMs(response.headers));
    if (typeof value !== "string" || value === "") throw refused(response.status, body, undefined);
    const seconds = Number(life);
    const lifeMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : UNSTATED_LIFE_MS;
    const now = clock.monotonic();
    const token = new Secret(name, value);
    held = {
      token,
      renewAtMs: now + lifeMs - Math.min(MARGIN_MS, lifeMs / 10),
      endsAtMs: now + lifeMs,
    };
    return token;
  };

  const renew = (): Promise<Secret> => {
    fetching ??= fetchToken().finally(() => (fetching = undefined));
    return fetching;
  };

  return {
    async get() {
      const now = clock.monotonic();
      if (held === undefined || now >= held.endsAtMs) return renew();
      if (now >= held.renewAtMs && now >= pausedUntilMs && fetching === undefined) {
        // The cached token is still valid. No caller waits for the new one, so a failure only
        // delays the next refresh.
        renew().catch(() => (pausedUntilMs = clock.monotonic() + RENEWAL_PAUSE_MS));
      }
      return held.token;
    },
    close: async () => upstream?.close(),
  };
}

/**
 * The form of a code in RFC 6749 5.2, and the number that a service gives its errors:
 * `AADSTS7000215`.
 */
const ERROR_CODE = /^[a-z_]{1,64}$/;
const ERROR_NUMBER = /\b[A-Z]{3,8}\d{3,9}\b/;

/**
 * An error of RFC 6749 5.2. Its code and number go to the log. Its text may repeat the request or
 * name tenants.
 */
function refused(
  status: number,
  { error, error_description: words }: JsonObject,
  retryAfterMs?: number,
): GatewayError {
  const code = typeof error === "string" && ERROR_CODE.test(error) ? error : "";
  const number =
    typeof words === "string" ? (ERROR_NUMBER.exec(words.slice(0, 300))?.[0] ?? "") : "";
  const cause = new Error(
    ["The token service returned", String(status), code, number]
      .filter((part) => part !== "")
      .join(" "),
  );
  if (status === 429 || status >= 500)
    return new GatewayError(
      "upstream_overloaded",
      `The token service answered with status ${status}.`,
      {
        cause,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    );
  return new GatewayError(
    "upstream_auth_failed",
    `The token service returned no token and status ${status}.`,
    {
      cause,
    },
  );
}

function jsonOf(bytes: Uint8Array): JsonObject {
  try {
    const value: unknown = parseJson(Buffer.from(bytes).toString("utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
