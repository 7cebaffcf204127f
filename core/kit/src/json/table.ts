/** Tables that are looked into with words of somebody else. */

/**
 * A table without the names that every object has: a look-up with `constructor`, or `toString`, finds nothing, where a plain object
 * would answer with a function. For words that clients and upstreams choose.
 */
export function table<T>(rows: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, rows));
}
