/** The customer of a request: whom it names in its body or in a header of the operator's choice. */

import { CUSTOMER } from "@sluice/runtime";
import {
  type Authority,
  type CustomerRequest,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Identity,
  type MaybePromise,
} from "@sluice/contract";

/**
 * Puts the customer of a request on its exchange. The request then has the customer's id as rows
 * show it, `null` for a key that may not name one. Throws or rejects with `permission_denied` for
 * a customer that is blocked, and with what `Authority.customerOf` refuses.
 */
export function nameCustomer(
  exchange: Exchange,
  identity: Identity,
  authority: Authority,
): MaybePromise<void> {
  const { request } = exchange;
  if (request === undefined) return;
  const headers = authority.customerHeaders;
  const claimed =
    (headers.length === 0 ? undefined : headerId(exchange, headers)) ??
    request.endUser ??
    undefined;
  if (claimed === undefined && identity.customerId === undefined) return;
  let found: MaybePromise<CustomerRequest | undefined>;
  try {
    found = authority.customerOf(identity, claimed);
  } catch (error) {
    return fail(exchange, request, error);
  }
  return found instanceof Promise
    ? found.then(
        (named) => keep(exchange, request, named),
        (error: unknown) => fail(exchange, request, error),
      )
    : keep(exchange, request, found);
}

function keep(
  exchange: Exchange,
  request: GatewayRequest,
  named: CustomerRequest | undefined,
): void {
  const endUser = named?.customer.id ?? null;
  if (endUser !== request.endUser) exchange.request = { ...request, endUser };
  if (named === undefined) return;
  exchange.identity = named.identity;
  CUSTOMER.set(exchange, named.customer);
  if (named.refusal !== undefined) throw named.refusal;
}

/** A refused request shows no id that was not checked. */
function fail(exchange: Exchange, request: GatewayRequest, error: unknown): never {
  exchange.request = { ...request, endUser: null };
  throw error;
}

/** The id in the first of these headers that is there. Its bytes are those of UTF-8. */
function headerId({ client }: Exchange, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = client.header(name);
    if (value === undefined || value === "") continue;
    try {
      return DECODER.decode(Buffer.from(value, "latin1"));
    } catch {
      throw new GatewayError("invalid_field", `The header ${name} must be UTF-8.`, { param: name });
    }
  }
  return undefined;
}

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
