/** Adds the changing credentials to a call: a token or a signature. */

import { GatewayError, type HttpCall, isGatewayError, type Provider } from "@sluice/contract";
import { TimeLimit, unlessAborted } from "@sluice/kit/internals";

/** The maximum wait for a token service. */
const MAX_WAIT_MS = 10_000;

/**
 * The call with its credentials. Returns the call itself for providers with a constant credential.
 * Rejects with the signal's reason, with `upstream_timeout` when the provider takes longer than 10
 * s, and with `upstream_auth_failed` for any other error.
 */
export function authorize(
  provider: Provider,
  call: HttpCall,
  signal: AbortSignal,
): HttpCall | Promise<HttpCall> {
  return provider.authorize === undefined
    ? call
    : wait(provider.authorize.bind(provider), call, signal);
}

async function wait(
  complete: NonNullable<Provider["authorize"]>,
  call: HttpCall,
  outer: AbortSignal,
): Promise<HttpCall> {
  const late = `The provider's credential was not available within ${MAX_WAIT_MS} ms.`;
  const limit = new TimeLimit(outer, MAX_WAIT_MS, () => new GatewayError("upstream_timeout", late));
  const { signal } = limit;
  try {
    return await unlessAborted(Promise.resolve(complete(call, signal)), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isGatewayError(error)
      ? error
      : new GatewayError(
          "upstream_auth_failed",
          "The provider's credential could not be obtained.",
          { cause: error },
        );
  } finally {
    limit.end();
  }
}
