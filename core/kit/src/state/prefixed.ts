/** Shared state with a private name space: the same calls, under a prefix. */

import type { Claim, Identity, Reservation, SharedState, MaybePromise } from "@sluice/contract";

/**
 * State in which every key and every reservation's id begins with `prefix`. The caller sees only
 * its own keys, without the prefix, and `purge` deletes only those.
 */
export function prefixedState(state: SharedState, prefix: string): SharedState {
  const { cache, records } = state;
  const own = (key: string): string => `${prefix}${key}`;
  const bare = (key: string): string => key.slice(prefix.length);
  const marked = ({ id, claims }: Reservation): Reservation => ({
    id: own(id),
    claims: claims.map((claim): Claim => ({ ...claim, key: own(claim.key) })),
  });
  return {
    ...(state.isRemote === true && { isRemote: true }),
    take: (reservation, leaseMs) =>
      then(state.take(marked(reservation), leaseMs), (result) =>
        result.outcome === "unseeded" ? { ...result, keys: result.keys.map(bare) } : result,
      ),
    settle: (reservation) => state.settle(marked(reservation)),
    renew: (reservations, leaseMs) => state.renew(reservations.map(marked), leaseMs),
    seed: (key, spentNanoUsd, options) => state.seed(own(key), spentNanoUsd, options),
    read: (keys, group) =>
      then(state.read(keys.map(own), group), (readings) =>
        readings.map((reading) => ({ ...reading, key: bare(reading.key) })),
      ),
    reset: (key, group) => state.reset(own(key), group),
    cache: {
      get: (key) => cache.get(own(key)),
      set: (key, bytes, ttlMs, holder, bounds) =>
        cache.set(
          own(key),
          bytes,
          ttlMs,
          holder === undefined ? undefined : own(holder),
          bounds?.map(({ part, ...bound }) => ({
            ...bound,
            name: own(bound.name),
            ...(part !== undefined && { part: own(part) }),
          })),
        ),
      delete: (key) => cache.delete(own(key)),
      purge: (begin) => cache.purge(own(begin)),
    },
    records: {
      begin: (key, digest, owner, leaseMs) => records.begin(own(key), digest, owner, leaseMs),
      complete: (key, owner, bytes, ttlMs) => records.complete(own(key), owner, bytes, ttlMs),
      abandon: (key, owner) => records.abandon(own(key), owner),
    },
  };
}

function then<T>(value: MaybePromise<T>, map: (value: T) => T): MaybePromise<T> {
  return value instanceof Promise ? value.then(map) : map(value);
}

/**
 * State of one tenant, the holder of a key. No tenant can read, count or purge another tenant's
 * entries.
 */
export function tenantState(state: SharedState, { keyId }: Pick<Identity, "keyId">): SharedState {
  return prefixedState(state, `tenant:${encodeURIComponent(keyId)}:`);
}
