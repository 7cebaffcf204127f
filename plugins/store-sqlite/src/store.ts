/** The living store: opens the file at `start`, and lends it to keys, teams and the ledger. */

import {
  GatewayError,
  type InstanceStore,
  type LeaseStore,
  type LedgerStore,
  type RolloutStore,
  type SessionStore,
  type Store,
  type StoreHost,
} from "@sluice/contract";
import type { Schema } from "@sluice/store-sql";
import type { Kysely } from "kysely";
import { valuesWithCounts } from "./ledger/insert.ts";
import type { Opened } from "./opened.ts";
import { checkStoreFile, identityOf, MEMORY, storeFile } from "./store-file.ts";
import { RENEW_EVERY_MS, REPORT_EVERY_MS } from "./report-every.ts";
import type { RecordTables } from "./tenants/record-tables.ts";

/** The options of the store in YAML. */
export interface SqliteConfig {
  /** Relative to the working directory, or `:memory:`. Absent: `sluice.db` in the data folder. */
  readonly path?: string;
  /** Absent: `normal`. */
  readonly synchronous?: "normal" | "full";
}

/** Makes a store. Before `start` and after `stop`, its reads and writes throw. */
export function createSqliteStore(config: SqliteConfig, host: StoreHost): Store {
  const path = storeFile(config.path, host.dataDirectory);
  let current: Opened | undefined;
  let tables: RecordTables | undefined;

  const opened = (): Opened => {
    if (current === undefined) throw notOpen(path);
    return current;
  };
  const fault = (): string | undefined =>
    current === undefined ? undefined : fileFault(path, current.identity);
  const writable = (): Opened => {
    refuseFaulty(fault());
    return opened();
  };
  const recordTables = (): RecordTables => {
    if (tables === undefined) throw notOpen(path);
    return tables;
  };
  return {
    async start(signal, { mustExist = false } = {}) {
      signal.throwIfAborted();
      if (current !== undefined) return;
      checkStoreFile(path, { isDefault: config.path === undefined, mustExist });
      // The query builder is loaded with the first file: a check of the configuration opens none.
      const { open } = await import("./opened.ts");
      const { createRecordTables } = await import("./tenants/record-tables.ts");
      tables = createRecordTables(opened, writable);
      current = await open(path, config.synchronous ?? "normal", signal, host);
      host.log.info("the store is open", { store: "sqlite", path });
    },
    async stop() {
      const closing = current;
      current = undefined;
      await closing?.stop();
    },
    fault,
    ...(path !== MEMORY && {
      keep: async (name: string, value: string) =>
        keepFact(opened().kysely, writable().writer, name, value),
      ...fileOf(path),
    }),
    get keys() {
      return recordTables().keys;
    },
    get teams() {
      return recordTables().teams;
    },
    get tenants() {
      return recordTables().tenants;
    },
    ...runtimeOf(recordTables, path),
    get jobs() {
      return opened().jobs;
    },
    ...auditOf(recordTables, writable),
    ledger: ledgerOf(opened, writable),
  };
}

/** Instances in memory would be those of one process. */
function runtimeOf(
  tables: () => RecordTables,
  path: string,
): Pick<Store, "sessions" | "instances" | "leases" | "rollouts"> {
  const sessions = sessionsOf(tables);
  if (path === MEMORY) return { sessions };
  return {
    sessions,
    instances: instancesOf(tables),
    leases: leasesOf(tables),
    rollouts: rolloutsOf(tables),
  };
}

function leasesOf(tables: () => RecordTables): LeaseStore {
  return {
    renewEveryMs: RENEW_EVERY_MS,
    take: async (name, holder, forMs, notes) => tables().leases.take(name, holder, forMs, notes),
    release: async (name, holder) => tables().leases.release(name, holder),
  };
}

/** A write to a deleted file is lost when the process ends. */
function refuseFaulty(fault: string | undefined): void {
  if (fault === undefined) return;
  throw new GatewayError("overloaded", "The store cannot be written to at the moment.", {
    cause: new Error(fault),
  });
}

function sessionsOf(tables: () => RecordTables): SessionStore {
  return {
    insert: async (record) => tables().sessions.insert(record),
    find: async (digest) => tables().sessions.find(digest),
    seen: async (digest, atMs) => tables().sessions.seen(digest, atMs),
    take: async (digest) => tables().sessions.take(digest),
    list: async (limit) => tables().sessions.list(limit),
    expire: async (nowMs, idleSinceMs) => tables().sessions.expire(nowMs, idleSinceMs),
  };
}

function instancesOf(tables: () => RecordTables): InstanceStore {
  return {
    reportEveryMs: REPORT_EVERY_MS,
    report: async (report) => tables().instances.report(report),
    leave: async (id, worker) => tables().instances.leave(id, worker),
    list: async (limit) => tables().instances.list(limit),
    expire: async (olderThanMs) => tables().instances.expire(olderThanMs),
  };
}

function rolloutsOf(tables: () => RecordTables): RolloutStore {
  return {
    newest: async (source) => tables().rollouts.newest(source),
    list: async (source, limit) => tables().rollouts.list(source, limit),
    find: async (source, id) => tables().rollouts.find(source, id),
    files: async (id) => tables().rollouts.files(id),
    begin: async (draft, after) => tables().rollouts.begin(draft, after),
    decide: async (...given) => tables().rollouts.decide(...given),
    report: async (...given) => tables().rollouts.report(...given),
    reports: async (source, id) => tables().rollouts.reports(source, id),
    prune: async (source, keep) => tables().rollouts.prune(source, keep),
  };
}

/** The audit, and the records whose changes write its lines. */
function auditOf(
  tables: () => RecordTables,
  writable: () => Opened,
): Required<Pick<Store, "audit" | "audited">> {
  return {
    audited: (entry) => tables().audited(entry),
    audit: {
      list: async (query) => tables().audit.list(query),
      head: async () => tables().audit.head(),
      append: async (entry) => void (await writable().transact([], entry)),
      prune: async (beforeMs, entryOf) => tables().audit.prune(beforeMs, entryOf),
    },
  };
}

function fileOf(path: string): Pick<Store, "file" | "copyTo" | "inspect" | "verifySums"> {
  return {
    file: path,
    copyTo: async (copy) => (await import("./copies.ts")).copyStore(path, copy),
    verifySums: async (span, signal) =>
      (await import("./ledger/sums/verify.ts")).verifySums(path, span, signal),
    inspect: async (file = path) => (await import("./copies.ts")).inspectStore(file),
  };
}

function ledgerOf(opened: () => Opened, writable: () => Opened): LedgerStore {
  return {
    insert: async (rows) => {
      const { insert } = writable();
      if (rows.length > 0) await insert(rows.map(valuesWithCounts));
    },
    rows: async (query, signal) => opened().reader.rows(query, signal),
    days: async (filter, signal) => opened().reader.days(filter, signal),
    tags: async (filter, signal) => opened().reader.tags(filter, signal),
    report: async (query, signal) => opened().reader.report(query, signal),
    guardrails: async (query, signal) => opened().reader.guardrails(query, signal),
    spent: async (filter, signal) => opened().reader.spent(filter, signal),
    uses: async (keys, signal) => opened().reader.uses(keys, signal),
  };
}

function notOpen(path: string): Error {
  return new Error(`the sqlite store ${path} is not open: start it first`);
}

/**
 * Keeps the first value of a fact. Returns the value that is kept. A start asks for two facts, and
 * mostly finds them. One that cannot be written at once is written by the thread, which can wait.
 */
async function keepFact(
  database: Kysely<Schema>,
  writer: Kysely<Schema>,
  name: string,
  value: string,
): Promise<string> {
  const known = await factOf(database, name);
  if (known !== undefined) return known;
  await insertFact(database, name, value).catch(() => insertFact(writer, name, value));
  return (await factOf(database, name)) ?? value;
}

async function insertFact(database: Kysely<Schema>, name: string, value: string): Promise<void> {
  await database
    .insertInto("fact")
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function factOf(database: Kysely<Schema>, name: string): Promise<string | undefined> {
  const row = await database
    .selectFrom("fact")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.value;
}

/** Why the file that was opened is not the store any more; `undefined` while it is. */
function fileFault(path: string, identity: string | undefined): string | undefined {
  if (path === MEMORY) return undefined;
  const found = identityOf(path);
  if (found === identity) return undefined;
  const what = found === undefined ? "is missing" : "is another file than at the start";
  return `The store file ${path} ${what}. Put the file back, or stop the gateway, restore a copy and start it.`;
}
