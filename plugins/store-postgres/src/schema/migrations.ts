/** The schema's history. */

import { LEDGER_TABLES } from "../ledger/tables.ts";
import { TENANT_TABLES } from "../tenants/tables.ts";
import { TENANT_TRIGGERS } from "../tenants/triggers.ts";
import type { Migration } from "./migration.ts";

/** All migrations in their order. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: "first",
    oldestThatWorks: 1,
    statements: [...TENANT_TABLES, ...TENANT_TRIGGERS, ...LEDGER_TABLES],
  },
];
