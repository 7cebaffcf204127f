/** The driver: shared state in Redis. */

import type { StateDriver } from "@sluice/contract";
import type { Servers } from "../servers/servers.ts";
import { Decisions } from "./decisions.ts";
import { createRecords, Entries } from "./entries.ts";
import { Places } from "./groups.ts";
import { Presence } from "./presence.ts";
import { Reservations } from "./reservations.ts";

/** Shared state on these servers. `maxEntryBytes` bounds one cached reply or result. */
export function createRedisState(servers: Servers, maxEntryBytes: number): StateDriver {
  const places = new Places(servers);
  const presence = new Presence(servers);
  const decisions = new Decisions(servers, () => presence.absence);
  const reservations = new Reservations(servers, places, decisions);
  return {
    start: (signal) => servers.open(signal),
    async stop() {
      await presence.leave().catch(() => undefined);
      await servers.close();
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
    cache: new Entries(servers, places, maxEntryBytes).driver,
    records: createRecords(servers, places, maxEntryBytes),
  };
}
