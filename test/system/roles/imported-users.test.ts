/** The user that an imported key names: another spelling of an id would have none of its limits. */

import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTenants, type Tenants } from "./tenants.ts";

let tenants: Tenants;

beforeAll(async () => {
  tenants = await startTenants();
  await tenants.user("ann", { rpm: 0 });
  await tenants.user("gone");
  await tenants.ask("POST /user/delete", { user_ids: ["gone"] });
}, 60_000);
afterAll(() => tenants?.close());

it.each([
  ["ann", "added"],
  ["a-label", "added"],
  ["ANN", "refused"],
  ["ann ", "refused"],
  ["ａｎｎ", "refused"],
  ["gone", "refused"],
])("an imported key of %j is %s", async (userId, outcome) => {
  const sha256 = createHash("sha256").update(`sk-imported-of-${userId}-0123456789`).digest("hex");
  for (const dry_run of [true, false]) {
    const { status, text } = await tenants.ask("POST /key/import", {
      keys: [{ sha256, user_id: userId }],
      dry_run,
    });
    expect([status, text]).toEqual([200, expect.stringContaining(`"outcome":"${outcome}"`)]);
  }
});
