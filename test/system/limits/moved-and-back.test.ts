/** What a scope has spent stays there: keys that move out and back, pools that are left and joined. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    models: [
      "{ id: paid, targets: [{ provider: openai, model: paid, price: { input: 0, output: 0, request: 0.01 } }] }",
    ],
  });
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function done(path: string, body: object): Promise<void> {
  expect([path, (await admin(gateway, path, body)).status]).toEqual([path, 200]);
}

/** How many of so many requests, one after the other, are served. */
async function served(key: string, count: number): Promise<number> {
  let found = 0;
  for (let at = 0; at < count; at += 1) {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await chat(gateway, { model: "paid", messages: MESSAGES }, { headers });
    await answer.text();
    if (answer.status === 200) found += 1;
  }
  return found;
}

it("a key that moves out of a spent team and back finds it spent, also after a restart", async () => {
  await done("/team/new", { team_id: "spent", max_budget: 0.03 });
  await done("/team/new", { team_id: "fresh", max_budget: 0.02 });
  const { key, token_id: id } = await createKey(gateway, { team_id: "spent" });
  expect(await served(key, 5)).toBe(3);
  await done("/key/update", { key: id, team_id: "fresh" });
  expect(await served(key, 4)).toBe(2);
  await done("/key/update", { key: id, team_id: "spent" });
  expect(await served(key, 1)).toBe(0);
  await gateway.stop();
  gateway = await startGateway(workspace);
  expect(await served(key, 1)).toBe(0);
  await done("/key/update", { key: id, team_id: "fresh" });
  expect(await served(key, 1)).toBe(0);
});

it("a pool that is left and joined again is as spent as it was, and stays while others refer to it", async () => {
  await done("/budget/new", { budget_id: "pot", max_budget: 0.03 });
  const pool = { budget_id: "pot", budget_share: "pool" };
  const first = await createKey(gateway, pool);
  const second = await createKey(gateway, pool);
  expect((await served(first.key, 2)) + (await served(second.key, 3))).toBe(3);
  await done("/key/update", { key: first.token_id, budget_id: null, budget_share: null });
  expect(await served(first.key, 1)).toBe(1);
  await done("/key/update", { key: first.token_id, ...pool });
  expect(await served(first.key, 1)).toBe(0);
  const inUse = await admin(gateway, "/budget/delete", { budget_ids: ["pot"] });
  expect([inUse.status, await inUse.text()]).toEqual([400, expect.stringContaining("in use")]);
  await done("/key/delete", { keys: [first.token_id, second.token_id] });
  await done("/budget/delete", { budget_ids: ["pot"] });
  // A record of the name that is gone is not made again, and what names it admits nothing.
  expect((await admin(gateway, "/budget/new", { budget_id: "pot" })).status).toBe(400);
  expect((await admin(gateway, "/key/generate", pool)).status).not.toBe(200);
});
