/** The budget that `customers.default_budget` names, where an organization has taken the name. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  budget,
  openTenants,
  type OpenTenants,
  organization,
  team,
} from "../support/tenant-records.ts";
import { createWorkspace } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let store: OpenTenants;

beforeAll(async () => {
  upstream = await createUpstream();
  const sections = ["customers: { default_budget: starter }"];
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl, sections });
  gateway = await startGateway(workspace);
  store = await openTenants(workspace);
  for (const id of ["acme", "other"]) {
    await store.tenants.organization.insert(organization(id));
    await store.teams.insert(team(`of-${id}`, { organizationId: id }));
  }
  await store.tenants.budget.insert(budget("starter", { organizationId: "acme", rpm: 1_000 }));
});
afterAll(async () => {
  await store?.close();
  await gateway?.dispose();
  await upstream?.close();
});

it("holds for customers of that organization, and no other one is served by it", async () => {
  const ask = async (team_id: string) => {
    const { key } = await createKey(gateway, { team_id });
    const headers = { authorization: `Bearer ${key}` };
    const body = { model: "gpt-4o-mini", messages: MESSAGES, user: "carl" };
    const answer = await chat(gateway, body, { headers });
    return [answer.status, await answer.text()] as const;
  };
  expect((await ask("of-acme"))[0]).toBe(200);
  expect(await ask("of-other")).toEqual([429, expect.stringContaining("budget of 0 US dollars")]);
});
