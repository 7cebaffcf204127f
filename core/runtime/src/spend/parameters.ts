/** The query of a spend report: known parameters, each at most once, none empty. */

import { GatewayError } from "@sluice/contract";

/** Spellings of booleans in HTTP clients of several languages. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

/** The maximum rows of a page, and the default. */
export const MAX_ROWS = 1_000;

/**
 * The parameters of a query by name. Throws `invalid_field` for an unknown, repeated or empty one.
 */
export function readParameters(
  query: string | URLSearchParams,
  known: readonly string[],
): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.includes(name)) {
      throw invalidParameter(
        name,
        `The query parameter ${shown(name)} is unknown. Known ones: ${known.join(", ")}.`,
      );
    }
    if (parameters.has(name))
      throw invalidParameter(name, `The query parameter ${name} is repeated. Send it once.`);
    if (value === "")
      throw invalidParameter(
        name,
        `The query parameter ${name} is empty. Give it a value or leave it out.`,
      );
    parameters.set(name, value);
  }
  return parameters;
}

/** A boolean, in any case of letters. Throws `invalid_field`. */
export function booleanOf(
  parameters: ReadonlyMap<string, string>,
  name: string,
  otherwise: boolean,
): boolean {
  const value = parameters.get(name);
  if (value === undefined) return otherwise;
  const word = value.toLowerCase();
  const read = Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : undefined;
  if (read === undefined)
    throw invalidParameter(name, `The query parameter ${name} must be true or false.`);
  return read;
}

/** The number of rows on a page. Throws `invalid_field`. */
export function limitOf(parameters: ReadonlyMap<string, string>): number {
  const text = parameters.get("limit");
  if (text === undefined) return MAX_ROWS;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > MAX_ROWS) {
    throw invalidParameter(
      "limit",
      `The query parameter limit must be a whole number from 1 to ${MAX_ROWS}.`,
    );
  }
  return limit;
}

/** The start of the next page: the value of `x-sluice-next-cursor`. Throws `invalid_field`. */
export function cursorOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const cursor = parameters.get("cursor");
  if (cursor === undefined || /^[^\0]{1,200}:\d{1,9}$/.test(cursor)) return cursor;
  throw invalidParameter(
    "cursor",
    "The query parameter cursor must be a value of the header x-sluice-next-cursor.",
  );
}

/** The refusal of one parameter. */
export function invalidParameter(param: string, message: string): GatewayError {
  return new GatewayError("invalid_field", message, { param: param.slice(0, 64) });
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 64));
}
