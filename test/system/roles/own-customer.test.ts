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
