/** Leases at rest. Each take is one statement: the row's lock decides between two. */

import type { Lease, LeaseStore } from "@sluice/contract";
import { type RawBuilder, sql } from "kysely";
import type { FleetPlace } from "./instances.ts";

interface LeaseRow {
  readonly holder: string;
  readonly since_ms: number;
  readonly until_ms: number;
  readonly notes: string;
}

/** Makes the store of leases. */
export function createLeaseStore({
  writer,
  nowMs,
  renewEveryMs,
}: Pick<FleetPlace, "writer" | "nowMs"> & Pick<LeaseStore, "renewEveryMs">): LeaseStore {
  return {
    renewEveryMs,
    async take(name, holder, forMs, notes) {
      const untilMs = sql<number>`${nowMs} + ${sql.lit(Math.round(forMs))}`;
      const taken = await takeStatement({ name, holder, nowMs, untilMs, notes }).execute(writer());
      const [row] = taken.rows.length > 0 ? taken.rows : await found(name);
      // Its holder has released it between the two statements: the next take gets it.
      if (row === undefined) return { holder: "", sinceMs: 0, untilMs: 0, notes: "" };
      return leaseOf(row);
    },
    async release(name, holder) {
      // The notes stay for the next holder.
      await sql`update lease set until_ms = 0, holder = '' where name = ${name} and holder = ${holder}`.execute(
        writer(),
      );
    },
  };

  async function found(name: string): Promise<readonly LeaseRow[]> {
    const { rows } = await sql<LeaseRow>`select holder, since_ms, until_ms, notes from lease
      where name = ${name}`.execute(writer());
    return rows;
  }
}

interface Taking {
  readonly name: string;
  readonly holder: string;
  readonly nowMs: RawBuilder<number>;
  readonly untilMs: RawBuilder<number>;
  readonly notes: string | undefined;
}

function takeStatement({ name, holder, nowMs, untilMs, notes }: Taking): RawBuilder<LeaseRow> {
  const kept = notes === undefined ? sql`lease.notes` : sql`${notes}`;
  return sql<LeaseRow>`insert into lease (name, holder, since_ms, until_ms, notes)
    values (${name}, ${holder}, ${nowMs}, ${untilMs}, ${notes ?? ""})
    on conflict (name) do update set holder = excluded.holder, until_ms = excluded.until_ms, notes = ${kept},
      since_ms = case when lease.holder = excluded.holder and lease.until_ms > excluded.since_ms
        then lease.since_ms else excluded.since_ms end
    where lease.holder = excluded.holder or lease.until_ms <= excluded.since_ms
    returning holder, since_ms, until_ms, notes`;
}

function leaseOf(row: LeaseRow): Lease {
  return {
    holder: row.holder,
    sinceMs: row.since_ms,
    untilMs: row.until_ms,
    notes: row.notes,
  };
}
