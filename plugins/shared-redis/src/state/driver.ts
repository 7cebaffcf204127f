/** The driver: shared state in Redis. */

import type { StateDriver } from "@sluice/contract";
import { Bulk, type BulkParts } from "./bulk.ts";
import { Decisions } from "./decisions.ts";
import { createRecords, Entries } from "./entries.ts";
import { Places } from "./groups.ts";
import { Presence } from "./presence.ts";
import { Reservations } from "./reservations.ts";

/** Shared state on these servers. `maxBytes` bounds one cached reply or result. */
export function createRedisState(parts: BulkParts, maxBytes: number): StateDriver {
  const { servers, bulk } = parts;
  const places = new Places(servers);
  const presence = new Presence(servers);
  const decisions = new Decisions(servers, () => presence.absence);
  const reservations = new Reservations(servers, places, decisions);
  const entries = { servers, bulk: new Bulk(parts), places, maxBytes };
  return {
    async start(signal) {
      // Entries are left out until their connection is there.
      const opened = bulk.open(signal).catch(() => undefined);
      await servers.open(signal);
      await opened;
    },
    async stop() {
      await presence.leave().catch(() => undefined);
      await Promise.all([servers.close(), bulk.close()]);
    },
    get life() {
      return servers.life;
    },
    probe: () => servers.probe(),
    beat: (instances, isSuccessor) => presence.report(instances, isSuccessor),
    watch: (report) => servers.watch(report),
    take: (reservation, leaseMs) => reservations.take(reservation, leaseMs),
    settle: (reservation, storedMs) => reservations.settle(reservation, storedMs),
    renew: (held, leaseMs) => reservations.renew(held, leaseMs),
    seed: (key, spentNanoUsd, { group, readMs } = {}) =>
      reservations.seed(key, spentNanoUsd, group, readMs),
    read: (keys, group) => reservations.read(keys, group),
    reset: (key, group) => reservations.reset(key, group),
    cache: new Entries(entries).driver,
    records: createRecords(entries),
  };
}
