/**
 * Further attempts to get more than one has: by what records of several organizations share, by
 * other spellings of ids, and by routes that lead to the same records on another way.
 */

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Caller,
  grant,
  organization,
  selfService,
  startTenants,
  team,
  type Tenants,
} from "./tenants.ts";

let tenants: Tenants;
let keys: Caller;
let member: Caller;
let orgAdmin: Caller;
let of: Readonly<Record<"plain" | "ofOther" | "customers" | "adminOfOther", string>>;

beforeAll(async () => {
  tenants = await startTenants(undefined, {
    plugins: ["@sluice/compat-litellm"],
    sections: ["extensions:\n  litellm: { administration: public }"],
  });
  await tenants.organization("acme", { rpm: 1_000 });
  await tenants.organization("other", { tags: ["other-cost"] });
  await tenants.budget("common", null, { maxBudgetNanoUsd: 1_000_000_000 });
  await tenants.budget("acme-pool", "acme", { maxBudgetNanoUsd: 1_000_000_000 });
  const rule = selfService({ upperBounds: { rpm: 100 } });
  await tenants.team("a1", "acme", { rpm: 500, selfService: rule });
  await tenants.team("a2", "acme", { tags: ["a2-cost"] });
  await tenants.team("Caf\u00e9", "acme");
  await tenants.team("b1", "other", { tags: ["paid"], budgetId: "common", budgetShare: "pool" });
  const acme = { organizations: ["acme"], rpm: 60 };
  keys = await tenants.caller("keys", [grant("keys", team("a1"))], acme);
  member = await tenants.caller("member", [], acme);
  orgAdmin = await tenants.caller("org", [grant("admin", organization("acme"))], acme);
  const adminOfOther = await tenants.caller("b", [grant("admin", organization("other"))]);
  await tenants.user("colleague", { organizations: ["acme"] });
  await tenants.user("outsider", { organizations: ["other"] });
  for (const { userId } of [keys, orgAdmin]) await tenants.member(userId, "a1");
  await tenants.member(member.userId, "a1", "admin");
  await tenants.customer("c-1", "other");
  await tenants.customer("c-1", "acme");
  of = {
    plain: await tenants.key({ teamId: "a1", alias: "plain", rpm: 5 }),
    ofOther: await tenants.key({ teamId: "b1", alias: "of-other" }),
    customers: await tenants.key({ teamId: "a1", customerId: "c-1", userId: orgAdmin.userId }),
    adminOfOther: adminOfOther.keyId,
  };
}, 60_000);

afterAll(() => tenants?.close());

type Attempt = readonly [what: string, caller: () => Caller, call: string, body: () => object];

const pool = { budget_id: "common", budget_share: "pool" };

/** Through what several organizations share. */
const SHARED: readonly Attempt[] = [
  [
    "a tag of another organization",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", tags: ["paid"] }),
  ],
  [
    "the same, allowed alone",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", allowed_tags: ["paid"] }),
  ],
  [
    "the same, by an update",
    () => keys,
    "POST /key/update",
    () => ({ key: of.plain, allowed_tags: ["paid"] }),
  ],
  [
    "a tag of a sibling team",
    () => keys,
    "POST /key/update",
    () => ({ key: of.plain, tags: ["a2-cost"] }),
  ],
  [
    "the same, on the team",
    () => member,
    "POST /team/update",
    () => ({ team_id: "a1", tags: ["paid"] }),
  ],
  [
    "a tag of an organization, on a team",
    () => orgAdmin,
    "POST /team/update",
    () => ({ team_id: "a2", allowed_tags: ["other-cost"] }),
  ],
  [
    "the same, on a new team",
    () => orgAdmin,
    "POST /team/new",
    () => ({ team_id: "n", organization_id: "acme", tags: ["paid"] }),
  ],
  [
    "the same, on the organization",
    () => orgAdmin,
    "POST /organization/update",
    () => ({ organization_id: "acme", tags: ["paid"] }),
  ],
  [
    "the same, on a user",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: "colleague", tags: ["paid"] }),
  ],
  [
    "the same, on a new user",
    () => orgAdmin,
    "POST /user/new",
    () => ({ user_id: "n", organizations: ["acme"], allowed_tags: ["paid"] }),
  ],
  [
    "the same, on a member",
    () => keys,
    "POST /team/member_add",
    () => ({ team_id: "a1", user_id: "colleague", tags: ["paid"] }),
  ],
  [
    "the same, on a customer",
    () => orgAdmin,
    "POST /customer/update",
    () => ({ customer_id: "c-1", organization_id: "acme", allowed_tags: ["paid"] }),
  ],
  [
    "the same, on a new customer",
    () => orgAdmin,
    "POST /customer/new",
    () => ({ customer_id: "n", organization_id: "acme", tags: ["paid"] }),
  ],
  [
    "native paths by a key",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", passthrough: true }),
  ],
  [
    "native paths by an update",
    () => keys,
    "POST /key/update",
    () => ({ key: of.plain, passthrough: true }),
  ],
  [
    "native paths by a team",
    () => orgAdmin,
    "POST /team/update",
    () => ({ team_id: "a2", passthrough: true }),
  ],
  [
    "native paths by a user",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: "colleague", passthrough: true }),
  ],
  [
    "native paths by a member",
    () => keys,
    "POST /team/member_add",
    () => ({ team_id: "a1", user_id: "colleague", passthrough: true }),
  ],
  [
    "the pool of others, by a key",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", ...pool }),
  ],
  [
    "the pool of others, by an update",
    () => keys,
    "POST /key/update",
    () => ({ key: of.plain, ...pool }),
  ],
  [
    "the pool of others, by a team",
    () => orgAdmin,
    "POST /team/update",
    () => ({ team_id: "a2", ...pool }),
  ],
  [
    "the pool of others, by the organization",
    () => orgAdmin,
    "POST /organization/update",
    () => ({ organization_id: "acme", ...pool }),
  ],
  [
    "the pool of others, by a customer",
    () => orgAdmin,
    "POST /customer/update",
    () => ({ customer_id: "c-1", organization_id: "acme", ...pool }),
  ],
  [
    "the pool of others, by a user",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: "colleague", ...pool }),
  ],
  [
    "a customer of another organization",
    () => orgAdmin,
    "POST /customer/update",
    () => ({ customer_id: "c-1", organization_id: "other", rpm: 1 }),
  ],
  [
    "a new customer there",
    () => orgAdmin,
    "POST /customer/new",
    () => ({ customer_id: "n", organization_id: "other" }),
  ],
  [
    "a new customer of no organization",
    () => orgAdmin,
    "POST /customer/new",
    () => ({ customer_id: "n" }),
  ],
  [
    "to block one there",
    () => orgAdmin,
    "POST /customer/block",
    () => ({ customer_id: "c-1", organization_id: "other" }),
  ],
  [
    "to delete one there",
    () => orgAdmin,
    "POST /customer/delete",
    () => ({ customer_ids: ["c-1"], organization_id: "other" }),
  ],
  [
    "the customer of an own key, deleted",
    () => orgAdmin,
    "POST /customer/delete",
    () => ({ customer_ids: ["c-1"], organization_id: "acme" }),
  ],
  [
    "a customer by a role for keys",
    () => keys,
    "POST /customer/update",
    () => ({ customer_id: "c-1", organization_id: "acme", rpm: 1 }),
  ],
  [
    "a budget of the whole",
    () => orgAdmin,
    "POST /budget/update",
    () => ({ budget_id: "common", max_budget: 9 }),
  ],
  ["the pool, deleted", () => orgAdmin, "POST /budget/delete", () => ({ budget_ids: ["common"] })],
  [
    "a budget into another organization",
    () => orgAdmin,
    "POST /budget/new",
    () => ({ budget_id: "n", organization_id: "other" }),
  ],
  ["a budget for the whole", () => orgAdmin, "POST /budget/new", () => ({ budget_id: "n" })],
];

/** Through another spelling of an id, or of a field. */
const SPELLED: readonly Attempt[] = [
  [
    "a role at a team in other case",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: "colleague", roles: [{ role: "keys", at: "team", team_id: "B1" }] }),
  ],
  [
    "a role at a team by width",
    () => orgAdmin,
    "POST /user/update",
    () => ({
      user_id: "colleague",
      roles: [{ role: "keys", at: "team", team_id: "\uFF42\uFF11" }],
    }),
  ],
  [
    "a role at an organization with a space",
    () => orgAdmin,
    "POST /user/update",
    () => ({
      user_id: "colleague",
      roles: [{ role: "viewer", at: "organization", organization_id: "other " }],
    }),
  ],
  [
    "a member of a team in other case",
    () => keys,
    "POST /team/member_add",
    () => ({ team_id: "B1", user_id: "colleague" }),
  ],
  [
    "a user by case",
    () => orgAdmin,
    "POST /user/new",
    () => ({ user_id: "OUTSIDER", organizations: ["acme"] }),
  ],
  [
    "a team by case",
    () => orgAdmin,
    "POST /team/new",
    () => ({ team_id: "B1", organization_id: "acme" }),
  ],
  [
    "a team by a decomposed letter",
    () => orgAdmin,
    "POST /team/new",
    () => ({ team_id: "Cafe\u0301", organization_id: "acme" }),
  ],
  [
    "a team by an invisible character",
    () => orgAdmin,
    "POST /team/new",
    () => ({ team_id: "a1\u200B", organization_id: "acme" }),
  ],
  [
    "an organization by spaces",
    () => orgAdmin,
    "POST /team/new",
    () => ({ team_id: "n", organization_id: " other" }),
  ],
  [
    "a key's user by case",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", user_id: keys.userId.toUpperCase() }),
  ],
  [
    "the gateway's own tags",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", tags: ["sluice:budget:common"] }),
  ],
  [
    "the same, allowed",
    () => keys,
    "POST /key/update",
    () => ({ key: of.plain, allowed_tags: ["sluice:budget:common"] }),
  ],
  [
    "the same, on a customer",
    () => orgAdmin,
    "POST /customer/update",
    () => ({ customer_id: "c-1", organization_id: "acme", tags: ["sluice:key:x"] }),
  ],
  [
    "two amounts of one limit",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", rpm: 1, rpm_limit: 101 }),
  ],
];

/** Through routes that lead to the same records. */
const ROUTED: readonly Attempt[] = [
  [
    "roles by an import",
    () => orgAdmin,
    "POST /user/import",
    () => ({ users: [{ user_id: "n", roles: [{ role: "admin", at: "whole" }] }] }),
  ],
  [
    "members by an import",
    () => keys,
    "POST /team/member/import",
    () => ({ members: [{ team_id: "a1", user_id: "outsider", role: "admin" }] }),
  ],
  [
    "customers by an import",
    () => orgAdmin,
    "POST /customer/import",
    () => ({ customers: [{ customer_id: "c-1", organization_id: "other" }] }),
  ],
  [
    "budgets by an import",
    () => orgAdmin,
    "POST /budget/import",
    () => ({ budgets: [{ budget_id: "n" }] }),
  ],
  [
    "organizations by an import",
    () => orgAdmin,
    "POST /organization/import",
    () => ({ organizations: [{ organization_id: "n" }] }),
  ],
];

/** Through one change of many keys: each is refused by itself. */
const IN_BULK: readonly Attempt[] = [
  [
    "a key elsewhere",
    () => keys,
    "POST /key/bulk",
    () => ({ keys: [of.ofOther], action: "block" }),
  ],
  [
    "a tag of others",
    () => keys,
    "POST /key/bulk",
    () => ({ keys: [of.plain], action: "update", fields: { tags: ["paid"] } }),
  ],
  [
    "the pool of others",
    () => keys,
    "POST /key/bulk",
    () => ({ keys: [of.plain], action: "update", fields: pool }),
  ],
  [
    "another team",
    () => keys,
    "POST /key/bulk",
    () => ({ keys: [of.plain], action: "update", fields: { team_id: "a2" } }),
  ],
  [
    "an own key",
    () => orgAdmin,
    "POST /key/bulk",
    () => ({ keys: [of.customers], action: "update", fields: { customer_id: null } }),
  ],
];

/** Through the routes of another gateway, on both listeners. */
const TRANSLATED: readonly Attempt[] = [
  [
    "a role",
    () => orgAdmin,
    "POST /user/update",
    () => ({
      user_id: orgAdmin.userId,
      user_role: "proxy_admin",
      max_budget: null,
      rpm_limit: null,
    }),
  ],
  [
    "a key of a user elsewhere",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", user_id: "outsider" }),
  ],
  [
    "many keys at once",
    () => keys,
    "POST /key/bulk_update",
    () => ({ keys: [{ key: of.ofOther, max_budget: 1 }] }),
  ],
  [
    "a key of others, by alias",
    () => keys,
    "POST /key/update",
    () => ({ key_alias: "of-other", max_budget: 1 }),
  ],
  ["a secret of others, by the path", () => keys, "POST /key/of-other/regenerate", () => ({})],
  [
    "a secret of one above, by its id",
    () => keys,
    `POST /key/regenerate`,
    () => ({ key: of.adminOfOther }),
  ],
  [
    "a member from elsewhere",
    () => keys,
    "POST /team/member_add",
    () => ({ team_id: "a1", member: { role: "user", user_id: "outsider" } }),
  ],
  [
    "many members",
    () => keys,
    "POST /team/bulk_member_add",
    () => ({ team_id: "b1", members: [{ role: "admin", user_id: keys.userId }] }),
  ],
  [
    "an own membership as admin",
    () => keys,
    "POST /team/member_update",
    () => ({ team_id: "a1", user_id: keys.userId, role: "admin" }),
  ],
  [
    "models of the own team",
    () => member,
    "POST /team/model/add",
    () => ({ team_id: "b1", models: ["gpt-4o"] }),
  ],
  [
    "another organization",
    () => orgAdmin,
    "POST /organization/update",
    () => ({ organization_id: "other", max_budget: 1 }),
  ],
  [
    "a member of another organization",
    () => orgAdmin,
    "POST /organization/member_add",
    () => ({ organization_id: "other", member: { role: "org_admin", user_id: orgAdmin.userId } }),
  ],
  [
    "a customer without an organization",
    () => orgAdmin,
    "POST /customer/new",
    () => ({ user_id: "n", max_budget: 1 }),
  ],
  [
    "a budget for all",
    () => orgAdmin,
    "POST /budget/update",
    () => ({ budget_id: "common", max_budget: 9 }),
  ],
  [
    "a service account elsewhere",
    () => keys,
    "POST /key/service-account/generate",
    () => ({ team_id: "b1" }),
  ],
];

/** What refuses: 403, 404, and the 400 of a thing that does not exist or may have no such value. */
function isRefusal(status: number, text: string): boolean {
  if (status === 200 && /"outcome":"(refused|missing)"/.test(text)) return true;
  return [400, 401, 403, 404, 405, 409].includes(status);
}

describe.each([
  ["shared", SHARED],
  ["spelled", SPELLED],
  ["routed", ROUTED],
  ["in bulk", IN_BULK],
])("an attempt, %s", (_kind, attempts) => {
  it.each(attempts)("%s: is refused", async (_what, caller, call, body) => {
    const before = await tenants.state();
    const answer = await tenants.ask(call, body(), caller().key);
    expect({ ...answer, isRefused: isRefusal(answer.status, answer.text) }).toMatchObject({
      isRefused: true,
    });
    expect(await tenants.state()).toBe(before);
  });
});

describe("an attempt by the routes of another gateway", () => {
  it.each(TRANSLATED)(
    "%s: changes nothing, on both listeners",
    async (_what, caller, call, body) => {
      const before = await tenants.state();
      await tenants.askPublic(call, body(), caller().key);
      await tenants.ask(call, body(), caller().key);
      expect(await tenants.state()).toBe(before);
    },
  );
});

describe("a session of a browser", () => {
  const page = () => ({
    origin: new URL(tenants.gateway.adminUrl).origin,
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
  });

  /** As a browser sends it: `fetch` would set headers of its own. */
  const send = (call: string, headers: object, body: object) =>
    new Promise<{ status: number; cookie: string; body: Readonly<Record<string, unknown>> }>(
      (resolve, reject) => {
        const [method = "", path = ""] = call.split(" ");
        const sent = request(
          `${tenants.gateway.adminUrl}${path}`,
          { method, headers: { ...page(), ...headers } },
          (answer) => {
            let text = "";
            answer.setEncoding("utf8").on("data", (part: string) => (text += part));
            answer.on("end", () => {
              const [cookie = ""] = String(answer.headers["set-cookie"]).split(";");
              const json = JSON.parse(text) as Readonly<Record<string, unknown>>;
              resolve({ status: answer.statusCode ?? 0, cookie, body: json });
            });
          },
        );
        sent.on("error", reject).end(JSON.stringify(body));
      },
    );

  it("may what its key may, and no more: not after the role is gone either", async () => {
    const caller = await tenants.caller("browser", [grant("keys", team("a1"))], {
      organizations: ["acme"],
    });
    const { cookie, body } = await send("POST /ui/session", {}, { key: caller.key });
    const headers = { cookie, "x-sluice-csrf": String(body["csrf"]) };
    expect((await send("POST /key/update", headers, { key: of.plain, rpm: 4 })).status).toBe(200);
    const before = await tenants.state();
    for (const [call, asked] of [
      ["POST /key/generate", { team_id: "a1", tags: ["paid"] }],
      ["POST /key/generate", { team_id: "b1" }],
      ["POST /user/update", { user_id: caller.userId, roles: [{ role: "admin", at: "whole" }] }],
      ["POST /team/update", { team_id: "a2", rpm: 1 }],
      ["POST /ui/code", {}],
    ] as const)
      expect([call, [400, 401, 403, 404]]).toEqual([
        call,
        expect.arrayContaining([(await send(call, headers, asked)).status]),
      ]);
    expect(await tenants.state()).toBe(before);
    await tenants.tables.user.update({ id: caller.userId }, { roles: [] });
    const after = await send("POST /key/update", headers, { key: of.plain, rpm: 3 });
    expect([401, 403]).toContain(after.status);
  });

  it("opens for no service account, and ends when its user becomes one", async () => {
    const roles = [grant("keys", team("a1"))];
    const service = await tenants.caller("service", roles, { kind: "service" });
    const asked = await tenants.ask("GET /key/list", undefined, service.key);
    expect(asked.status).toBe(200);
    const refused = await send("POST /ui/session", {}, { key: service.key });
    expect([refused.status, refused.cookie]).toEqual([401, "undefined"]);
    const person = await tenants.caller("person", roles);
    const { cookie, body } = await send("POST /ui/session", {}, { key: person.key });
    const headers = { cookie, "x-sluice-csrf": String(body["csrf"]) };
    const change = { key: of.plain, rpm: 4 };
    expect((await send("POST /key/update", headers, change)).status).toBe(200);
    await tenants.tables.user.update({ id: person.userId }, { kind: "service" });
    expect((await send("POST /key/update", headers, change)).status).toBe(401);
  });

  it("opens for no key without a role, and for none that was made by self-service", async () => {
    const plain = await tenants.secret({ teamId: "a1", userId: keys.userId });
    const own = await tenants.askPublic("POST /key/generate", {}, plain.key);
    for (const key of [plain.key, own.body["key"]])
      expect((await send("POST /ui/session", {}, { key: String(key) })).status).toBe(401);
  });
});

describe("what is allowed stays so", () => {
  it("tags of the own places, pools of the own organization, templates of the whole", async () => {
    const other = await tenants.caller("admin", [grant("admin", organization("acme"))]);
    for (const [caller, call, body] of [
      [keys, "POST /key/generate", { team_id: "a1", tags: ["fresh"], budget_id: "common" }],
      [other, "POST /team/update", { team_id: "a1", allowed_tags: ["a2-cost"] }],
      [keys, "POST /key/generate", { team_id: "a1", allowed_tags: ["a2-cost"] }],
      [other, "POST /team/update", { team_id: "a2", budget_id: "acme-pool", budget_share: "pool" }],
      [
        other,
        "POST /customer/update",
        { customer_id: "c-1", organization_id: "acme", tags: ["a2-cost"] },
      ],
    ] as const)
      expect([call, (await tenants.ask(call, body, caller.key)).status]).toEqual([call, 200]);
  });
});
