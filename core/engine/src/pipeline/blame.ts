/** Attaches the plugin's place in the configuration to its errors. */

import type { Position } from "../config/snapshot.ts";

const places = new WeakMap<Error, Position>();

/**
 * Remembers the place that an error comes from and returns the error, to be thrown on. The
 * innermost place stays.
 */
export function blame(error: unknown, at: Position): unknown {
  if (error instanceof Error && !places.has(error)) places.set(error, at);
  return error;
}

/** The place that an error comes from, `undefined` when unknown. */
export function placeOf(error: unknown): Position | undefined {
  return error instanceof Error ? places.get(error) : undefined;
}

/** Calls a function. An error gets the place `at`. */
export function blaming<T>(at: Position, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw blame(error, at);
  }
}
