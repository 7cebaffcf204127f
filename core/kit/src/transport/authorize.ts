/** The last touch to a call: what changes over time, a token or a signature. */

import { GatewayError, type HttpCall, isGatewayError, type Provider } from "@sluice/spec";

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
  const controller = new AbortController();
  const { signal } = controller;
  let fail: (reason: unknown) => void;
  const ended = new Promise<never>((_resolve, reject) => (fail = reject));
  const end = (reason: unknown): void => {
    controller.abort(reason);
    fail(reason);
  };
  const onAbort = (): void => end(outer.reason);
  const timer = setTimeout(
    () => end(new GatewayError("upstream_timeout", `The provider's credential was not there within ${MAX_WAIT_MS} ms.`)),
    MAX_WAIT_MS,
  );
  if (outer.aborted) onAbort();
  else outer.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([complete(call, signal), ended]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isGatewayError(error)
      ? error
      : new GatewayError("upstream_auth_failed", "The provider's credential could not be had.", { cause: error });
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", onAbort);
  }
}
