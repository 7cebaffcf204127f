/** Two gateways on one PostgreSQL: keys, teams and rows of each are those of both. */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, createKey, MESSAGES, rowsOf, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

let upstream: Upstream;
let database: TestDatabase;
let first: GatewayProcess;
let second: GatewayProcess;

const workspaceOn = (baseUrl: string, pooled: boolean): Workspace =>
  createWorkspace({ baseUrl, postgres: `pooler: ${pooled ? "transaction" : "none"}` });

async function statusOf(response: Response): Promise<number> {
  await response.arrayBuffer();
  return response.status;
}

const ask = (gateway: GatewayProcess, key: string, model = "gpt-4o-mini"): Promise<Response> =>
  chat(gateway, { model, messages: MESSAGES }, { headers: { authorization: `Bearer ${key}` } });

for (const { way, isThere, pooled } of WAYS)
  describe.skipIf(!isThere)(`two gateways on PostgreSQL ${way}`, () => {
    beforeAll(async () => {
      upstream = await createUpstream();
      database = await createDatabaseOn({ pooled });
      const environment = { DATABASE_URL: database.url, OPENAI_API_KEY: "sk-upstream" };
      const workspace = workspaceOn(upstream.baseUrl, pooled);
      first = await startGateway(workspace, environment);
      const other = workspaceOn(upstream.baseUrl, pooled);
      // The pepper of the first one: keys are looked up by their digests under it.
      mkdirSync(other.dataDirectory, { recursive: true });
      cpSync(join(workspace.dataDirectory, "pepper"), join(other.dataDirectory, "pepper"));
      second = await startGateway(other, environment);
    });
    afterAll(async () => {
      await first?.dispose();
      await second?.dispose();
      await upstream?.close();
      await database?.drop();
    });

    it("serve each other's keys, and refuse them within seconds after they are blocked", async () => {
      await admin(first, "/team/new", { team_id: "both", max_budget: 5 });
      const { key, token_id: id } = await createKey(first, { team_id: "both", key_alias: "one" });
      expect((await ask(second, key)).status).toBe(200);
      expect((await admin(second, "/key/block", { key: id })).status).toBe(200);
      expect((await ask(second, key)).status).toBe(401);
      await eventually("the block at the first gateway", async () => {
        const response = await ask(first, key);
        await response.text();
        return response.status === 401;
      });
    });

    it("have each other's names for models of a key, which win over the team's", async () => {
      const model_aliases = { tiny: "nothing" };
      await admin(first, "/team/new", { team_id: "names", model_aliases });
      const { key, token_id: id } = await createKey(first, {
        team_id: "names",
        model_aliases: { tiny: "gpt-4o-mini" },
      });
      const tiny = (gateway: GatewayProcess): Promise<number> =>
        ask(gateway, key, "tiny").then(statusOf);
      expect([await tiny(first), await tiny(second)]).toEqual([200, 200]);
      const changed = await admin(second, "/key/update", { key: id, model_aliases: null });
      expect(await changed.json()).toMatchObject({ model_aliases: {} });
      expect(await tiny(second)).toBe(404);
      await eventually("the change at the first gateway", async () => (await tiny(first)) === 404);
    });

    it("read each other's rows, and count them in one budget", async () => {
      const { key, token_id: id } = await createKey(second, { max_budget: 1 });
      const replies = await Promise.all([first, second, first].map((gateway) => ask(gateway, key)));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
      const ids = replies.map(({ headers }) => headers.get("x-request-id"));
      for (const requestId of ids) expect(await rowsOf(first, requestId)).toHaveLength(1);
      const rows = await spendRows(second, { api_key: id });
      expect(rows.map(({ request_id: requestId }) => requestId).toSorted()).toEqual(ids.toSorted());
      const total = rows.reduce((sum, { spend }) => sum + (spend ?? 0), 0);
      expect(total).toBeGreaterThan(0);
      const report = await fetch(`${first.adminUrl}/spend/report?group_by=key`, {
        headers: { authorization: `Bearer ${first.masterKey}` },
      });
      expect(report.status).toBe(200);
      expect(JSON.stringify(await report.json())).toContain(id);
      const info = await admin(first, `/key/info?key=${id}`);
      const { info: stored } = (await info.json()) as { readonly info: { readonly spend: number } };
      expect(stored.spend).toBeCloseTo(total, 9);
    });

    it("refuse a pepper of their own", async () => {
      const workspace = workspaceOn(upstream.baseUrl, pooled);
      await expect(
        startGateway(workspace, { DATABASE_URL: database.url, OPENAI_API_KEY: "sk-upstream" }),
      ).rejects.toThrow("another pepper");
      workspace.remove();
    });
  });
