/** Keys, teams and the other tenants of an open file. */

import type { Store } from "@sluice/contract";
import {
  type AnyTables,
  createKeyStore,
  createTeamStore,
  createTenantStore,
  type Place,
} from "@sluice/store-sql";
import type { Opened } from "../opened.ts";
import { refusalOf } from "./conflicts.ts";

export type RecordTables = Required<Pick<Store, "keys" | "teams" | "tenants">>;

/**
 * Makes the tables. Both functions are called at each use, and throw while the file is not open.
 */
export function createRecordTables(opened: () => Opened, writable: () => Opened): RecordTables {
  const place: Place = {
    // A shape has the types of its table.
    database: () => opened().kysely as unknown as AnyTables,
    writer: () => writable().writer as unknown as AnyTables,
    transact: async (statements) => writable().transact(statements),
    refusalOf,
  };
  return {
    keys: createKeyStore(place),
    teams: createTeamStore(place),
    tenants: createTenantStore(place),
  };
}
