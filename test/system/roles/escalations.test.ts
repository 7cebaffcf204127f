/** Attempts to get more than one has, through the front door: each is refused and changes nothing. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Caller,
  grant,
  organization,
  selfService,
  startTenants,
  team,
  type Tenants,
  WHOLE,
} from "./tenants.ts";

let tenants: Tenants;
let keys: Caller;
let member: Caller;
let orgAdmin: Caller;
let wholeAdmin: Caller;
let operator: Caller;
let viewer: Caller;
/** Keys by what they are. */
let of: Readonly<
  Record<"a1" | "a2" | "b1" | "ownOfKeys" | "adminInA1" | "plainOfAdminInA1", string>
>;

beforeAll(async () => {
  tenants = await startTenants();
  await tenants.organization("acme");
  await tenants.organization("other");
  await tenants.budget("shared", "acme", { maxBudgetNanoUsd: 1_000_000_000, rpm: 50 });
  await tenants.group("gold", "acme", ["gpt-4o"]);
  await tenants.tables.organization.update(
    { id: "acme" },
    { budgetId: "shared", models: ["gold", "echo"], rpm: 1_000 },
  );
  const rule = selfService({ upperBounds: { rpm: 100, maxBudgetNanoUsd: 10_000_000_000 } });
  await tenants.team("a1", "acme", { models: ["gold", "echo"], rpm: 500, selfService: rule });
  await tenants.team("a2", "acme");
  await tenants.team("b1", "other");
  await tenants.team("solo", null);
  const acme = { organizations: ["acme"], rpm: 60 };
  keys = await tenants.caller("keys", [grant("keys", team("a1"))], acme);
  member = await tenants.caller("member", [], acme);
  orgAdmin = await tenants.caller("org", [grant("admin", organization("acme"))], acme);
  wholeAdmin = await tenants.caller("whole", [grant("admin", WHOLE)], acme);
  operator = await tenants.caller("operator", [grant("operator", WHOLE)]);
  viewer = await tenants.caller("viewer", [grant("viewer", organization("acme"))], acme);
  await tenants.user("outsider", { organizations: ["other"] });
  await tenants.user("colleague", { organizations: ["acme"] });
  for (const { userId } of [keys, orgAdmin]) await tenants.member(userId, "a1");
  await tenants.member(member.userId, "a1", "admin");
  const inA1 = { teamId: "a1" };
  of = {
    a1: await tenants.key({ ...inA1, alias: "in-a1" }),
    a2: await tenants.key({ teamId: "a2", alias: "in-a2" }),
    b1: await tenants.key({ teamId: "b1", alias: "in-b1" }),
    ownOfKeys: await tenants.key({ ...inA1, userId: keys.userId, rpm: 5, tags: ["t"] }),
    adminInA1: await tenants.key({ ...inA1, userId: orgAdmin.userId, admin: true }),
    plainOfAdminInA1: await tenants.key({ ...inA1, userId: orgAdmin.userId }),
  };
}, 60_000);

afterAll(() => tenants?.close());

type Attempt = readonly [
  what: string,
  caller: () => Caller,
  call: string,
  body: () => object | undefined,
];

const own = (): object => ({ team_id: "a1", user_id: keys.userId });
const atWhole = [{ role: "admin", at: "whole" }];

const ATTEMPTS: readonly Attempt[] = [
  ["own team: rpm", () => keys, "POST /team/update", () => ({ team_id: "a1", rpm: 501 })],
  ["own team: no rpm", () => keys, "POST /team/update", () => ({ team_id: "a1", rpm: null })],
  ["own team: models", () => keys, "POST /team/update", () => ({ team_id: "a1", models: [] })],
  [
    "own team: rule",
    () => keys,
    "POST /team/update",
    () => ({ team_id: "a1", self_service: null }),
  ],
  [
    "own team, as a member with admin",
    () => member,
    "POST /team/update",
    () => ({ team_id: "a1", tpm: null, rpm: 1_000_000 }),
  ],
  [
    "own team: another organization",
    () => orgAdmin,
    "POST /team/update",
    () => ({ team_id: "a1", organization_id: "other" }),
  ],
  [
    "own team: none",
    () => keys,
    "POST /team/update",
    () => ({ team_id: "a1", organization_id: null }),
  ],
  [
    "own membership: admin",
    () => keys,
    "POST /team/member_update",
    () => ({ ...own(), role: "admin" }),
  ],
  [
    "member of another team",
    () => keys,
    "POST /team/member_add",
    () => ({ ...own(), team_id: "a2" }),
  ],
  [
    "member of a sibling, by oneself",
    () => orgAdmin,
    "POST /team/member_add",
    () => ({ team_id: "a2", user_id: orgAdmin.userId }),
  ],
  [
    "a member of another organization",
    () => keys,
    "POST /team/member_add",
    () => ({ team_id: "a1", user_id: "outsider" }),
  ],
  ["own key: rpm", () => keys, "POST /key/update", () => ({ key: of.ownOfKeys, rpm: 6 })],
  ["own key: no rpm", () => keys, "POST /key/update", () => ({ key: of.ownOfKeys, rpm: null })],
  [
    "own key: by rpm_limit",
    () => keys,
    "POST /key/update",
    () => ({ key: of.ownOfKeys, rpm_limit: 9 }),
  ],
  ["own key: tags", () => keys, "POST /key/update", () => ({ key: of.ownOfKeys, tags: [] })],
  [
    "own key: no team",
    () => keys,
    "POST /key/update",
    () => ({ key: of.ownOfKeys, team_id: null }),
  ],
  [
    "own key to a sibling team",
    () => orgAdmin,
    "POST /key/update",
    () => ({ key: of.plainOfAdminInA1, team_id: "a2" }),
  ],
  [
    "own key: another user",
    () => keys,
    "POST /key/update",
    () => ({ key: of.ownOfKeys, user_id: null }),
  ],
  ["a key beyond the bound", () => keys, "POST /key/generate", () => ({ team_id: "a1", rpm: 101 })],
  ["a key with null", () => keys, "POST /key/generate", () => ({ team_id: "a1", rpm: null })],
  [
    "a budget with null",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", max_budget: null }),
  ],
  [
    "a model of others",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", models: ["gpt-4o-mini"] }),
  ],
  [
    "every model by a star",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", models: ["*"] }),
  ],
  [
    "a key of a user elsewhere",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", user_id: "outsider" }),
  ],
  [
    "an admin key of one above",
    () => keys,
    "POST /key/generate",
    () => ({ team_id: "a1", user_id: orgAdmin.userId, admin: true }),
  ],
  [
    "an admin key of the whole's",
    () => orgAdmin,
    "POST /key/generate",
    () => ({ team_id: "a1", user_id: wholeAdmin.userId, admin: true }),
  ],
  ["the secret of one above", () => keys, "POST /key/regenerate", () => ({ key: of.adminInA1 })],
  [
    "admin on a key of one above",
    () => keys,
    "POST /key/update",
    () => ({ key: of.plainOfAdminInA1, admin: true }),
  ],
  ["a key without a place", () => keys, "POST /key/generate", () => ({})],
  ["a key in a sibling team", () => keys, "POST /key/generate", () => ({ team_id: "a2" })],
  ["a key elsewhere", () => orgAdmin, "POST /key/generate", () => ({ team_id: "b1" })],
  [
    "a key into a sibling team",
    () => keys,
    "POST /key/update",
    () => ({ key: of.a1, team_id: "a2" }),
  ],
  ["a key into nothing", () => keys, "POST /key/update", () => ({ key: of.a1, team_id: null })],
  [
    "a key out of another team",
    () => keys,
    "POST /key/update",
    () => ({ key: of.a2, team_id: "a1" }),
  ],
  ["an alias elsewhere", () => keys, "POST /key/block", () => ({ key: "in-b1" })],
  [
    "aliases elsewhere",
    () => keys,
    "POST /key/delete",
    () => ({ key_aliases: ["in-b1", "in-a2"] }),
  ],
  ["ids elsewhere", () => orgAdmin, "POST /key/delete", () => ({ keys: [of.b1] })],
  [
    "an own role",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: orgAdmin.userId, roles: atWhole }),
  ],
  [
    "a role elsewhere",
    () => orgAdmin,
    "POST /user/update",
    () => ({
      user_id: "colleague",
      roles: [{ role: "viewer", at: "organization", organization_id: "other" }],
    }),
  ],
  [
    "a new user with a role above",
    () => orgAdmin,
    "POST /user/new",
    () => ({ user_id: "puppet", organizations: ["acme"], roles: atWhole }),
  ],
  [
    "a user into another organization",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: "colleague", organizations: ["acme", "other"] }),
  ],
  [
    "own record: rpm",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: orgAdmin.userId, rpm: null }),
  ],
  [
    "own record, at the whole",
    () => wholeAdmin,
    "POST /user/update",
    () => ({ user_id: wholeAdmin.userId, rpm: 61 }),
  ],
  [
    "own organization",
    () => orgAdmin,
    "POST /organization/update",
    () => ({ organization_id: "acme", rpm: null }),
  ],
  [
    "own organization: its budget",
    () => orgAdmin,
    "POST /organization/update",
    () => ({ organization_id: "acme", budget_id: null }),
  ],
  [
    "a budget that holds for oneself",
    () => orgAdmin,
    "POST /budget/update",
    () => ({ budget_id: "shared", max_budget: 2 }),
  ],
  [
    "the same, by no limit",
    () => orgAdmin,
    "POST /budget/update",
    () => ({ budget_id: "shared", rpm: null }),
  ],
  ["the same, deleted", () => orgAdmin, "POST /budget/delete", () => ({ budget_ids: ["shared"] })],
  [
    "an access group of oneself",
    () => orgAdmin,
    "POST /access_group/update",
    () => ({ access_group: "gold", models: ["*"] }),
  ],
  [
    "one above, blocked",
    () => orgAdmin,
    "POST /user/block",
    () => ({ user_id: wholeAdmin.userId }),
  ],
  [
    "one above, deleted",
    () => orgAdmin,
    "POST /user/delete",
    () => ({ user_ids: [wholeAdmin.userId] }),
  ],
  [
    "one above, with another e-mail",
    () => orgAdmin,
    "POST /user/update",
    () => ({ user_id: wholeAdmin.userId, user_email: "x@example.org" }),
  ],
  ["keys by import", () => orgAdmin, "POST /key/import", () => ({ keys: [] })],
  ["teams by import", () => orgAdmin, "POST /team/import", () => ({ teams: [{ team_id: "a9" }] })],
  ["the files", () => orgAdmin, "GET /config/files", () => undefined],
  ["a reload", () => orgAdmin, "POST /config/reload", () => ({})],
  [
    "a role by an operator",
    () => operator,
    "POST /user/update",
    () => ({ user_id: operator.userId, roles: atWhole }),
  ],
  ["a key by a viewer", () => viewer, "POST /key/generate", () => ({ team_id: "a1" })],
  [
    "a team by a viewer",
    () => viewer,
    "POST /team/new",
    () => ({ team_id: "v", organization_id: "acme" }),
  ],
  ["a team without an organization", () => orgAdmin, "POST /team/new", () => ({ team_id: "v" })],
  ["the audit by a viewer", () => viewer, "GET /audit", () => undefined],
];

describe("an attempt", () => {
  it.each(ATTEMPTS)("%s: is refused", async (_what, caller, call, body) => {
    const before = await tenants.state();
    const { status, text } = await tenants.ask(call, body(), caller().key);
    // 400 is the answer of a team that does not exist, and of nothing else here.
    const isUnknown = status === 400 && text.includes("does not exist");
    expect({ status: isUnknown ? 404 : status, text }).toMatchObject({
      status: expect.toSatisfy((one: number) => one === 403 || one === 404),
    });
    expect(await tenants.state()).toBe(before);
  });

  it.each(["A1", "\uFF411", " a1", "a1 ", "a1\u200B", "a\u0301", "a1/", "%61%31"])(
    "a team by %j is none, and gets no key",
    async (id) => {
      const before = await tenants.state();
      const unknown = await tenants.ask("POST /key/generate", { team_id: "nothing" }, keys.key);
      const asked = await tenants.ask("POST /key/generate", { team_id: id }, keys.key);
      expect([asked.status, asked.text]).toEqual([400, expect.stringContaining("does not exist")]);
      expect(unknown.status).toBe(400);
      expect(await tenants.state()).toBe(before);
    },
  );

  it("to find a key by its digest, or one elsewhere by alias or id, meets one answer", async () => {
    const record = await tenants.store.keys.find(of.a1);
    const none = await tenants.ask("GET /key/info?key=key_none", undefined, keys.key);
    expect(none.status).toBe(404);
    for (const asked of [record?.digest ?? "", of.b1, "in-b1", of.a2, `${of.a1} `])
      expect(
        await tenants.ask(`GET /key/info?key=${encodeURIComponent(asked)}`, undefined, keys.key),
      ).toEqual(none);
    expect((await tenants.ask(`GET /key/info?key=${of.a1}`, undefined, keys.key)).status).toBe(200);
  });

  it("to delete keys of others in bulk deletes one's own alone", async () => {
    const mine = await tenants.key({ teamId: "a1" });
    const body = { keys: [of.b1, mine, of.a2, "key_none"] };
    expect((await tenants.ask("POST /key/delete", body, keys.key)).body).toEqual({
      deleted_keys: [mine],
    });
    expect(await tenants.store.keys.find(of.b1)).toBeDefined();
    expect(await tenants.store.keys.find(of.a2)).toBeDefined();
  });

  it("to leave a team and come back without its limits ends with leaving", async () => {
    const { userId, key } = await tenants.caller("leaver", [grant("keys", team("a1"))], {
      organizations: ["acme"],
    });
    await tenants.member(userId, "a1");
    const ids = { team_id: "a1", user_id: userId };
    expect((await tenants.ask("POST /team/member_delete", ids, key)).status).toBe(200);
    expect(isRefusal((await tenants.ask("POST /team/member_add", ids, key)).status)).toBe(true);
  });

  it("to pass as the supervisor, or by another header, is no caller's", async () => {
    const { key } = await tenants.secret({ teamId: "a1" });
    const response = await fetch(`${tenants.gateway.adminUrl}/config/status`, {
      headers: {
        authorization: `Bearer ${key}`,
        "x-sluice-supervisor": "anything",
        "x-sluice-supervisor-master": "1",
        "x-sluice-supervisor-audited": "1",
      },
    });
    expect(response.status).toBe(403);
    for (const path of ["POST /key/update", "POST /user/update", "GET /audit", "POST /team/update"])
      expect(
        isRefusal(
          (await tenants.askPublic(path, path.startsWith("GET") ? undefined : {}, wholeAdmin.key))
            .status,
        ),
      ).toBe(true);
  });
});

describe("a secret", () => {
  it("gives its issuer nothing when its user is promoted, through no further key either", async () => {
    const userId = await tenants.user("riser", {
      organizations: ["acme"],
      roles: [grant("viewer", organization("acme"))],
    });
    const asked = { user_id: userId, admin: true, organization_id: "acme" };
    const issued = await tenants.ask("POST /key/generate", asked, orgAdmin.key);
    expect(issued.status).toBe(200);
    const secret = String(issued.body["key"]);
    expect((await tenants.ask("GET /team/list", undefined, secret)).status).toBe(200);
    await tenants.tables.user.update({ id: userId }, { roles: [grant("admin", WHOLE)] });
    // The issuer administers acme: no more comes of the key.
    expect((await tenants.ask("GET /config/status", undefined, secret)).status).toBe(403);
    expect((await tenants.ask("GET /team/info?team_id=b1", undefined, secret)).status).toBe(404);
    const second = await tenants.ask("POST /key/generate", asked, secret);
    expect(second.status).toBe(200);
    const again = String(second.body["key"]);
    expect((await tenants.ask("GET /config/status", undefined, again)).status).toBe(403);
    const rotated = await tenants.ask(
      "POST /key/regenerate",
      { key: second.body["token_id"] },
      again,
    );
    expect(
      (await tenants.ask("GET /config/status", undefined, String(rotated.body["key"]))).status,
    ).toBe(403);
    // What the master key issues has all the roles.
    const { key } = await tenants.secret({ userId, admin: true });
    expect((await tenants.ask("GET /config/status", undefined, key)).status).toBe(200);
  });

  it("ends with the roles of its user, and when the user is blocked", async () => {
    const { userId, key } = await tenants.caller("leaving", [grant("viewer", WHOLE)]);
    const statusOf = async () => (await tenants.ask("GET /config/status", undefined, key)).status;
    expect(await statusOf()).toBe(200);
    await tenants.tables.user.update({ id: userId }, { roles: [] });
    expect(await statusOf()).toBe(403);
    await tenants.tables.user.update({ id: userId }, { roles: [grant("viewer", WHOLE)] });
    expect(await statusOf()).toBe(200);
    await tenants.tables.user.update({ id: userId }, { blocked: true });
    expect([401, 403]).toContain(await statusOf());
  });
});

describe("what is allowed stays so", () => {
  it("lower limits of oneself, and keys within the bounds, with what is not said", async () => {
    const lower = await tenants.ask("POST /key/update", { key: of.ownOfKeys, rpm: 4 }, keys.key);
    expect(lower).toMatchObject({ status: 200, body: { rpm_limit: 4 } });
    const made = await tenants.ask("POST /key/generate", { team_id: "a1" }, keys.key);
    expect(made).toMatchObject({ status: 200, body: { rpm_limit: 100, max_budget: 10 } });
    const admin = {
      user_id: "colleague",
      roles: [{ role: "admin", at: "organization", organization_id: "acme" }],
    };
    expect((await tenants.ask("POST /user/update", admin, orgAdmin.key)).status).toBe(200);
  });
});

function isRefusal(status: number): boolean {
  return [400, 401, 403, 404, 405].includes(status);
}
