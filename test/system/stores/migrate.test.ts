/** Changes of the schema while gateways serve, twice at once, and cut in the middle. */

import { setTimeout as pause } from "node:timers/promises";
import { createUpstream } from "@sluice/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connections, connect } from "../../../plugins/store-postgres/src/connections.ts";
import {
  type MigrateParts,
  runMigrations,
  schemaVersion,
} from "../../../plugins/store-postgres/src/schema/migrate.ts";
import type { Migration } from "../../../plugins/store-postgres/src/schema/migration.ts";
import { MIGRATIONS } from "../../../plugins/store-postgres/src/schema/migrations.ts";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { runCommand, startGateway } from "../support/gateway-process.ts";
import { createDatabaseOn, SERVER, type TestDatabase, WAYS } from "../support/postgres.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const BASE = MIGRATIONS.at(-1)?.version ?? 0;
/** Steps as a next version might have: a column, a slow one, an index, a table. */
const NEXT: readonly Migration[] = [
  "alter table virtual_key add column next_version text",
  "select pg_sleep(case when to_regclass('was_cut') is null then 30 else 0.5 end)",
  "create index next_version_key on virtual_key (next_version)",
  "create table next_version (id integer primary key)",
].map((statement, index) => ({
  version: BASE + 1 + index,
  name: `next-${index + 1}`,
  oldestThatWorks: 1,
  statements: [statement],
}));

let database: TestDatabase;
let pooler: "none" | "transaction";
const opened: Connections[] = [];

function partsOn(migrations: readonly Migration[]): MigrateParts {
  const connections = connect({ url: database.url, pooler, connections: 2, log });
  opened.push(connections);
  return { pool: connections.migrations, migrations, log, signal: AbortSignal.timeout(60_000) };
}

const workspaceOn = (baseUrl: string): Workspace =>
  createWorkspace({ baseUrl, postgres: `pooler: ${pooler}` });

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`migrations in PostgreSQL ${way}`, () => {
    beforeAll(async () => {
      pooler = pooled ? "transaction" : "none";
      database = await createDatabaseOn({ pooled });
    });
    afterAll(async () => {
      for (const connections of opened.splice(0)) await connections.end();
      await database?.drop();
    });

    it("are left to another process by wait, and refused by off", async () => {
      await expect(database.store({ migrate: "off" })).rejects.toThrow("Run sluice migrate");
      const events: string[] = [];
      const waiting = database.store({ migrate: "wait" }).then(() => events.push("started"));
      await pause(500);
      events.push("migrates");
      await runMigrations(partsOn(MIGRATIONS));
      await waiting;
      expect(events).toEqual(["migrates", "started"]);
      await (await database.store({ migrate: "off" })).stop();
      await database.query("drop schema public cascade; create schema public");
    });

    it("are run by the command, which says first what it would do", async () => {
      const workspace = workspaceOn("http://127.0.0.1:9");
      const environment = { DATABASE_URL: database.url, OPENAI_API_KEY: "sk-upstream" };
      const run = async (...args: string[]) => {
        const words = ["migrate", ...args, "--config", workspace.configPath];
        const command = runCommand(words, workspace.folder, environment);
        const { code } = await command.ended;
        return [code, command.stdout.trim()];
      };
      expect(await run("--plan")).toEqual([0, "postgres: the schema does not exist yet"]);
      const names = MIGRATIONS.map(({ name }) => `postgres: migrated: ${name}`);
      expect(await run()).toEqual([0, names.join("\n")]);
      expect(await run()).toEqual([0, "postgres: the schema is that of this version"]);
      expect(await run("--plan")).toEqual([0, "postgres: the schema is that of this version"]);
      workspace.remove();
    });

    it("cut and run twice at once, fail no request of a gateway of the version before", async () => {
      const upstream = await createUpstream();
      const workspace = workspaceOn(upstream.baseUrl);
      const environment = { DATABASE_URL: database.url, OPENAI_API_KEY: "sk-upstream" };
      const gateway = await startGateway(workspace, environment);
      const { key } = await createKey(gateway, {});
      const statuses: number[] = [];
      const load = { isOver: false };
      const clients = Array.from({ length: 4 }, async () => {
        while (!load.isOver) {
          const headers = { authorization: `Bearer ${key}` };
          const response = await chat(
            gateway,
            { model: "gpt-4o-mini", messages: MESSAGES },
            { headers },
          );
          await response.text();
          statuses.push(response.status);
        }
      });
      const all = [...MIGRATIONS, ...NEXT];
      const observer = new Client({ connectionString: SERVER });
      await observer.connect();
      // The connection of the first run is closed by the server in the slow step.
      const cut = runMigrations(partsOn(all)).then(
        () => "done",
        () => "cut",
      );
      await eventually("the slow step to be cut", async () => {
        const { rowCount } = await observer.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like 'select pg_sleep%'",
          [new URL(database.url).pathname.slice(1)],
        );
        return rowCount === 1;
      });
      await observer.end();
      await database.query("create table was_cut ()");
      expect(await cut).toBe("cut");
      const ran = await Promise.all([1, 2, 3].map(async () => runMigrations(partsOn(all))));
      expect(ran.flat().toSorted()).toEqual(NEXT.slice(1).map(({ name }) => name));
      expect(await schemaVersion(partsOn(all).pool)).toEqual({
        version: BASE + 4,
        oldestThatWorks: 1,
      });
      load.isOver = true;
      await Promise.all(clients);
      expect(statuses.length).toBeGreaterThan(10);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
      await gateway.dispose();
      await upstream.close();
    });

    it("that older gateways cannot use refuse them", async () => {
      const last: Migration = {
        version: BASE + 5,
        name: "contract",
        oldestThatWorks: BASE + 5,
        statements: ["select 1"],
      };
      // A gateway of the version before starts on a schema that is ahead of it.
      expect(await (await database.store()).keys.find("none")).toBeUndefined();
      await runMigrations(partsOn([...MIGRATIONS, ...NEXT, last]));
      await expect(database.store()).rejects.toThrow(`gateways below ${BASE + 5} cannot use it`);
    });
  });
