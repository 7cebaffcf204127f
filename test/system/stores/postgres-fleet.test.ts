/** The fleet at rest in PostgreSQL: directly and behind a pooler. */

import { fleetStoreContract } from "@sluice/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`PostgreSQL ${way}`, () => {
    const databases: TestDatabase[] = [];
    afterAll(
      async () => void (await Promise.all(databases.splice(0).map((database) => database.drop()))),
    );
    fleetStoreContract({ describe, it, expect }, "two processes on one database", async () => {
      const database = await createDatabaseOn({ pooled });
      databases.push(database);
      return [await database.store(), await database.store()];
    });
  });
