/** A store that does not answer in time: the admin listener says so, and is not at fault. */

import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";

describe.skipIf(!isServerThere)("a ledger that is locked", () => {
  let database: TestDatabase;
  let locks: Client;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    database = await createDatabase();
    gateway = await startGateway({ postgres: "" }, { DATABASE_URL: database.url });
    locks = new Client({ connectionString: database.url });
    await locks.connect();
  });
  afterAll(async () => {
    await locks?.end();
    await gateway?.dispose();
    await database?.drop();
  });

  it("is a timeout of the list of requests", async () => {
    await locks.query("begin; lock table ledger in access exclusive mode");
    const answer = await admin(gateway, "/requests");
    await locks.query("rollback");
    expect([answer.status, await answer.json()]).toMatchObject([
      504,
      { error: { type: "timeout_error" } },
    ]);
  });
});
