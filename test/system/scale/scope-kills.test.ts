/**
 * Budgets for 200 calls in every scope, and a gateway that is killed in the middle of them, twice:
 * no scope spends more, and the sums of every scope are those of the rows.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { type LedgerSumFilter, madeTag, poolTag } from "@sluice/contract";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startOwnProcess } from "../support/gateway-process.ts";
import { openTenants } from "../support/tenant-records.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const SERVED = 200;
const DOLLARS = SERVED / 100;
const NANO_USD = DOLLARS * 1e9;

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let own = { key: "", id: "" };
let made = "";

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    attempts: 1,
    models: [
      "{ id: paid, targets: [{ provider: openai, model: paid, price: { input: 0, output: 0, request: 0.01 } }] }",
    ],
  });
  upstream.script("paid", { kind: "reply", text: "a b c d", eventDelayMs: 40 });
  gateway = await startOwnProcess(workspace);
  const limit = { max_budget: DOLLARS };
  await done("/organization/new", { organization_id: "acme", ...limit });
  await done("/budget/new", { budget_id: "pot", organization_id: "acme", ...limit });
  await done("/team/new", {
    team_id: "core",
    organization_id: "acme",
    ...limit,
    budget_id: "pot",
    budget_share: "pool",
    self_service: { max_keys: 5 },
  });
  await done("/user/new", { user_id: "eve", organizations: ["acme"], ...limit });
  await done("/team/member_add", { team_id: "core", user_id: "eve", ...limit });
  await done("/customer/new", { customer_id: "carl", organization_id: "acme", ...limit });
  const issued = await done("/key/generate", { team_id: "core", user_id: "eve", ...limit });
  own = { key: String(issued["key"]), id: String(issued["token_id"]) };
  const answer = await fetch(`${gateway.publicUrl}/key/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${own.key}`, "content-type": "application/json" },
    body: "{}",
  });
  made = String(((await answer.json()) as { readonly key: string }).key);
}, 60_000);

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function done(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = await admin(gateway, path, body);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

/** Streams at once, half with each key. The gateway is killed when so many have reached the upstream. */
async function storm(count: number, killAfter?: number): Promise<void> {
  const calls = Array.from({ length: count }, async (_, at) => {
    const headers = { authorization: `Bearer ${at % 2 === 0 ? own.key : made}` };
    const body = { model: "paid", messages: MESSAGES, stream: true, user: "carl" };
    const answer = await chat(gateway, body, { headers });
    await answer.text();
  });
  const all = Promise.allSettled(calls);
  if (killAfter !== undefined) {
    await eventually("the calls", async () => upstream.requests.length >= killAfter);
    await gateway.kill();
  }
  await all;
  if (killAfter !== undefined) gateway = await startOwnProcess(workspace);
}

it("spend no more than their limit over two kills, and each scope is its rows", async () => {
  await storm(90, 40);
  await storm(90, upstream.requests.length + 40);
  // One key may reserve a part of what keys share: some of a storm are refused.
  for (let before = -1; before < upstream.requests.length;) {
    before = upstream.requests.length;
    await storm(60);
  }
  const store = await openTenants(workspace);
  const filters: Readonly<Record<string, LedgerSumFilter>> = {
    whole: {},
    organization: { organizationId: "acme" },
    team: { teamId: "core" },
    membership: { userId: "eve", teamId: "core" },
    user: { userId: "eve" },
    customer: { organizationId: "acme", endUser: "carl" },
    "shared budget": { tag: poolTag("pot") },
  };
  const spentOf = async () => {
    const sums: Record<string, number> = {};
    for (const [name, filter] of Object.entries(filters))
      sums[name] = await store.ledger.spent(filter);
    const [first, second] = [{ keyId: own.id }, { tag: madeTag(own.id) }];
    sums["key"] = (await store.ledger.spent(first)) + (await store.ledger.spent(second));
    return sums;
  };
  try {
    // Calls that were under way at a kill have rows, and what they cost.
    await eventually("the rows", async () => (await spentOf())["whole"] === NANO_USD);
    const expected = Object.fromEntries(
      [...Object.keys(filters), "key"].map((name) => [name, NANO_USD]),
    );
    expect(await spentOf()).toEqual(expected);
    // A call that was noted and not yet sent at a kill is in the rows all the same.
    expect(upstream.requests.length).toBeLessThanOrEqual(SERVED);
    const refused = await chat(
      gateway,
      { model: "paid", messages: MESSAGES, user: "carl" },
      { headers: { authorization: `Bearer ${made}` } },
    );
    expect([refused.status, await refused.text()]).toEqual([
      429,
      expect.stringContaining("budget"),
    ]);
  } finally {
    await store.close();
  }
});
