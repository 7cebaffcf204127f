/** Request headers of upstream calls beside the provider's own: those of steps, of the configuration, of the client, and `via`. */

import type { Exchange, HttpCall, ProviderInstance } from "@sluice/spec";
import { mayBeCallHeader } from "../call-header-names.ts";

/** The headers of a step, in `exchange.state`. The map is replaced and never changed: a step in shadow has a state of its own. */
const STEP_HEADERS = Symbol("call headers");
const MAX_HEADERS = 32;
const MAX_CHARACTERS = 4_096;

/** Visible ASCII, with blanks between (RFC 9110 5.5). */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/**
 * Adds a header to every upstream call of the exchange that begins from now on; a value of `undefined` takes it out again. A header
 * that the provider sets itself stays as it is. Throws a TypeError for a credential, a header of the connection, of framing or of forwarding,
 * for a value that is not visible ASCII of up to 4,096 characters, and for more than 32 headers.
 */
export function setCallHeader(exchange: Exchange, name: string, value: string | undefined): void {
  const known = name.toLowerCase();
  if (!mayBeCallHeader(known)) throw new TypeError(`The header ${known} cannot be added to an upstream call.`);
  if (value !== undefined && !isValue(value)) throw new TypeError(`The value of the header ${known} is not visible ASCII.`);
  const headers = new Map(stepHeaders(exchange));
  if (value === undefined) headers.delete(known);
  else headers.set(known, value);
  if (headers.size > MAX_HEADERS) throw new TypeError(`An exchange adds at most ${MAX_HEADERS} headers to its calls.`);
  exchange.state.set(STEP_HEADERS, headers);
}

/** The call with what is added to it: the configured headers, then the client's, then those of steps, each over the one before. */
export function withCallHeaders(exchange: Exchange, provider: ProviderInstance, call: HttpCall): HttpCall {
  const { client } = exchange;
  const added: Record<string, string> = { ...provider.callHeaders };
  for (const name of provider.passHeaders ?? []) {
    const value = client.header(name);
    if (value !== undefined && isValue(value)) added[name] = value;
  }
  for (const [name, value] of stepHeaders(exchange) ?? []) added[name] = value;
  added["via"] = viaOf(client.header("via"));
  return { ...call, headers: { ...added, ...call.headers } };
}

function stepHeaders({ state }: Exchange): ReadonlyMap<string, string> | undefined {
  return state.get(STEP_HEADERS) as ReadonlyMap<string, string> | undefined;
}

function isValue(value: string): boolean {
  return value.length <= MAX_CHARACTERS && VALUE.test(value);
}

/** An entry of this kind of gateway in `via` (RFC 9110 7.6.3). */
const OWN_VIA = "1.1 sluice";

/** How many gateways of this kind a request has passed, by its `via`. */
export function gatewaysPassed(via: string | undefined): number {
  return via === undefined ? 0 : via.split(",").filter((entry) => entry.trim().toLowerCase() === OWN_VIA).length;
}

/** One entry for each gateway of this kind, this one included. Entries of others stay here: they may name hosts of the client's network. */
function viaOf(received: string | undefined): string {
  return Array.from({ length: gatewaysPassed(received) + 1 }, () => OWN_VIA).join(", ");
}
