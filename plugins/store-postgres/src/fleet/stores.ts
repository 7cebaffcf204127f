/** Instances, leases and rollouts of the fleet. */

import type { Store } from "@sluice/contract";
import { createInstanceStore, createLeaseStore, createRolloutStore } from "@sluice/store-sql";
import { type CompiledQuery, sql } from "kysely";
import type { Pool } from "pg";
import { builderOf, runOn } from "../statements.ts";
import { refusalOf } from "../tenants/refusals.ts";
import { inTransaction } from "../transaction.ts";

/** The clock of the database: those of the machines may differ. */
const NOW_MS = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
/** A row of a few hundred bytes for each process, over its last one. */
const REPORT_EVERY_MS = 5_000;

/** A leader that is killed is replaced after four of them. */
const RENEW_EVERY_MS = 5_000;

/** Makes the stores. They read where they write: a replica may be behind. */
export function fleetStores(
  pool: Pool,
): Required<Pick<Store, "instances" | "leases" | "rollouts">> {
  const tables = builderOf((text, parameters) => runOn(pool, { sql: text, parameters }));
  const place = {
    database: () => tables,
    writer: () => tables,
    nowMs: NOW_MS,
    reportEveryMs: REPORT_EVERY_MS,
    transact: async (statements: readonly CompiledQuery[]) =>
      inTransaction(pool, async (client) => {
        const results = [];
        for (const { sql: text, parameters } of statements) {
          // oxlint-disable-next-line no-await-in-loop -- one connection.
          const { rows, rowCount } = await client.query(text, [...parameters]);
          results.push({ rows, changes: rowCount ?? 0 });
        }
        return results;
      }),
    refusalOf,
  };
  return {
    instances: createInstanceStore(place),
    leases: createLeaseStore({ ...place, renewEveryMs: RENEW_EVERY_MS }),
    rollouts: createRolloutStore(place),
  };
}
