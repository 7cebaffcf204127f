/**
 * Request headers that stand in for the gateway's own body fields, where a body has no member for
 * them.
 */

import { type ClientRequest, GatewayError } from "@sluice/contract";

const TIMEOUT = "x-sluice-timeout";
const NUM_RETRIES = "x-sluice-num-retries";

/** The values of the headers. `x-sluice-tags` is read with the tags of the body. */
export interface HeaderFields {
  /** Whole seconds from 1 on. */
  readonly timeout?: number;
  readonly numRetries?: number;
}

/**
 * Reads the headers. Throws `invalid_field` for a value that is not a whole number in range;
 * `param` is the header's name.
 */
export function headerFields(client: ClientRequest): HeaderFields {
  const timeout = wholeNumber(client, TIMEOUT, 1);
  const numRetries = wholeNumber(client, NUM_RETRIES, 0);
  return {
    ...(timeout === undefined ? {} : { timeout }),
    ...(numRetries === undefined ? {} : { numRetries }),
  };
}

function wholeNumber(client: ClientRequest, name: string, least: number): number | undefined {
  const text = client.header(name)?.trim();
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw new GatewayError(
    "invalid_field",
    `The header ${name} must be a whole number, ${least} or more.`,
    { param: name },
  );
}
