/** The host of a step in shadow: what it keeps is its own, so that counting for it takes nothing from anybody. */

import type { Claim, Host, Reservation, SharedState, Soon } from "@sluice/spec";

const PREFIX = "shadow:";

/** A host whose shared values, windows, budgets, entries and records stand under keys of their own. */
export function shadowHost(host: Host): Host {
  const own: Partial<Host> = { shared: (key, make) => host.shared(`${PREFIX}${key}`, make), state: shadowState(host.state) };
  // The rest is read through: a catalogue is made when somebody asks for it.
  return Object.create(host, Object.getOwnPropertyDescriptors(own)) as Host;
}

function shadowState(state: SharedState): SharedState {
  const { cache, records } = state;
  return {
    take: (reservation, leaseMs) =>
      then(state.take(marked(reservation), leaseMs), (result) =>
        result.outcome === "unseeded" ? { ...result, keys: result.keys.map(bare) } : result,
      ),
    settle: (reservation) => state.settle(marked(reservation)),
    renew: (reservations, leaseMs) => state.renew(reservations.map(marked), leaseMs),
    seed: (key, spentNanoUsd) => state.seed(`${PREFIX}${key}`, spentNanoUsd),
    read: (keys) =>
      then(state.read(keys.map((key) => `${PREFIX}${key}`)), (readings) =>
        readings.map((reading) => ({ ...reading, key: bare(reading.key) })),
      ),
    reset: (key) => state.reset(`${PREFIX}${key}`),
    cache: {
      get: (key) => cache.get(`${PREFIX}${key}`),
      set: (key, bytes, ttlMs) => cache.set(`${PREFIX}${key}`, bytes, ttlMs),
      delete: (key) => cache.delete(`${PREFIX}${key}`),
      purge: (prefix) => cache.purge(`${PREFIX}${prefix}`),
    },
    records: {
      begin: (key, digest, owner, leaseMs) => records.begin(`${PREFIX}${key}`, digest, owner, leaseMs),
      complete: (key, owner, bytes, ttlMs) => records.complete(`${PREFIX}${key}`, owner, bytes, ttlMs),
      abandon: (key, owner) => records.abandon(`${PREFIX}${key}`, owner),
    },
  };
}

function marked({ id, claims }: Reservation): Reservation {
  return { id: `${PREFIX}${id}`, claims: claims.map((claim): Claim => ({ ...claim, key: `${PREFIX}${claim.key}` })) };
}

function bare(key: string): string {
  return key.slice(PREFIX.length);
}

function then<T>(value: Soon<T>, map: (value: T) => T): Soon<T> {
  return value instanceof Promise ? value.then(map) : map(value);
}
