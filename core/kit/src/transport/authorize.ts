/** The last touch to a call: what changes over time, a token or a signature. */

import { GatewayError, type HttpCall, isGatewayError, type Provider } from "@sluice/spec";
import { TimeLimit, unlessAborted } from "../waiting.ts";

/** A token service that is slower than this is as good as none. */
const MAX_WAIT_MS = 10_000;

/**
 * The call as it may be sent. Costs nothing for providers whose credential is a constant. Rejects with the signal's reason, with
 * `upstream_timeout` when the provider takes longer than 10 s, and with `upstream_auth_failed` for what it throws.
 */
export function authorize(provider: Provider, call: HttpCall, signal: AbortSignal): HttpCall | Promise<HttpCall> {
  return provider.authorize === undefined ? call : wait(provider.authorize.bind(provider), call, signal);
}

async function wait(complete: NonNullable<Provider["authorize"]>, call: HttpCall, outer: AbortSignal): Promise<HttpCall> {
  const late = `The provider's credential was not there within ${MAX_WAIT_MS} ms.`;
  const limit = new TimeLimit(outer, MAX_WAIT_MS, () => new GatewayError("upstream_timeout", late));
  const { signal } = limit;
  try {
    return await unlessAborted(Promise.resolve(complete(call, signal)), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isGatewayError(error)
      ? error
      : new GatewayError("upstream_auth_failed", "The provider's credential could not be had.", { cause: error });
  } finally {
    limit.end();
  }
}
