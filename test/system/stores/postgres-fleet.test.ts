/** The fleet at rest in PostgreSQL: directly and behind a pooler. */

import { fleetStoreContract } from "@sluice/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`PostgreSQL ${way}`, () => {
    let database: TestDatabase | undefined;
    afterAll(async () => database?.drop());
    fleetStoreContract({ describe, it, expect }, "two processes on one database", async () => {
      database = await createDatabaseOn({ pooled });
      return [await database.store(), await database.store()];
    });
  });
