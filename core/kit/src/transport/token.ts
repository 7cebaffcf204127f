/** Tokens that a service hands out for a while: kept until shortly before they end, fetched by one call at a time. */

import { createHash } from "node:crypto";
import { type Clock, GatewayError, type Host, type HttpCall, type JsonObject, Secret, type SharedValue } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { readRetryAfterMs } from "./retry-after.ts";
import { Upstream } from "./upstream.ts";

/** A source of tokens. */
export interface TokenSource extends SharedValue {
  /** A token that is good for a while yet. Rejects with a GatewayError when there is none to be had. */
  get(): Promise<Secret>;
  close(): Promise<void>;
}

/** Where tokens come from. */
export interface TokenOptions {
  /** What the token is called where a secret is shown. */
  readonly name: string;
  readonly clock: Clock;
  /** The call that asks for one. Made anew each time, so that it may carry the hour, or what a file holds by then. */
  request(): HttpCall | Promise<HttpCall>;
}

const TIMEOUTS = { connectMs: 5_000, firstByteMs: 8_000, idleMs: 5_000 };
const MAX_REPLY_BYTES = 64 * 1024;
/** A token is fetched anew so long before its end, or in the last tenth of its life. */
const MARGIN_MS = 300_000;
/** A service that does not say how long its token lives (RFC 6749 5.1 lets it) is asked again soon. */
const UNTOLD_LIFE_MS = 300_000;
/** While the token at hand is still good, a failed renewal is tried again after this. */
const RENEWAL_PAUSE_MS = 5_000;

/**
 * The token source of a host for one identity, shared by the generations: `identity` is what tells it from others, its secrets
 * included; only a hash of it is kept.
 */
export function openTokens(host: Host, identity: readonly string[], options: Omit<TokenOptions, "clock">): TokenSource {
  const digest = createHash("sha256").update(JSON.stringify(identity)).digest("base64url");
  return host.shared(`token:${options.name}:${digest}`, () => createTokenSource({ ...options, clock: host.clock }));
}

/** A token source; opens no connection before it is asked. */
export function createTokenSource({ name, clock, request }: TokenOptions): TokenSource {
  let upstream: Upstream | undefined;
  let held: { readonly token: Secret; readonly renewAtMs: number; readonly endsAtMs: number } | undefined;
  let fetching: Promise<Secret> | undefined;
  let pausedUntilMs = 0;

  const fetchToken = async (): Promise<Secret> => {
    upstream ??= new Upstream({ connections: 1, connectMs: TIMEOUTS.connectMs });
    // Nobody's own signal: others may wait for the same token. The timeouts end it.
    const response = await upstream.send(await request(), { signal: new AbortController().signal, timeouts: TIMEOUTS });
    const body = jsonOf(await response.body.collect(MAX_REPLY_BYTES));
    const { access_token: value, expires_in: life } = body;
    if (response.status !== 200) throw refused(response.status, body, readRetryAfterMs(response.headers));
    if (typeof value !== "string" || value === "") throw refused(response.status, body, undefined);
    const seconds = Number(life);
    const lifeMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : UNTOLD_LIFE_MS;
    const now = clock.monotonic();
    const token = new Secret(name, value);
    held = { token, renewAtMs: now + lifeMs - Math.min(MARGIN_MS, lifeMs / 10), endsAtMs: now + lifeMs };
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
        // What is at hand still serves; nobody waits for the new one, and its failure is nobody's yet.
        renew().catch(() => (pausedUntilMs = clock.monotonic() + RENEWAL_PAUSE_MS));
      }
      return held.token;
    },
    close: async () => upstream?.close(),
  };
}

/** A code as RFC 6749 5.2 has them, and the number that a service gives its errors: `AADSTS7000215`. */
const ERROR_CODE = /^[a-z_]{1,64}$/;
const ERROR_NUMBER = /\b[A-Z]{3,8}\d{3,9}\b/;

/** An error of RFC 6749 5.2. Its code and number go to the log; its words may repeat what was sent, and name tenants. */
function refused(status: number, { error, error_description: words }: JsonObject, retryAfterMs?: number): GatewayError {
  const code = typeof error === "string" && ERROR_CODE.test(error) ? error : "";
  const number = typeof words === "string" ? (ERROR_NUMBER.exec(words.slice(0, 300))?.[0] ?? "") : "";
  const cause = new Error(["The token service says", String(status), code, number].filter((part) => part !== "").join(" "));
  if (status === 429 || status >= 500)
    return new GatewayError("upstream_overloaded", `The token service answered with status ${status}.`, {
      cause,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  return new GatewayError("upstream_auth_failed", `The token service gave no token and answered with status ${status}.`, {
    cause,
  });
}

function jsonOf(bytes: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
