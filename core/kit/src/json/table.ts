/** Tables for look-ups with untrusted names. */

/**
 * A table without the inherited names of objects: a look-up of `constructor` or `toString` finds
 * nothing. For names that clients and upstreams choose.
 */
export function table<T>(rows: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, rows));
}
