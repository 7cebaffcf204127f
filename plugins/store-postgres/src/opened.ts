/** What the store has between `start` and `stop`: its pools, and the tables that use them. */

import type {
  AuditEntry,
  AuditStore,
  KeyRecord,
  LedgerStore,
  SessionStore,
  Store,
  StoreHost,
} from "@sluice/contract";
import {
  type AnyTables,
  auditReads,
  pruneAudit,
  createKeyStore,
  createSessionStore,
  createTeamStore,
  createTenantStore,
  keyRecordOf,
  type KeyTable,
  type Place,
  type Schema,
} from "@sluice/store-sql";
import { CustomerSums } from "@sluice/store-sql/customers";
import type { Kysely } from "kysely";
import { prepareNowOrLater } from "./away.ts";
import { createChangeLog } from "./changes/log.ts";
import { type Connections, connect, LOOKUP_MS, REPORT_MS } from "./connections.ts";
import { fleetStores } from "./fleet/stores.ts";
import { readDays, readTags } from "./ledger/days.ts";
import { readGuardrailDays, writeGuardrailDays } from "./ledger/guardrails.ts";
import { createLedgerWriter } from "./ledger/insert.ts";
import { readWithin } from "./ledger/read.ts";
import { readRows } from "./ledger/rows.ts";
import { readSpent, readSums } from "./ledger/spent.ts";
import { readUses } from "./ledger/uses.ts";
import { makeComingPartitions } from "./ledger/coming-partitions.ts";
import { Cells } from "./ledger/sums/cells.ts";
import { sumUp } from "./ledger/sums/collect.ts";
import { readReport } from "./ledger/sums/report.ts";
import { writeSums } from "./ledger/sums/write.ts";
import { prepareSchema } from "./schema/migrate.ts";
import { createJobs } from "./jobs.ts";
import { builderOf, type RecordWrites, runOn, transact } from "./statements.ts";
import { MIGRATIONS } from "./schema/migrations.ts";
import type { PostgresConfig } from "./config.ts";
import { KeyLookups } from "./tenants/key-lookups.ts";
import { refusalOf } from "./tenants/refusals.ts";

/** Rows of sums that a process adds to. Two processes with one slot wait for each other at most. */
const WRITERS = 64;

/** The open store. */
export interface Opened extends Required<
  Pick<
    Store,
    | "keep"
    | "keys"
    | "teams"
    | "tenants"
    | "sessions"
    | "instances"
    | "rollouts"
    | "audited"
    | "changes"
    | "leases"
    | "jobs"
  >
> {
  readonly audit: Required<AuditStore>;
  readonly ledger: LedgerStore;
  stop(): Promise<void>;
}

/**
 * Connects and prepares the schema. Leaves no connection open when one of these fails. With
 * `onLateOpen` a server that cannot be reached is tried again in the background.
 */
export async function open(
  config: PostgresConfig,
  host: StoreHost,
  signal: AbortSignal,
  onLateOpen?: () => void,
): Promise<Opened> {
  const { log } = host;
  const connections = connect({
    url: config.url.reveal(),
    readUrl: config.read_url?.reveal(),
    pooler: config.pooler,
    connections: config.connections,
    log,
  });
  const pool = connections.migrations;
  const stopping = new AbortController();
  const prepare = async (until: AbortSignal): Promise<void> => {
    await prepareSchema(config.migrate, { pool, migrations: MIGRATIONS, log, signal: until });
    await makeComingPartitions(pool, host.clock).catch((error: unknown) => {
      log.warn("partitions of the ledger were not made; rows make their own", { error });
    });
  };
  await prepareNowOrLater({ prepare, signal, stopping: stopping.signal, log, onLateOpen }).catch(
    async (error: unknown) => {
      await connections.end();
      throw error;
    },
  );
  const { lookups, writes } = connections;
  const reader = builderOf((text, parameters) => runOn(lookups, { sql: text, parameters }));
  const changes = createChangeLog(connections.changes);
  connections.onNotice = () => changes.wake();
  const recordWrites = { pool: writes, changes };
  const records = {
    reader,
    writes: recordWrites,
    lookups: new KeyLookups((digests) => findKeys(lookups, digests)),
  };
  return {
    keep: async (name, value) => keepFact(connections, name, value),
    ...recordsOf(records),
    audited: (entry) => recordsOf(records, entry),
    sessions: sessionsOf(connections),
    ...fleetStores(connections.writes),
    changes,
    audit: auditOf(reader, recordWrites),
    ledger: ledgerOf(connections, host),
    jobs: createJobs(connections.jobs, host),
    async stop() {
      stopping.abort(new Error("the store stops"));
      await connections.end();
    },
  };
}

function auditOf(reader: Kysely<Schema>, writes: RecordWrites): Opened["audit"] {
  const place = {
    database: () => reader,
    audited: (entry: AuditEntry) => writerOf(writes, entry),
  };
  return {
    ...auditReads(() => reader),
    append: async (entry) => void (await transact(writes, [], entry)),
    prune: (beforeMs, entryOf) => pruneAudit(place, beforeMs, entryOf),
  };
}

type Records = Pick<Opened, "keys" | "teams" | "tenants">;

/** What records are read and written with. */
interface RecordParts {
  readonly reader: Kysely<Schema>;
  readonly writes: RecordWrites;
  readonly lookups: KeyLookups;
}

const BY_DIGESTS = `select * from virtual_key where digest = any($1::text[])
  union select * from virtual_key where previous_digest = any($1::text[])`;

/** The keys with one of some digests: one statement, however many. */
async function findKeys(
  pool: Connections["lookups"],
  digests: readonly string[],
): Promise<KeyRecord[]> {
  const { rows } = await runOn(pool, { sql: BY_DIGESTS, parameters: [digests] });
  return (rows as readonly KeyTable[]).map(keyRecordOf);
}

/** Keys, teams and tenants; with a line of the audit for each change. */
function recordsOf({ reader, writes, lookups }: RecordParts, audit?: AuditEntry): Records {
  const writer = writerOf(writes, audit);
  const place: Place = {
    // A shape has the types of its table.
    database: () => reader as unknown as AnyTables,
    // Each statement walks one index: it needs no report's time, and sees what was written before.
    lists: () => reader as unknown as AnyTables,
    writer: () => writer as unknown as AnyTables,
    transact: async (statements) => transact(writes, statements, audit),
    refusalOf,
  };
  return {
    keys: {
      ...createKeyStore(place),
      findByDigest: (digest, other) => lookups.find(digest, other),
    },
    teams: createTeamStore(place),
    tenants: createTenantStore(place),
  };
}

/** Writes single statements; with a line of the audit for each that changes something. */
function writerOf(writes: RecordWrites, audit: AuditEntry | undefined): Kysely<Schema> {
  return builderOf(async (text, parameters) => {
    const [result] = await transact(writes, [{ sql: text, parameters }], audit);
    return result ?? { rows: [], changes: 0 };
  });
}

/** Sessions are read where they are written: a replica may not have them yet. */
function sessionsOf({ writes }: Connections): SessionStore {
  const tables = builderOf((text, parameters) => runOn(writes, { sql: text, parameters }));
  return createSessionStore({ database: () => tables, writer: () => tables });
}

function ledgerOf(
  { writes, lookups, reports }: Connections,
  { log, clock }: StoreHost,
): LedgerStore {
  const lookup = { pool: lookups, deadlineMs: LOOKUP_MS };
  const report = { pool: reports, deadlineMs: REPORT_MS };
  const cells = new Cells(writes);
  const writer = Math.floor(Math.random() * WRITERS);
  const insert = createLedgerWriter({
    pool: writes,
    log,
    now: () => clock.now(),
    prepareSums: async (rows) => {
      const cellOf = await cells.of(rows);
      return async (client, fresh) => {
        await writeSums(client, sumUp(fresh, cellOf), writer);
        await writeGuardrailDays(client, fresh, writer);
      };
    },
  });
  const ofCustomers = new CustomerSums((filters) =>
    readWithin(lookup, undefined, (reading) => readSums(reading, filters)),
  );
  return {
    insert,
    rows: async (query, signal) =>
      readWithin(query.requestId === undefined ? report : lookup, signal, (reading) =>
        readRows(reading, query, clock.now()),
      ),
    days: async (filter, signal) =>
      readWithin(report, signal, (reading) => readDays(reading, filter)),
    tags: async (query, signal) =>
      readWithin(report, signal, (reading) => readTags(reading, query)),
    report: async (query, signal) =>
      readWithin(report, signal, (reading) => readReport(reading, query, clock.now())),
    guardrails: async (query, signal) =>
      readWithin(report, signal, (reading) => readGuardrailDays(reading, query)),
    spent: async (filter, signal) =>
      filter.endUser === undefined
        ? readWithin(lookup, signal, (reading) => readSpent(reading, filter))
        : ofCustomers.of(filter, signal),
    uses: async (keys, signal) => readWithin(report, signal, (reading) => readUses(reading, keys)),
  };
}

/** Keeps the first value of a fact. Returns the value that is kept. */
async function keepFact({ writes }: Connections, name: string, value: string): Promise<string> {
  await writes.query("insert into fact (name, value) values ($1, $2) on conflict do nothing", [
    name,
    value,
  ]);
  const { rows } = await writes.query<{ readonly value: string }>(
    "select value from fact where name = $1",
    [name],
  );
  return rows[0]?.value ?? value;
}
