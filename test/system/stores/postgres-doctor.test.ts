/** `sluice doctor` counts the connections of PostgreSQL. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../support/gateway-process.ts";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

interface Check {
  readonly name: string;
  readonly grade: string;
  readonly found: string;
  readonly fix?: string;
}

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`sluice doctor and PostgreSQL ${way}`, () => {
    let database: TestDatabase;
    let workspace: Workspace;

    beforeAll(async () => {
      database = await createDatabaseOn({ pooled });
      workspace = createWorkspace({ postgres: "" });
    });
    afterAll(async () => {
      workspace?.remove();
      await database?.drop();
    });

    /** The line about connections of a gateway with this many of each worker. */
    async function connections(connectionsOfWorker: number): Promise<Check | undefined> {
      const pooler = pooled ? "transaction" : "none";
      const postgres = `pooler: ${pooler}, connections: ${connectionsOfWorker}`;
      workspace.write(workspace.config({ postgres }));
      const command = runCommand(
        ["doctor", "--config", workspace.configPath, "--json"],
        workspace.folder,
        { DATABASE_URL: database.url, SLUICE_PORT: "0", SLUICE_ADMIN_PORT: "0" },
      );
      await command.ended;
      const checks = JSON.parse(command.stdout) as readonly Check[];
      return checks.find(({ name }) => name === "store connections");
    }

    it("counts those of all clients, of gateways, and what this one takes", async () => {
      const gateway = await database.store();
      await gateway.keys.find("none");
      const check = await connections(4);
      expect(check?.grade).toBe("ok");
      const [, used, max, gateways] =
        /^(\d+) of (\d+) are used, (\d+) by gateways; this gateway takes 8 at most$/.exec(
          check?.found ?? "",
        ) ?? [];
      // A pooler may lend the command the connection that it lent the gateway.
      expect(Number(gateways)).toBeGreaterThanOrEqual(pooled ? 0 : 1);
      expect(Number(used)).toBeGreaterThanOrEqual(Number(gateways));
      expect(Number(max)).toBeGreaterThan(Number(used));
    });

    it("warns of a gateway that needs more than there are", async () => {
      const name = new URL(database.url).pathname.slice(1);
      await database.query(`alter database ${name} connection limit 12`);
      const check = await connections(20);
      expect(check).toMatchObject({
        grade: "warn",
        found: expect.stringMatching(/of 12 are used.*takes 24 at most/) as string,
        fix: expect.stringContaining("max_connections") as string,
      });
    });

    it("says so when the server does not answer, and shows no password", async () => {
      await database.setAway(true);
      try {
        const check = await connections(4);
        expect(check?.grade).toBe("skip");
        expect(check?.found).toContain("does not count them");
      } finally {
        await database.setAway(false);
      }
    });
  });
