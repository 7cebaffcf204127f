/**
 * Request headers of upstream calls besides the provider's own: those of steps, of the
 * configuration, of the client, and `via`.
 */

import type { EncodedCall, Exchange, ProviderInstance } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";
import { mayBeCallHeader } from "../../call-header-names.ts";

/**
 * The headers of steps. The map is replaced and never changed: a step in shadow mode shares it
 * until it sets its own.
 */
const STEP_HEADERS = defineSlot<ReadonlyMap<string, string>>("call headers");
const MAX_HEADERS = 32;
const MAX_CHARACTERS = 4_096;

/** Visible ASCII, with blanks between (RFC 9110 5.5). */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/**
 * Adds a header to every upstream call of the exchange that begins from now on; the value
 * `undefined` removes it. A header of the provider itself stays unchanged. Throws a TypeError for a
 * credential, a header of the connection, of framing or of forwarding, for a value that is not
 * visible ASCII of up to 4,096 characters, and for more than 32 headers.
 */
export function setCallHeader(exchange: Exchange, name: string, value: string | undefined): void {
  const known = name.toLowerCase();
  if (!mayBeCallHeader(known))
    throw new TypeError(`The header ${known} cannot be added to an upstream call.`);
  if (value !== undefined && !isCallHeaderValue(value))
    throw new TypeError(`The value of the header ${known} is not visible ASCII.`);
  const headers = new Map(stepHeaders(exchange));
  if (value === undefined) headers.delete(known);
  else headers.set(known, value);
  if (headers.size > MAX_HEADERS)
    throw new TypeError(`An exchange adds at most ${MAX_HEADERS} headers to its calls.`);
  STEP_HEADERS.set(exchange, headers);
}

/**
 * The call with its additional headers: the configured ones, then the client's, then those of
 * steps. Later ones win.
 */
export function withCallHeaders<Call extends EncodedCall>(
  exchange: Exchange,
  provider: ProviderInstance,
  call: Call,
): Call {
  const { client } = exchange;
  const { callHeaders, passHeaders } = provider;
  const ofSteps = stepHeaders(exchange);
  const via = viaOf(client.header("via"));
  if (callHeaders === undefined && passHeaders === undefined && ofSteps === undefined) {
    // The common case: the call's own headers and `via`.
    return call.headers["via"] === undefined
      ? { ...call, headers: { ...call.headers, via } }
      : call;
  }
  const added: Record<string, string> = { ...callHeaders };
  for (const name of passHeaders ?? []) {
    const value = client.header(name);
    if (value !== undefined && isCallHeaderValue(value)) added[name] = value;
  }
  for (const [name, value] of ofSteps ?? []) added[name] = value;
  added["via"] = via;
  return { ...call, headers: { ...added, ...call.headers } };
}

/** The headers of steps, by lower-case names; `undefined` without one. */
export function stepHeaders(exchange: Exchange): ReadonlyMap<string, string> | undefined {
  return STEP_HEADERS.get(exchange);
}

/** Whether a call may carry a value. */
export function isCallHeaderValue(value: string): boolean {
  return value.length <= MAX_CHARACTERS && VALUE.test(value);
}

/** The entry of a gateway of this kind in `via` (RFC 9110 7.6.3). */
const OWN_VIA = "1.1 sluice";

/** The number of gateways of this kind that a request has passed, by its `via`. */
export function gatewaysPassed(via: string | undefined): number {
  return via === undefined
    ? 0
    : via.split(",").filter((entry) => entry.trim().toLowerCase() === OWN_VIA).length;
}

/**
 * One entry for each gateway of this kind, including this one. Entries of other proxies are
 * removed: they may name hosts of the client's network.
 */
function viaOf(received: string | undefined): string {
  if (received === undefined) return OWN_VIA;
  return Array.from({ length: gatewaysPassed(received) + 1 }, () => OWN_VIA).join(", ");
}
