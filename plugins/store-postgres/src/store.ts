/** The living store: connects at `start`, and lends its pools to keys, teams and the ledger. */

import type { LedgerStore, Store, StoreHost } from "@sluice/contract";
import type { PostgresConfig } from "./config.ts";
import type { Opened } from "./opened.ts";

/** Makes a store. Before `start` and after `stop`, its reads and writes throw. */
export function createPostgresStore(config: PostgresConfig, host: StoreHost): Store {
  let current: Opened | undefined;
  const opened = (): Opened => {
    if (current === undefined) throw new Error("the postgres store is not open: start it first");
    return current;
  };
  const store: Omit<Store, Lent> = {
    async start(signal, { onLateOpen } = {}) {
      signal.throwIfAborted();
      if (current !== undefined) return;
      // The driver is loaded with the first connection: a check of the configuration makes none.
      const { open } = await import("./opened.ts");
      current = await open(config, host, signal, onLateOpen);
      host.log.info("the store is open", { store: "postgres" });
    },
    async stop() {
      const closing = current;
      current = undefined;
      await closing?.stop();
    },
    ...closedOf(config, host),
    keep: async (name, value) => opened().keep(name, value),
    audited: (entry) => opened().audited(entry),
    audit: {
      append: async (entry) => opened().audit.append(entry),
      list: async (query) => opened().audit.list(query),
      head: async () => opened().audit.head(),
      prune: async (beforeMs, entryOf) => opened().audit.prune(beforeMs, entryOf),
    },
    get changes() {
      return opened().changes;
    },
    ledger: ledgerOf(() => opened().ledger),
  };
  return lend(store, opened);
}

/** What the store lends while it is open. */
const LENT = [
  "keys",
  "teams",
  "tenants",
  "sessions",
  "instances",
  "leases",
  "rollouts",
  "jobs",
] as const;
type Lent = (typeof LENT)[number];

function lend(store: Omit<Store, Lent>, opened: () => Opened): Store {
  const parts = LENT.map((name) => [name, { enumerable: true, get: () => opened()[name] }]);
  return Object.defineProperties(
    store,
    Object.fromEntries(parts) as PropertyDescriptorMap,
  ) as Store;
}

/** What needs no start. As `start`: the driver is loaded with the first connection. */
function closedOf(
  config: PostgresConfig,
  { log }: StoreHost,
): Pick<Store, "connections" | "inspect" | "migrate" | "verifySums" | "configuration"> {
  const schema = () => import("./schema/schema-of.ts");
  return {
    connections: async () => (await import("./count-connections.ts")).countConnections(config, log),
    inspect: async () => (await schema()).inspectSchema(config, log),
    migrate: async (signal) => (await schema()).migrateSchema(config, log, signal),
    configuration: async (signal) =>
      (await import("./fleet/configuration.ts")).readConfiguration(config, log, signal),
    verifySums: async (span, signal) => (await schema()).verifySums(config, log, span, signal),
  };
}

function ledgerOf(ledger: () => LedgerStore): LedgerStore {
  return {
    insert: async (rows) => ledger().insert(rows),
    rows: async (query, signal) => ledger().rows(query, signal),
    days: async (filter, signal) => ledger().days(filter, signal),
    tags: async (query, signal) => ledger().tags(query, signal),
    report: async (query, signal) => ledger().report(query, signal),
    guardrails: async (query, signal) => (await ledger().guardrails?.(query, signal)) ?? [],
    spent: async (filter, signal) => ledger().spent(filter, signal),
    uses: async (keys, signal) => ledger().uses(keys, signal),
  };
}
