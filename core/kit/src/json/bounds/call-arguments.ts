/** How much the arguments of calls may hold where they are read: they are parsed in one turn. */

import { GatewayError, type JsonValue } from "@sluice/contract";
import { excessOf, type TextBounds } from "./counted.ts";

const BOUNDS: TextBounds = {
  members: 25_000,
  names: 25_000,
  values: 100_000,
  containers: 25_000,
  depth: 128,
  escapes: 1_048_576,
};
const REREAD_BOUNDS: TextBounds = {
  members: 100_000,
  names: 50_000,
  values: 200_000,
  containers: 100_000,
  depth: 128,
  escapes: 1_048_576,
};
/** A shorter text exceeds no bound but the depth, which a text so short may have. */
const SMALL_CHARACTERS = 49_152;

/** What the texts of some arguments exceed together, in words; `undefined` for nothing. */
export function excessOfArguments(...texts: readonly string[]): string | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= SMALL_CHARACTERS ? undefined : excessOf(texts, BOUNDS);
}

/** Throws `upstream_invalid_response` for arguments of a reply that hold too much. */
export function checkArguments(...texts: readonly string[]): void {
  const excess = excessOfArguments(...texts);
  if (excess !== undefined) throw tooMuch(excess);
}

/** The same for arguments that a reply has as a value: no text of them is made before. */
export function checkInput(input: JsonValue): void {
  let left = BOUNDS.values;
  const found: JsonValue[] = [input];
  for (let next = found.pop(); next !== undefined; next = found.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const items = (Array.isArray(next) ? next : Object.values(next)) as readonly JsonValue[];
    left -= items.length * (Array.isArray(next) ? 1 : NAME_VALUES);
    if (left < 0) throw tooMuch(`more than ${BOUNDS.members} members or ${BOUNDS.values} values`);
    for (const item of items) if (typeof item === "object" && item !== null) found.push(item);
  }
}

/**
 * Throws `upstream_invalid_response` for the text of a reply that is read once more, because a call
 * has a number that no double holds, and takes too long for that. Large requests are read in
 * stages.
 */
export function checkReread(text: string): void {
  const excess = text.length <= SMALL_CHARACTERS ? undefined : excessOf([text], REREAD_BOUNDS);
  if (excess === undefined) return;
  throw new GatewayError(
    "upstream_invalid_response",
    `The upstream's reply has ${excess}, and a call with a number that has too many digits.`,
  );
}

/** A member takes as long as so many items of a list. */
const NAME_VALUES = BOUNDS.values / BOUNDS.members;

function tooMuch(excess: string): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `The arguments of the upstream's calls have ${excess}.`,
  );
}
