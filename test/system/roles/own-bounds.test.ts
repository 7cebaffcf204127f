/**
 * What bounds a caller stays, whichever record it stands on: an access group or a budget that such a
 * record names, the organization of the team, the team of the key. A second user whose key the
 * caller has issued is the caller.
 */

import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Caller,
  grant,
  organization,
  selfService,
  startTenants,
  type Tenants,
} from "./tenants.ts";

const SECRET_FILE = join(tmpdir(), `sluice-own-bounds-${process.pid}`);
const ACME = { organization_id: "acme" };
const AMOUNTS = {
  maxBudgetNanoUsd: 1_000_000_000,
  softBudgetNanoUsd: null,
  budgetDuration: null,
  rpm: null,
  tpm: null,
  maxParallelRequests: null,
};

let tenants: Tenants;
/** Administers acme, where limits of every kind bound her. */
let ann: Caller;
/** Administers acme and other. */
let both: Caller;
/** Administers acme; ann has made her, and has her key. */
let second: Caller;
let ofAnn: string;

beforeAll(async () => {
  writeFileSync(SECRET_FILE, "sk-declared-of-ann-0123456789abcdef0123456789");
  tenants = await startTenants(undefined, {
    sections: [
      `keys:\n  - { alias: declared, key: "\${file:${SECRET_FILE}}", user_id: user-ann, organization_id: acme, budget_id: of-declared, models: [gpt-4o] }`,
    ],
  });
  await tenants.organization("acme");
  await tenants.organization("other");
  for (const id of ["listed", "of-members", "of-bounds", "of-customer", "free"])
    await tenants.group(id, "acme", ["gpt-4o"]);
  for (const id of ["metered", "metered-customer"]) await tenants.group(id, "acme", ["gpt-4o"]);
  await tenants.group("empty", "acme", []);
  for (const id of ["of-customer", "of-declared", "free"])
    await tenants.budget(id, "acme", { maxBudgetNanoUsd: 1_000_000_000 });
  await tenants.tables.organization.update(
    { id: "acme" },
    {
      models: ["listed", "echo", "empty"],
      perModel: { metered: AMOUNTS },
      selfService: selfService({ upperBounds: { models: ["of-bounds", "listed"] } }),
    },
  );
  await tenants.team("core", "acme", { memberDefaults: { models: ["of-members"] } });
  for (const id of ["small", "large", "beside"]) await tenants.team(id, "acme");
  const inAcme = { organizations: ["acme"] };
  ann = await tenants.caller("ann", [grant("admin", organization("acme"))], {
    ...inAcme,
    rpm: 60,
  });
  both = await tenants.caller(
    "both",
    [grant("admin", organization("acme")), grant("admin", organization("other"))],
    { organizations: ["acme", "other"] },
  );
  for (const { userId } of [ann, both])
    for (const id of ["core", "small", "large"]) await tenants.member(userId, id);
  await tenants.customer("c-1", "acme");
  await tenants.tables.customer.update(
    { id: "c-1", organizationId: "acme" },
    {
      models: ["of-customer"],
      budgetId: "of-customer",
      perModel: { "metered-customer": AMOUNTS },
    },
  );
  ofAnn = await tenants.key({ teamId: "small", userId: ann.userId, rpm: 5 });
  await tenants.key({ teamId: "core", userId: ann.userId, customerId: "c-1" });
  const made = { user_id: "user-second", organizations: ["acme"] };
  const roles = [{ role: "admin", at: "organization", ...ACME }];
  await tenants.ask("POST /user/new", { ...made, roles }, ann.key);
  const asked = { user_id: "user-second", admin: true, models: ["listed"], ...ACME };
  const issued = await tenants.ask("POST /key/generate", asked, ann.key);
  if (issued.status !== 200) throw new Error(issued.text);
  const [key, keyId] = [String(issued.body["key"]), String(issued.body["token_id"])];
  second = { name: "second", userId: "user-second", key, keyId, roles: [] };
}, 60_000);

afterAll(() => tenants?.close());

type Attempt = readonly [what: string, call: string, body: () => object];

const widened = (id: string) => ({ access_group: id, models: ["*"] });

/** By the records that a bound names. */
const NAMED: readonly Attempt[] = [
  ["a group of the list", "POST /access_group/update", () => widened("listed")],
  ["a group of the list that has no models", "POST /access_group/update", () => widened("empty")],
  [
    "a new group with the name of a model of the list",
    "POST /access_group/new",
    () => ({ ...widened("echo"), ...ACME }),
  ],
  ["a group of the team's members", "POST /access_group/update", () => widened("of-members")],
  ["a group of the bounds of new keys", "POST /access_group/update", () => widened("of-bounds")],
  ["a group of an own key's customer", "POST /access_group/update", () => widened("of-customer")],
  [
    "a new group with the name of a model of a declared own key",
    "POST /access_group/new",
    () => ({ ...widened("gpt-4o"), ...ACME }),
  ],
  [
    "a group with a limit, without its model",
    "POST /access_group/update",
    () => ({ access_group: "metered", models: ["echo"] }),
  ],
  [
    "the same, without models",
    "POST /access_group/update",
    () => ({ access_group: "metered", models: [] }),
  ],
  [
    "the same, deleted",
    "POST /access_group/delete",
    () => ({ access_groups: ["free", "metered"] }),
  ],
  [
    "the same of an own key's customer",
    "POST /access_group/delete",
    () => ({ access_groups: ["metered-customer"] }),
  ],
  [
    "a budget of an own key's customer",
    "POST /budget/update",
    () => ({ budget_id: "of-customer", max_budget: 2 }),
  ],
  [
    "a budget of a declared own key",
    "POST /budget/update",
    () => ({ budget_id: "of-declared", max_budget: 2 }),
  ],
];

/** By another place. */
const MOVED: readonly Attempt[] = [
  [
    "an own team into another organization",
    "POST /team/update",
    () => ({ team_id: "core", organization_id: "other" }),
  ],
];

/** By a user whom the caller has made. */
const SECOND: readonly Attempt[] = [
  ["the record of the issuer", "POST /user/update", () => ({ user_id: ann.userId, rpm: null })],
  ["a key of the issuer", "POST /key/update", () => ({ key: ofAnn, rpm: null })],
  ["the place of that key", "POST /key/update", () => ({ key: ofAnn, team_id: "large" })],
  [
    "the membership of the issuer",
    "POST /team/member_update",
    () => ({ team_id: "small", user_id: ann.userId, role: "admin" }),
  ],
  [
    "a membership for the issuer",
    "POST /team/member_add",
    () => ({ team_id: "beside", user_id: ann.userId }),
  ],
  ["a team of the issuer", "POST /team/update", () => ({ team_id: "core", member_defaults: {} })],
  [
    "the customer of the issuer's key",
    "POST /customer/update",
    () => ({ customer_id: "c-1", ...ACME, models: [] }),
  ],
  ["a group of the issuer's team", "POST /access_group/update", () => widened("of-members")],
  [
    "a budget of the issuer's key",
    "POST /budget/update",
    () => ({ budget_id: "of-declared", rpm: null, max_budget: 3 }),
  ],
];

/** The status of an attempt, and whether it changed a record. */
async function attempt(caller: Caller, call: string, body: object) {
  const before = await tenants.state();
  const { status, text } = await tenants.ask(call, body, caller.key);
  return { status, text, isChange: (await tenants.state()) !== before };
}

const REFUSED = {
  status: 403,
  text: expect.stringContaining("permission_error") as string,
  isChange: false,
};

describe("a caller's own bound is not widened", () => {
  it.each(NAMED)("by %s", async (_what, call, body) => {
    expect(await attempt(ann, call, body())).toEqual(REFUSED);
  });

  it.each(MOVED)("by %s", async (_what, call, body) => {
    expect(await attempt(both, call, body())).toEqual(REFUSED);
  });

  it("by the deletion of the own key's team, with its keys into another one", async () => {
    const body = { team_ids: ["small"], keys: "move:large" };
    expect(await attempt(ann, "POST /team/delete", body)).toEqual(REFUSED);
  });
});

describe("a second user whose key the caller has issued does not raise", () => {
  it.each(SECOND)("%s", async (_what, call, body) => {
    expect(await attempt(second, call, body())).toEqual(REFUSED);
  });

  it("anything with a key that the second one gave itself", async () => {
    const { body } = await tenants.ask("POST /key/regenerate", { key: second.keyId }, second.key);
    second = { ...second, key: String(body["key"]) };
    const raise = { user_id: ann.userId, rpm: null };
    expect(await attempt(second, "POST /user/update", raise)).toEqual(REFUSED);
  });
});

describe("models that the caller may not use are not given", () => {
  let narrow: Caller;
  let made: Caller;
  let open: string;
  beforeAll(async () => {
    await tenants.organization("models");
    await tenants.team("m1", "models");
    const roles = [grant("admin", organization("models"))];
    const inModels = { organizations: ["models"] };
    narrow = await tenants.caller("narrow", roles, { ...inModels, models: ["echo"] });
    // A second user without a list, whose key the first one has issued.
    const user = { user_id: "user-made", organizations: ["models"] };
    const at = { role: "admin", at: "organization", organization_id: "models" };
    await tenants.ask("POST /user/new", { ...user, roles: [at] }, narrow.key);
    const asked = { user_id: "user-made", admin: true, organization_id: "models" };
    const { body } = await tenants.ask("POST /key/generate", asked, narrow.key);
    made = { ...narrow, key: String(body["key"]), keyId: String(body["token_id"]) };
    open = await tenants.key({ teamId: "m1" });
  });

  it("by a key without a list: a new one has the caller's", async () => {
    for (const { key } of [narrow, made]) {
      const answer = await tenants.ask("POST /key/generate", { team_id: "m1" }, key);
      expect(answer).toMatchObject({ status: 200, body: { models: ["echo"] } });
    }
  });

  it.each([
    ["an empty list", "POST /key/generate", () => ({ team_id: "m1", models: [] })],
    ["none", "POST /key/generate", () => ({ team_id: "m1", models: null })],
    ["another model", "POST /key/generate", () => ({ team_id: "m1", models: ["gpt-4o"] })],
    ["a wider wildcard", "POST /key/generate", () => ({ team_id: "m1", models: ["e*"] })],
    ["a new secret of an open key", "POST /key/regenerate", () => ({ key: open })],
  ])("by %s", async (_what, call, body) => {
    for (const caller of [narrow, made])
      expect(await attempt(caller, call, body())).toEqual(REFUSED);
  });

  it("by a change of a list; what has no list already is changed otherwise", async () => {
    const own = await tenants.key({ teamId: "m1", models: ["echo"] });
    expect(await attempt(narrow, "POST /key/update", { key: own, models: [] })).toEqual(REFUSED);
    const raised = await tenants.ask("POST /key/update", { key: open, rpm: 5 }, narrow.key);
    expect(raised.status).toBe(200);
    const again = await tenants.ask("POST /key/update", { key: open, rpm: 9 }, narrow.key);
    expect(again.status).toBe(200);
    const rotated = await tenants.ask("POST /key/regenerate", { key: own }, narrow.key);
    expect(rotated.status).toBe(200);
  });
});

describe("what bounds others is changed as before", () => {
  it("groups and budgets that bound no caller, and narrower lists", async () => {
    for (const [call, body] of [
      ["POST /access_group/update", widened("free")],
      ["POST /access_group/update", { access_group: "listed", models: [] }],
      ["POST /access_group/new", { access_group: "new", models: ["*"], ...ACME }],
      ["POST /budget/update", { budget_id: "free", max_budget: 2 }],
      ["POST /team/update", { team_id: "free", rpm: 9 }],
    ] as const) {
      if (call === "POST /team/update") await tenants.team("free", "acme", { rpm: 1 });
      expect([call, (await tenants.ask(call, body, ann.key)).status]).toEqual([call, 200]);
    }
    // Another administrator, whose key is of the master key, may do all of it.
    const other = await tenants.caller("other", [grant("admin", organization("acme"))]);
    const raise = { user_id: ann.userId, rpm: 61 };
    expect((await tenants.ask("POST /user/update", raise, other.key)).status).toBe(200);
  });
});
