import { tenantStoreContract } from "@sluice/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

for (const { way, isThere, pooled } of WAYS) {
  describe.skipIf(!isThere)(`PostgreSQL ${way}`, () => {
    let database: TestDatabase | undefined;
    afterAll(() => database?.drop());
    tenantStoreContract({ describe, it, expect }, "PostgreSQL", async () => {
      database = await createDatabaseOn({ pooled });
      return database.store();
    });
  });
}
