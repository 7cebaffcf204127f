/**
 * @sluice/store-sql: what stores on SQL databases share. Keys, teams and tenants are read and
 * written by kysely; a store brings the tables, the connection and its own ledger.
 */

export { auditReads } from "./audit.ts";
export { pruneAudit } from "./audit-prune.ts";
export type { RefusalOf } from "./tenants/conflicts.ts";
export { createKeyStore, toRecord as keyRecordOf } from "./tenants/keys.ts";
export { createLeaseStore } from "./fleet/leases.ts";
export { createInstanceStore } from "./fleet/instances.ts";
export { createRolloutStore } from "./fleet/rollouts.ts";
export { createSessionStore } from "./sessions.ts";
export { createTeamStore } from "./tenants/teams.ts";
export { createTenantStore } from "./tenants/tenants.ts";
export type { AnyTables, Place } from "./tenants/table.ts";
export type { KeyTable, Schema } from "./schema.ts";
export { StatementDriver, type StatementResult } from "./statement-driver.ts";
