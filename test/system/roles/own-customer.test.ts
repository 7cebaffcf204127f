/** A user who administers a team cannot leave the customer that bounds a key of his own. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { startTenants, type Tenants } from "./tenants.ts";

let tenants: Tenants;

beforeAll(async () => {
  tenants = await startTenants();
  await tenants.organization("o");
  await tenants.team("t", "o");
  await tenants.customer("bounded", "o");
}, 60_000);
afterAll(() => tenants?.close());

it("refuses another customer, none, and the right to name one, for an own key", async () => {
  const ann = await tenants.caller("ann", [], { organizations: ["o"] });
  await tenants.member(ann.userId, "t", "admin");
  const bound = { teamId: "t", customerId: "bounded", mayNameCustomers: false };
  const own = await tenants.key({ ...bound, userId: ann.userId });
  const other = await tenants.key(bound);
  for (const change of [
    { customer_id: null },
    { customer_id: "another" },
    { may_name_customers: true },
    { may_name_customers: null },
  ]) {
    const refused = await tenants.ask("POST /key/update", { key: own, ...change }, ann.key);
    expect([change, refused.status]).toEqual([change, 403]);
    expect(refused.text).toContain("your own key");
    const allowed = await tenants.ask("POST /key/update", { key: other, ...change }, ann.key);
    expect([change, allowed.status]).toEqual([change, 200]);
  }
  const kept = await tenants.ask(
    "POST /key/update",
    { key: own, may_name_customers: false },
    ann.key,
  );
  expect(kept.status).toBe(200);
});

it("refuses an administrator who raises, removes or makes the customer of an own key", async () => {
  const bob = await tenants.caller(
    "bob",
    [{ role: "admin", place: { kind: "organization", id: "o" } }],
    {
      organizations: ["o"],
    },
  );
  const limits = { organization_id: "o", max_budget: 1, rpm: 10 };
  for (const customer_id of ["own", "free"]) {
    const made = await tenants.ask("POST /customer/new", { customer_id, ...limits }, bob.key);
    expect(made.status).toBe(200);
  }
  for (const customerId of ["own", "unrecorded"])
    await tenants.key({ teamId: "t", customerId, mayNameCustomers: false, userId: bob.userId });
  const ask = (path: string, body: object) => tenants.ask(`POST /customer/${path}`, body, bob.key);
  const changes = [
    ["update", { max_budget: 2 }],
    ["update", { max_budget: null }],
    ["update", { rpm: 11 }],
  ] as const;
  for (const [path, change] of changes) {
    const named = { organization_id: "o", ...change };
    const refused = await ask(path, { customer_id: "own", ...named });
    expect([path, change, refused.status]).toEqual([path, change, 403]);
    const allowed = await ask(path, { customer_id: "free", ...named });
    expect([path, change, allowed.status]).toEqual([path, change, 200]);
  }
  const removed = (id: string) => ask("delete", { customer_ids: [id], organization_id: "o" });
  expect((await removed("own")).status).toBe(403);
  expect((await removed("free")).status).toBe(200);
  expect((await ask("new", { customer_id: "unrecorded", ...limits })).status).toBe(403);
  expect((await ask("update", { customer_id: "own", ...limits, max_budget: 0.5 })).status).toBe(
    200,
  );
});
