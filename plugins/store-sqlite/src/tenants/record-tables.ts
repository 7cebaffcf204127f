/** Keys, teams and the other tenants of an open file. */

import type {
  AuditEntry,
  AuditStore,
  InstanceStore,
  LeaseStore,
  RolloutStore,
  SessionStore,
  Store,
} from "@sluice/contract";
import { type CompiledQuery, type Kysely, sql } from "kysely";
import {
  type AnyTables,
  auditReads,
  createInstanceStore,
  createLeaseStore,
  createKeyStore,
  createRolloutStore,
  createSessionStore,
  createTeamStore,
  createTenantStore,
  pruneAudit,
  type Place,
  type Schema,
} from "@sluice/store-sql";
import type { Opened } from "../opened.ts";
import { RENEW_EVERY_MS, REPORT_EVERY_MS } from "../report-every.ts";
import { refusalOf } from "./conflicts.ts";

const NOW_MS = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;

type Records = Required<Pick<Store, "keys" | "teams" | "tenants">>;

/** The tables, and the audit of their changes. */
export interface RecordTables extends Records {
  readonly audit: Required<Pick<AuditStore, "list" | "head" | "prune">>;
  readonly sessions: SessionStore;
  readonly instances: InstanceStore;
  readonly leases: LeaseStore;
  readonly rollouts: RolloutStore;
  /** The same tables; each change writes the line. */
  audited(entry: AuditEntry): Records;
}

/**
 * Makes the tables. Both functions are called at each use, and throw while the file is not open.
 */
export function createRecordTables(opened: () => Opened, writable: () => Opened): RecordTables {
  const records = (audit?: AuditEntry): Records => {
    const writer = (): Kysely<Schema> =>
      audit === undefined ? writable().writer : writable().audited(audit);
    const place: Place = {
      // A shape has the types of its table.
      database: () => opened().kysely as unknown as AnyTables,
      lists: () => opened().lists as unknown as AnyTables,
      writer: () => writer() as unknown as AnyTables,
      transact: async (statements) => writable().transact(statements, audit),
      refusalOf,
    };
    return {
      keys: createKeyStore(place),
      teams: createTeamStore(place),
      tenants: createTenantStore(place),
    };
  };
  const runtime = {
    database: () => opened().kysely,
    writer: () => writable().writer,
    nowMs: NOW_MS,
    reportEveryMs: REPORT_EVERY_MS,
    transact: async (statements: readonly CompiledQuery[]) => writable().transact(statements),
    refusalOf,
  };
  const pruning = {
    database: () => writable().kysely,
    audited: (entry: AuditEntry) => writable().audited(entry),
  };
  return {
    ...records(),
    audited: records,
    audit: {
      ...auditReads(() => opened().kysely),
      prune: (beforeMs, entryOf) => pruneAudit(pruning, beforeMs, entryOf),
    },
    sessions: createSessionStore(runtime),
    instances: createInstanceStore(runtime),
    // One row, on the event loop: a thread would be kept alive for it.
    leases: createLeaseStore({
      writer: () => writable().kysely,
      nowMs: NOW_MS,
      renewEveryMs: RENEW_EVERY_MS,
    }),
    rollouts: createRolloutStore(runtime),
  };
}
