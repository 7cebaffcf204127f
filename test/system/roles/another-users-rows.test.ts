/** A key that an administrator of one place makes for a user shows nothing of the user's others. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { startTenants, type Tenants } from "./tenants.ts";

let tenants: Tenants;

beforeAll(async () => {
  tenants = await startTenants();
  await tenants.organization("o");
  await tenants.organization("other");
  await tenants.team("t", "o");
  await tenants.team("elsewhere", "other");
  await tenants.user("bob", { organizations: ["o", "other"] });
  await tenants.user("carl", { organizations: ["o"] });
  await tenants.member("bob", "t");
  await tenants.member("bob", "elsewhere");
  await tenants.member("carl", "t");
}, 60_000);
afterAll(() => tenants?.close());

it("neither by spend_scope, nor by a new secret, nor by the user's record", async () => {
  const ann = await tenants.caller("ann", [], { organizations: ["o"] });
  await tenants.member(ann.userId, "t", "admin");
  const elsewhere = await tenants.key({ userId: "bob", teamId: "elsewhere" });
  const own = { user_id: "bob", team_id: "t" };
  const refused = await tenants.ask("POST /key/generate", { ...own, spend_scope: "user" }, ann.key);
  expect(refused).toMatchObject({ status: 403, body: { error: { param: "spend_scope" } } });
  const made = await tenants.ask("POST /key/generate", own, ann.key);
  expect(made.status).toBe(200);
  const key = String(made.body["token_id"]);
  expect(
    (await tenants.ask("POST /key/update", { key, spend_scope: "user" }, ann.key)).status,
  ).toBe(403);
  const wide = await tenants.key({ userId: "bob", teamId: "t", spendScope: "user" });
  expect((await tenants.ask("POST /key/regenerate", { key: wide }, ann.key)).status).toBe(403);
  const shown = await tenants.askPublic("GET /user/info", undefined, String(made.body["key"]));
  expect(shown.status).toBe(200);
  expect(shown.text).toContain(key);
  expect(shown.text).not.toContain(elsewhere);
});

it("nor by an admin key: it has roles, and owns nothing of its user", async () => {
  const admin = [{ role: "admin", place: { kind: "organization", id: "o" } }] as const;
  const ann = await tenants.caller("issuer", admin, { organizations: ["o"] });
  const roles = [{ role: "viewer", place: { kind: "organization", id: "o" } }] as const;
  const erin = await tenants.user("erin", { organizations: ["o", "other"], roles });
  await tenants.member(erin, "elsewhere");
  const elsewhere = await tenants.key({ userId: erin, teamId: "elsewhere" });
  const asked = { user_id: erin, admin: true, organization_id: "o" };
  const issued = await tenants.ask("POST /key/generate", asked, ann.key);
  const key = String(issued.body["key"]);
  const ask = (call: string, body?: object) => tenants.ask(call, body, key);
  for (const [call, body] of [
    [`GET /key/info?key=${elsewhere}`, undefined],
    ["POST /key/regenerate", { key: elsewhere }],
    ["POST /key/block", { key: elsewhere }],
    ["POST /key/delete", { keys: [elsewhere] }],
    [`GET /team/member_info?team_id=elsewhere&user_id=${erin}`, undefined],
  ] as const)
    expect([call, [403, 404]]).toEqual([
      call,
      expect.arrayContaining([(await ask(call, body)).status]),
    ]);
  expect(await tenants.store.keys.find(elsewhere)).toMatchObject({ blocked: false });
  expect((await ask("GET /key/list?size=100")).text).not.toContain(elsewhere);
  // The key of a secret that the master key has issued is the user's own.
  const own = await tenants.secret({ userId: erin, admin: true });
  const seen = await tenants.ask("GET /key/list?size=100", undefined, own.key);
  expect(seen.text).toContain(elsewhere);
});

it("who sees every place of the user may give it", async () => {
  const dora = await tenants.caller("dora", [
    { role: "keys", place: { kind: "organization", id: "o" } },
  ]);
  const body = { user_id: "carl", team_id: "t", spend_scope: "user" };
  expect((await tenants.ask("POST /key/generate", body, dora.key)).status).toBe(200);
});
