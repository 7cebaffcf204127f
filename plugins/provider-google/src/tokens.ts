/** Access tokens: fetched when they are needed, one fetch at a time, kept until shortly before they end. */

import { isObject } from "@sluice/kit";
import { Upstream } from "@sluice/kit/transport";
import { type Clock, GatewayError, type HttpCall, Secret, type SharedValue } from "@sluice/spec";

/** Where tokens come from. */
export interface TokenSource extends SharedValue {
  /** A token that holds for a while yet. Rejects with `upstream_auth_failed`, or with what the transport met. */
  token(): Promise<Secret>;
}

/** A token this near to its end is not used any more. */
const UNUSABLE_MS = 30_000;
/** And one this near is replaced while it is used: nobody waits for the next one. */
const STALE_MS = 240_000;
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 8_000, idleMs: 5_000 };
const MAX_WAIT_MS = 9_000;
const MAX_REPLY_BYTES = 64 * 1024;

interface Held {
  readonly token: Secret;
  readonly endsAtMs: number;
}

/** A source that asks with `request`, which is made anew for every fetch. */
export function createTokenSource(request: () => HttpCall, clock: Clock): TokenSource {
  const upstream = new Upstream({ connections: 2, connectMs: TIMEOUTS.connectMs });
  let held: Held | undefined;
  let fetching: Promise<Secret> | undefined;
  const refresh = (): Promise<Secret> =>
    (fetching ??= fetchToken(request(), upstream, clock)
      .then((fresh) => (held = fresh).token)
      .finally(() => (fetching = undefined)));
  return {
    async token() {
      const left = held === undefined ? 0 : held.endsAtMs - clock.now();
      if (held === undefined || left < UNUSABLE_MS) return await refresh();
      // Its failure is no matter while the old one holds; the next call tries again.
      if (left < STALE_MS) refresh().catch(() => undefined);
      return held.token;
    },
    close: () => upstream.destroy(),
  };
}

/** Has a deadline of its own: whoever asked first may go away, and the others still wait. */
async function fetchToken(call: HttpCall, upstream: Upstream, clock: Clock): Promise<Held> {
  const response = await upstream.send(call, { signal: AbortSignal.timeout(MAX_WAIT_MS), timeouts: TIMEOUTS });
  const { status } = response;
  const body = await response.body.collect(MAX_REPLY_BYTES);
  if (status >= 500 || status === 429) {
    throw new GatewayError("upstream_failed", `The token service answered with status ${status}.`);
  }
  const reply = status === 200 ? parsed(body) : undefined;
  const seconds = reply?.expires_in;
  if (typeof reply?.access_token !== "string" || typeof seconds !== "number" || !(seconds > 0)) {
    // Its words may repeat the credential, so they are not repeated.
    throw new GatewayError("upstream_auth_failed", `The token service gave no token: status ${status}.`);
  }
  return { token: new Secret("access_token", reply.access_token), endsAtMs: clock.now() + seconds * 1_000 };
}

function parsed(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
