/**
 * Scripts that come from LiteLLM: users, members, organizations, budgets, customers and groups of
 * models, by LiteLLM's routes and fields.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    plugins: ["@sluice/compat-litellm"],
    sections: ["extensions:\n  litellm: { administration: public }"],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

type Json = Record<string, unknown>;

async function ask(
  path: string,
  body?: object,
  method = body === undefined ? "GET" : "POST",
  key = gateway.masterKey,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

const talk = (key: string, body: object = {}) =>
  chat(
    gateway,
    { model: "gpt-4o-mini", messages: MESSAGES, ...body },
    { headers: { authorization: `Bearer ${key}` } },
  );

describe("keys and teams", () => {
  it("have limits by model, organizations and aliases", async () => {
    const made = await ask("/key/generate", {
      model_rpm_limit: { "gpt-4o-mini": 1 },
      model_max_budget: { "gpt-4o": { budget_limit: 2, time_period: "1d" } },
    });
    expect(made.body.per_model).toMatchObject({
      "gpt-4o-mini": { rpm_limit: 1 },
      "gpt-4o": { max_budget: 2, budget_duration: "1d" },
    });
    const key = String(made.body.key);
    expect((await talk(key)).status).toBe(200);
    expect((await talk(key)).status).toBe(429);
    const team = await ask("/team/new", {
      team_id: "aliased",
      model_aliases: { small: "gpt-4o-mini" },
      team_member_budget: 3,
    });
    expect(team.body).toMatchObject({
      model_aliases: { small: "gpt-4o-mini" },
      member_defaults: { max_budget: 3 },
    });
  });
});

describe("users", () => {
  it("are made with a key and teams, read, listed, changed and deleted", async () => {
    await ask("/team/new", { team_id: "t-users" });
    const made = await ask("/user/new", {
      user_id: "u-1",
      user_email: "One@example.com",
      user_role: "internal_user",
      max_budget: 5,
      models: [],
      teams: [{ team_id: "t-users", user_role: "admin", max_budget_in_team: 1 }],
      key_alias: "of-u-1",
      send_invite_email: false,
    });
    expect(made).toMatchObject({
      status: 200,
      body: { user_id: "u-1", max_budget: 5, teams: ["t-users"] },
    });
    expect((await talk(String(made.body.key))).status).toBe(200);
    const info = await ask("/user/info?user_id=u-1");
    expect(info.body).toMatchObject({
      user_id: "u-1",
      user_info: { user_email: "One@example.com", teams: ["t-users"] },
      keys: [{ key_alias: "of-u-1" }],
      teams: [{ team_id: "t-users" }],
    });
    expect((await ask("/v2/user/info?user_id=u-1")).body).toMatchObject({ user_id: "u-1" });
    const changed = await ask("/user/update", { user_email: "one@example.com", max_budget: null });
    expect(changed.body).toMatchObject({ user_id: "u-1", data: { max_budget: null } });
    expect((await ask("/user/update", { user_email: "none@example.com" })).status).toBe(404);
    expect((await ask("/user/list?user_email=ONE@")).body).toMatchObject({
      users: [{ user_id: "u-1" }],
      total: 1,
      page: 1,
    });
    expect(await ask("/user/delete", { user_ids: ["u-1"] })).toEqual({ status: 200, body: 1 });
    expect((await talk(String(made.body.key))).status).toBe(401);
    expect((await ask("/user/info?user_id=u-1")).status).toBe(404);
  });

  it("are made without a key where the body says so, and get no role by it", async () => {
    const made = await ask("/user/new", { auto_create_key: false, user_role: "proxy_admin" });
    expect(made.body).toMatchObject({ key: "", ignored_fields: ["user_role"] });
    const { key } = (await ask("/key/generate", { user_id: made.body.user_id })).body as {
      key: string;
    };
    expect((await ask("/user/list", undefined, "GET", key)).status).toBe(403);
  });
});

describe("members", () => {
  it("are added, also users that do not exist, changed and removed", async () => {
    await ask("/team/new", {
      team_id: "t-members",
      members_with_roles: [{ role: "admin", user_id: "m-admin" }],
    });
    const added = await ask("/team/member_add", {
      team_id: "t-members",
      member: [
        { role: "user", user_id: "m-1" },
        { role: "user", user_email: "m2@example.com" },
      ],
      max_budget_in_team: 2,
    });
    expect(added.status).toBe(200);
    expect(added.body.updated_users).toMatchObject([{ user_id: "m-1" }, { role: "user" }]);
    const again = await ask("/team/member_add", {
      team_id: "t-members",
      member: { role: "user", user_id: "m-1" },
    });
    expect(again.status).toBe(400);
    const changed = await ask("/team/member_update", {
      team_id: "t-members",
      user_email: "M2@example.com",
      role: "admin",
      max_budget_in_team: 7,
    });
    expect(changed.body).toMatchObject({ role: "admin", max_budget_in_team: 7 });
    const info = await ask("/team/info?team_id=t-members");
    expect((info.body.team_info as Json).members_with_roles).toHaveLength(3);
    expect(info.body.team_memberships).toContainEqual(
      expect.objectContaining({
        user_id: "m-1",
        litellm_budget_table: expect.objectContaining({ max_budget: 2 }) as Json,
      }),
    );
    const removed = await ask("/team/member_delete", { team_id: "t-members", user_id: "m-1" });
    expect(removed.status).toBe(200);
    const left = await ask("/team/info?team_id=t-members");
    expect((left.body.team_info as Json).members_with_roles).toHaveLength(2);
  });
});

describe("lists of models", () => {
  it("have LiteLLM's words, and members have the models of the team's members", async () => {
    await ask("/team/new", {
      team_id: "t-models",
      models: ["all-proxy-models"],
      default_team_member_models: ["gpt-4o-mini"],
      members_with_roles: [{ role: "user", user_id: "m-plain" }],
    });
    const info = await ask("/team/info?team_id=t-models");
    expect(info.body.team_info).toMatchObject({
      models: [],
      member_defaults: { models: ["gpt-4o-mini"] },
    });
    await ask("/team/member_add", {
      team_id: "t-models",
      member: { role: "user", user_id: "m-more" },
      allowed_models: ["gpt-4o"],
    });
    const statuses: unknown[] = [];
    for (const user_id of ["m-plain", "m-more", undefined]) {
      const given = { team_id: "t-models", user_id, models: ["all-team-models"] };
      const { key } = (await ask("/key/generate", given)).body as { key: string };
      for (const model of ["gpt-4o-mini", "gpt-4o"])
        statuses.push((await talk(key, { model })).status);
    }
    expect(statuses).toEqual([200, 404, 404, 200, 200, 200]);
    const none = (await ask("/key/generate", { models: ["no-default-models"] })).body;
    expect((await talk(String(none.key))).status).toBe(404);
    const user = await ask("/user/new", { user_id: "m-none", models: ["no-default-models"] });
    expect(user).toMatchObject({ status: 400, body: { error: { param: "models" } } });
  });
});

describe("organizations", () => {
  it("are made, changed, joined, listed and deleted", async () => {
    const made = await ask("/organization/new", {
      organization_id: "o-1",
      organization_alias: "First",
      max_budget: 100,
      models: [],
    });
    expect(made.body).toMatchObject({
      organization_id: "o-1",
      litellm_budget_table: { max_budget: 100 },
    });
    const changed = await ask(
      "/organization/update",
      { organization_id: "o-1", rpm_limit: 5 },
      "PATCH",
    );
    expect(changed.body).toMatchObject({ rpm_limit: 5, max_budget: 100 });
    await ask("/user/new", { user_id: "o-user", auto_create_key: false });
    const joined = await ask("/organization/member_add", {
      organization_id: "o-1",
      member: { role: "internal_user", user_id: "o-user" },
    });
    expect(joined.body).toMatchObject({ updated_users: [{ organizations: ["o-1"] }] });
    const info = await ask("/organization/info?organization_id=o-1");
    expect(info.body).toMatchObject({ members: [{ user_id: "o-user" }], teams: [] });
    const left = await ask(
      "/organization/member_delete",
      { organization_id: "o-1", user_id: "o-user" },
      "DELETE",
    );
    expect(left.body).toMatchObject({ updated_users: [{ organizations: [] }] });
    expect((await ask("/organization/list")).body).toMatchObject([{ organization_id: "o-1" }]);
    const gone = await ask("/organization/delete", { organization_ids: ["o-1"] }, "DELETE");
    expect(gone.body).toMatchObject([{ organization_id: "o-1", organization_alias: "First" }]);
    expect((await ask("/organization/info?organization_id=o-1")).status).toBe(404);
  });
});

describe("budgets and customers", () => {
  it("are made, shared, read and deleted", async () => {
    const budget = await ask("/budget/new", { budget_id: "b-1", max_budget: 0, tpm_limit: 9 });
    expect(budget.body).toMatchObject({ budget_id: "b-1", max_budget: 0 });
    expect((await ask("/budget/new", { max_budget: 1 })).body.budget_id).toBeTypeOf("string");
    expect((await ask("/budget/update", { budget_id: "b-1", tpm_limit: null })).body).toMatchObject(
      { tpm_limit: null, max_budget: 0 },
    );
    expect((await ask("/budget/info", { budgets: ["b-1", "nothere"] })).body).toMatchObject([
      { budget_id: "b-1" },
    ]);
    const made = await ask("/customer/new", { user_id: "c-1", alias: "One", budget_id: "b-1" });
    expect(made.body).toMatchObject({ user_id: "c-1", alias: "One", budget_id: "b-1" });
    expect((await ask("/end_user/info?end_user_id=c-1")).body).toMatchObject({ user_id: "c-1" });
    const free = await ask("/customer/update", { user_id: "c-1", budget_id: null });
    expect(free.body.budget_id).toBeNull();
    expect((await ask("/customer/list")).body).toMatchObject([{ user_id: "c-1" }]);
    expect((await ask("/budget/list")).body).toContainEqual(
      expect.objectContaining({ budget_id: "b-1" }),
    );
    expect((await ask("/budget/delete", { id: "b-1" })).body).toMatchObject({ budget_id: "b-1" });
    expect((await ask("/customer/delete", { user_ids: ["c-1"] })).body).toMatchObject({
      deleted_customers: 1,
    });
    expect((await ask("/customer/info?end_user_id=c-1")).status).toBe(404);
  });

  it("block: a customer that was never seen too, and it counts at once", async () => {
    const { key } = (await ask("/key/generate", {})).body as { key: string };
    const blocked = await ask("/customer/block", { user_ids: ["c-blocked"] });
    expect(blocked.body).toMatchObject({
      blocked_users: [{ user_id: "c-blocked", blocked: true }],
    });
    expect((await talk(key, { user: "c-blocked" })).status).not.toBe(200);
    expect((await talk(key, { user: "c-other" })).status).toBe(200);
    await ask("/customer/unblock", { user_ids: ["c-blocked"] });
    expect((await talk(key, { user: "c-blocked" })).status).toBe(200);
  });
});

describe("groups of models", () => {
  it("are made, changed and deleted", async () => {
    const made = await ask("/access_group/new", { access_group: "small", model_names: ["gpt-4o"] });
    expect(made.body).toMatchObject({ access_group: "small", model_names: ["gpt-4o"] });
    await ask("/access_group/small/update", { model_names: ["gpt-4o-mini"] }, "PUT");
    expect((await ask("/access_group/small/info")).body).toMatchObject({
      model_names: ["gpt-4o-mini"],
    });
    expect((await ask("/access_group/list")).body).toMatchObject({
      access_groups: [{ access_group: "small" }],
    });
    expect((await ask("/access_group/small/delete", undefined, "DELETE")).status).toBe(200);
    expect((await ask("/access_group/small/info")).status).toBe(404);
  });
});

describe("a caller without a role", () => {
  it("is refused on every route", async () => {
    const { key } = (await ask("/key/generate", {})).body as { key: string };
    for (const [path, body, method] of [
      ["/user/new", {}, "POST"],
      ["/user/update", { user_id: "u" }, "POST"],
      ["/user/list", undefined, "GET"],
      ["/user/delete", { user_ids: ["u"] }, "POST"],
      ["/organization/new", { organization_alias: "o" }, "POST"],
      ["/organization/update", { organization_id: "o" }, "PATCH"],
      ["/organization/list", undefined, "GET"],
      ["/organization/delete", { organization_ids: ["o"] }, "DELETE"],
      ["/budget/new", { budget_id: "b" }, "POST"],
      ["/budget/list", undefined, "GET"],
      ["/customer/new", { user_id: "c" }, "POST"],
      ["/customer/list", undefined, "GET"],
      ["/customer/block", { user_ids: ["c"] }, "POST"],
      ["/team/member_add", { team_id: "aliased", member: { user_id: "x", role: "admin" } }, "POST"],
      ["/access_group/list", undefined, "GET"],
    ] as const) {
      const { status } = await ask(path, body, method, key);
      expect([path, status === 403 || status === 404]).toEqual([path, true]);
    }
  });
});
