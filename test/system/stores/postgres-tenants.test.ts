import { tenantStoreContract } from "@sluice/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createDatabase, isServerThere } from "../support/postgres.ts";

const database = isServerThere ? await createDatabase() : undefined;
afterAll(() => database?.drop());

describe.skipIf(database === undefined)("PostgreSQL at 127.0.0.1:5432", () => {
  tenantStoreContract({ describe, it, expect }, "PostgreSQL", async () => {
    if (database === undefined) throw new Error("There is no PostgreSQL.");
    return database.store();
  });
});
