/** Organizations, users, members, customers, budgets and access groups on the admin listener. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES, recordOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway(createWorkspace());
});
afterAll(async () => {
  await gateway?.dispose();
});

type Answer = readonly [number, Record<string, unknown>];

async function ask(path: string, body?: unknown): Promise<Answer> {
  const response = await admin(gateway, path, body);
  return [response.status, (await response.json()) as Record<string, unknown>];
}

/** The answer of a request that must succeed. */
async function done(path: string, body?: unknown): Promise<Record<string, unknown>> {
  const [status, answer] = await ask(path, body);
  expect([status, answer["error"]]).toEqual([200, undefined]);
  return answer;
}

async function keyFor(fields: object): Promise<{ readonly key: string; readonly id: string }> {
  const made = await done("/key/generate", fields);
  return { key: String(made["key"]), id: String(made["token_id"]) };
}

async function use(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(gateway, { model: "echo", messages: MESSAGES }, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** The fields of the block, in three values: the first, another, and after `null`. */
const BLOCK: readonly (readonly [string, unknown, unknown, unknown])[] = [
  ["models", ["echo"], ["both", "openai/*"], []],
  ["max_budget", 0, 2_500, null],
  ["soft_budget", 0.05, 2_400, null],
  ["budget_duration", "1d", "2w", null],
  ["budget_anchor", "creation", "calendar", "calendar"],
  ["rpm_limit", 0, 60, null],
  ["tpm_limit", 1, 2, null],
  ["max_parallel_requests", 1, 2, null],
  ["budget_id", "shared", "shared-too", null],
  ["budget_share", "pool", "each", "each"],
  ["tags", ["team:x"], ["y"], []],
  ["allowed_tags", ["z"], [], []],
  ["metadata", { a: [1] }, {}, {}],
  ["guardrails", ["pii"], [], []],
  ["blocked", true, false, false],
  ["expires", "2040-01-01T00:00:00.000Z", "2041-01-01T00:00:00.000Z", null],
];
const AMOUNTS = {
  max_budget: 1,
  soft_budget: null,
  budget_duration: "1d",
  rpm_limit: 2,
  tpm_limit: null,
  max_parallel_requests: null,
};

describe("records of tenants", () => {
  beforeAll(async () => {
    for (const budget_id of ["shared", "shared-too"])
      await done("/budget/new", { budget_id, max_budget: 1 });
  });

  it.each(["organization", "user", "customer"])(
    "keep the block of a %s as it is sent, change it and clear it",
    async (kind) => {
      const named = { [`${kind}_id`]: `block-of-${kind}` };
      const [query] = new URLSearchParams(named as Record<string, string>).toString().split("&");
      const made = await done(`/${kind}/new`, named);
      const infoOf = async () => recordOf((await done(`/${kind}/info?${query}`))[`${kind}_info`]);
      for (const [name, value, other, cleared] of BLOCK)
        for (const [sent, kept] of [
          [value, value],
          [undefined, value],
          [other, other],
          [null, cleared],
        ]) {
          const changed = await done(`/${kind}/update`, { ...named, [name]: sent });
          expect([name, changed[name]]).toEqual([name, kept]);
        }
      const per_model = { echo: { max_budget: 1, budget_duration: "1d", rpm: 2 } };
      const changed = await done(`/${kind}/update`, { ...named, per_model });
      expect(changed["per_model"]).toEqual({ echo: AMOUNTS });
      expect(await infoOf()).toMatchObject({ per_model: { echo: AMOUNTS } });
      expect(await done(`/${kind}/update`, { ...named, per_model: null })).toEqual(made);
    },
  );

  it("are named by what is wrong with a field, and nothing changes", async () => {
    await done("/organization/new", { organization_id: "strict", rpm: 1 });
    const wrong: readonly (readonly [string, object])[] = [
      ["max_budgett", { max_budgett: 1 }],
      ["max_budget", { max_budget: -1 }],
      ["per_model.echo.rpm", { per_model: { echo: { rpm: -1 } } }],
      ["per_model.echo.rmp", { per_model: { echo: { rmp: 1 } } }],
      ["budget_anchor", { budget_anchor: "monday" }],
      ["budget_share", { budget_share: "some" }],
      ["self_service.max_keys", { self_service: { max_keys: -1 } }],
      ["self_service.upper_bounds.rpm", { self_service: { upper_bounds: { rpm: "x" } } }],
      ["rpm_limit", { rpm: 2, rpm_limit: 3 }],
      ["soft_budget", { max_budget: 1, soft_budget: 2 }],
    ];
    for (const [param, fields] of wrong) {
      const answer = await ask("/organization/update", {
        organization_id: "strict",
        tpm: 5,
        ...fields,
      });
      expect(answer).toMatchObject([400, { error: { param } }]);
    }
    const info = recordOf(
      (await done("/organization/info?organization_id=strict"))["organization_info"],
    );
    expect(info).toMatchObject({ rpm_limit: 1, tpm_limit: null });
  });

  it.each([
    ["organization", "organization_id"],
    ["user", "user_id"],
    ["customer", "customer_id"],
    ["budget", "budget_id"],
    ["access_group", "access_group"],
  ])("are 404 where a %s does not exist", async (kind, field) => {
    const missing = { [field]: "none-of-these" };
    const ids = { [`${field}s`.replace("access_groups", "access_groups")]: ["none-of-these"] };
    expect((await ask(`/${kind}/info?${field}=none-of-these`))[0]).toBe(404);
    expect((await ask(`/${kind}/update`, missing))[0]).toBe(404);
    expect((await ask(`/${kind}/delete`, ids))[0]).toBe(404);
    expect((await ask(`/${kind}/info`))[0]).toBe(400);
  });
});

describe("ids", () => {
  it("that differ only by case, width or spaces are refused, as are deleted ones", async () => {
    await done("/user/new", { user_id: "Ann@example.com" });
    for (const user_id of ["ann@example.com", " Ann@example.com ", "Ａnn@example.com"])
      expect(await ask("/user/new", { user_id })).toMatchObject([
        400,
        { error: { param: "user_id" } },
      ]);
    expect(await done("/user/delete", { user_ids: ["Ann@example.com"] })).toMatchObject({
      deleted_users: ["Ann@example.com"],
    });
    for (const user_id of ["Ann@example.com", "ANN@example.com"])
      expect(await ask("/user/new", { user_id })).toMatchObject([
        400,
        { error: { message: expect.stringContaining("not used again") as string } },
      ]);
  });

  it("of customers are any bytes, and belong to an organization", async () => {
    await done("/organization/new", { organization_id: "shop" });
    for (const customer_id of ["u1", "U1", " u1"]) {
      await done("/customer/new", { customer_id, organization_id: "shop", rpm: 1 });
      await done("/customer/new", { customer_id, rpm: 2 });
    }
    const info = async (query: string) =>
      recordOf((await done(`/customer/info?${query}`))["customer_info"]);
    expect(await info("customer_id=U1&organization_id=shop")).toMatchObject({
      customer_id: "U1",
      organization_id: "shop",
      rpm_limit: 1,
    });
    expect(await info("customer_id=%20u1")).toMatchObject({
      customer_id: " u1",
      organization_id: null,
      rpm_limit: 2,
    });
    expect((await ask("/customer/new", { customer_id: "a\nb" }))[0]).toBe(400);
    expect((await ask("/customer/new", { customer_id: "x".repeat(257) }))[0]).toBe(400);
    expect((await ask("/customer/new", { customer_id: "c", organization_id: "none" }))[0]).toBe(
      400,
    );
  });
});

describe("lists", () => {
  it("have cursors, filters and a search", async () => {
    await done("/organization/new", { organization_id: "paged" });
    for (let index = 0; index < 5; index++)
      await done("/customer/new", { customer_id: `c${index}%`, organization_id: "paged" });
    const ids: unknown[] = [];
    let cursor: unknown = "";
    do {
      const page = await done(
        `/customer/list?organization_id=paged&limit=2&cursor=${String(cursor)}`,
      );
      const customers = page["customers"] as Record<string, unknown>[];
      expect(customers.length).toBeLessThanOrEqual(2);
      ids.push(...customers.map(({ customer_id: id }) => id));
      cursor = page["next_cursor"];
    } while (cursor !== null);
    expect(ids).toEqual(["c0%", "c1%", "c2%", "c3%", "c4%"]);
    const found = await done("/customer/list?organization_id=paged&search=c3%25");
    expect(found["customers"]).toMatchObject([{ customer_id: "c3%" }]);
    for (const query of ["limit=0", "limit=201", "cursor=x", "page=1"])
      expect((await ask(`/customer/list?${query}`))[0]).toBe(400);
  });
});

describe("members of a team", () => {
  it("are added, changed, listed and taken out, and their keys are blocked", async () => {
    await done("/team/new", { team_id: "band", rpm: 10 });
    await done("/user/new", { user_id: "bob", user_email: "bob@example.com" });
    const both = { team_id: "band", user_id: "bob" };
    expect((await ask("/team/member_add", { ...both, user_id: "none" }))[0]).toBe(404);
    expect((await ask("/team/member_add", { ...both, team_id: "none" }))[0]).toBe(404);
    expect((await ask("/team/member_update", both))[0]).toBe(404);
    expect(await done("/team/member_add", { ...both, rpm: 20 })).toMatchObject({
      role: "member",
      rpm_limit: 20,
      warnings: [expect.stringContaining('rpm 20 can never be reached: the team "band" has 10')],
    });
    expect(await ask("/team/member_add", both)).toMatchObject([
      400,
      { error: { param: "user_id" } },
    ]);
    expect(await done("/team/member_update", { ...both, rpm: null, role: "admin" })).toMatchObject({
      role: "admin",
      rpm_limit: null,
    });
    const listed = await done("/team/member_list?team_id=band");
    expect(listed).toMatchObject({ members: [{ ...both, role: "admin" }], next_cursor: null });
    const { key, id } = await keyFor(both);
    const other = await keyFor({ team_id: "band" });
    expect(await use(key)).toBe(200);
    expect(await done("/team/member_delete", both)).toEqual({
      ...both,
      blocked_keys: [id],
      blocked_keys_total: 1,
    });
    expect(await use(key)).toBe(401);
    expect(await use(other.key)).toBe(200);
    expect((await ask("/team/member_delete", both))[0]).toBe(404);
    expect((await ask("/team/member_info?team_id=band&user_id=bob"))[0]).toBe(404);
  });

  it("leave its organization with their keys", async () => {
    for (const organization_id of ["old", "new"])
      await done("/organization/new", { organization_id });
    await done("/team/new", { team_id: "of-old", organization_id: "old" });
    await done("/user/new", { user_id: "eve", organizations: ["old", "new"] });
    await done("/team/member_add", { team_id: "of-old", user_id: "eve" });
    const inTeam = await keyFor({ user_id: "eve", team_id: "of-old" });
    const own = await keyFor({ user_id: "eve", organization_id: "old" });
    const stays = await keyFor({ user_id: "eve", organization_id: "new" });
    for (const { key } of [inTeam, own, stays]) expect(await use(key)).toBe(200);
    const left = await done("/user/update", { user_id: "eve", organizations: ["new"] });
    expect(left).toMatchObject({
      organizations: ["new"],
      left_teams: ["of-old"],
      blocked_keys: [inTeam.id, own.id],
      blocked_keys_total: 2,
    });
    expect([await use(inTeam.key), await use(own.key), await use(stays.key)]).toEqual([
      401, 401, 200,
    ]);
  });
});

describe("deletions", () => {
  it("of a team ask what becomes of its keys", async () => {
    const target = "kept-team";
    for (const team_id of ["asked", "blocked-team", target]) await done("/team/new", { team_id });
    const { key, id } = await keyFor({ team_id: "asked" });
    const blocked = await keyFor({ team_id: "blocked-team" });
    expect(await ask("/team/delete", { team_ids: ["asked"] })).toMatchObject([
      400,
      { error: { param: "keys", message: expect.stringContaining("1 key") as string } },
    ]);
    expect((await ask("/team/delete", { team_ids: ["asked"], keys: "move:none" }))[0]).toBe(400);
    expect(await use(key)).toBe(200);
    expect(
      await done("/team/delete", { team_ids: ["asked"], keys: `move:${target}` }),
    ).toMatchObject({ deleted_teams: ["asked"], moved_keys: [id] });
    expect(await use(key)).toBe(200);
    expect(await done("/team/delete", { team_ids: ["blocked-team"], keys: "block" })).toMatchObject(
      { blocked_keys: [blocked.id] },
    );
    expect(await use(blocked.key)).toBe(401);
    // An unblocked key of a team that is gone stays refused, until it belongs to another one.
    await done("/key/unblock", { key: blocked.id });
    expect(await use(blocked.key)).toBe(401);
    await done("/key/update", { key: blocked.id, team_id: target });
    expect(await use(blocked.key)).toBe(200);
  });

  it("are refused while others refer to the record", async () => {
    await done("/organization/new", { organization_id: "busy" });
    await done("/budget/new", { budget_id: "busy-budget", organization_id: "busy" });
    await done("/team/new", {
      team_id: "busy-team",
      organization_id: "busy",
      budget_id: "busy-budget",
    });
    expect(await ask("/organization/delete", { organization_ids: ["busy"] })).toMatchObject([
      400,
      {
        error: { param: "organization_ids", message: expect.stringContaining("in use") as string },
      },
    ]);
    expect((await ask("/budget/delete", { budget_ids: ["busy-budget"] }))[0]).toBe(400);
    await done("/organization/new", { organization_id: "idle" });
    expect(
      await ask("/key/generate", { organization_id: "idle", team_id: "busy-team" }),
    ).toMatchObject([400, { error: { param: "organization_id" } }]);
    expect((await ask("/key/generate", { budget_id: "busy-budget" }))[0]).toBe(400);
    await done("/team/delete", { team_ids: ["busy-team"] });
    await done("/budget/delete", { budget_ids: ["busy-budget"] });
    await done("/organization/delete", { organization_ids: ["busy"] });
  });
});

describe("limits", () => {
  it("of everything that a key belongs to hold from the next request on", async () => {
    await done("/organization/new", { organization_id: "bounded" });
    await done("/team/new", { team_id: "bounded-team", organization_id: "bounded" });
    await done("/user/new", { user_id: "bounded-user" });
    await done("/team/member_add", { team_id: "bounded-team", user_id: "bounded-user" });
    const { key } = await keyFor({ team_id: "bounded-team", user_id: "bounded-user" });
    const steps: readonly (readonly [string, object])[] = [
      ["/organization/update", { organization_id: "bounded" }],
      ["/team/update", { team_id: "bounded-team" }],
      ["/user/update", { user_id: "bounded-user" }],
      ["/team/member_update", { team_id: "bounded-team", user_id: "bounded-user" }],
    ];
    for (const [path, named] of steps) {
      expect(await use(key)).toBe(200);
      await done(path, { ...named, rpm: 0 });
      expect(await use(key)).toBe(429);
      await done(path, { ...named, rpm: null, blocked: true });
      expect(await use(key)).toBe(401);
      await done(path, { ...named, blocked: false, models: ["other"] });
      expect(await use(key)).toBe(404);
      await done(path, { ...named, models: null });
    }
    expect(await use(key)).toBe(200);
  });

  it("by an access group and a budget change with them", async () => {
    await done("/access_group/new", { access_group: "small", models: ["echo"] });
    await done("/budget/new", { budget_id: "named-budget" });
    const { key } = await keyFor({ models: ["small"], budget_id: "named-budget" });
    expect(await use(key)).toBe(200);
    await done("/access_group/update", { access_group: "small", models: ["other"] });
    expect(await use(key)).toBe(404);
    await done("/access_group/update", { access_group: "small", models: ["echo", "other"] });
    await done("/budget/update", { budget_id: "named-budget", rpm: 0 });
    expect(await use(key)).toBe(429);
    await done("/budget/update", { budget_id: "named-budget", rpm: null });
    expect(await use(key)).toBe(200);
  });
});

describe("the user of a key", () => {
  it("is a user as the id is written, or a label that no user ever had", async () => {
    await done("/user/new", { user_id: "Carl" });
    for (const user_id of ["carl", " Carl", "Ｃarl"])
      expect(await ask("/key/generate", { user_id })).toMatchObject([
        400,
        { error: { param: "user_id" } },
      ]);
    const { id, key } = await keyFor({ user_id: "Carl" });
    expect((await ask("/key/update", { key: id, user_id: "CARL" }))[0]).toBe(400);
    await keyFor({ user_id: "a label" });
    expect(await use(key)).toBe(200);
    expect(await done("/user/delete", { user_ids: ["Carl"] })).toMatchObject({
      blocked_keys: [id],
    });
    // Without the user, none of the user's limits would hold.
    expect((await ask("/key/unblock", { key: id }))[0]).toBe(400);
    expect((await ask("/key/generate", { user_id: "carl" }))[0]).toBe(400);
    expect(await use(key)).toBe(401);
    await done("/key/update", { key: id, user_id: null, blocked: false });
    expect(await use(key)).toBe(200);
  });
});

describe("roles and the audit", () => {
  it("of users are kept, and every change is a line with before and after", async () => {
    await done("/organization/new", { organization_id: "audited" });
    const roles = [{ role: "admin", at: "organization", organization_id: "audited" }];
    await done("/user/new", {
      user_id: "boss",
      roles: [...roles, { role: "viewer", at: "whole" }],
    });
    for (const wrong of [[{ role: "owner", at: "whole" }], [{ role: "admin" }], "admin"])
      expect((await ask("/user/update", { user_id: "boss", roles: wrong }))[0]).toBe(400);
    const none = [{ role: "keys", at: "team", team_id: "none" }];
    expect((await ask("/user/update", { user_id: "boss", roles: none }))[0]).toBe(400);
    expect(await done("/user/update", { user_id: "boss", roles })).toMatchObject({ roles });
    const audit = await done("/audit?object=user:boss");
    expect(audit["lines"]).toMatchObject([
      { action: "user.update", actor: "master", outcome: "done", after: { roles } },
      { action: "user.create", after: { user_id: "boss" } },
    ]);
  });
});
