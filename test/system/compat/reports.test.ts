/** Scripts that come from LiteLLM: activity by day, pages of rows, and further routes of tenants. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
/** Keys by their aliases. */
const keys = new Map<string, string>();
const TODAY = new Date().toISOString().slice(0, 10);
/** Two days: a test may run over midnight. */
const DATES = `start_date=${TODAY}&end_date=${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}`;
const CENT = 0.01;

type Json = Record<string, unknown>;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    models: ["a", "b"].map(
      (id) =>
        `{ id: ${id}, targets: [{ provider: openai, model: ${id}, price: { input: 0, output: 0, request: ${CENT} } }] }`,
    ),
    plugins: ["@sluice/compat-litellm"],
    sections: ["extensions:\n  litellm: { administration: public }"],
  });
  await ask("/team/new", { team_id: "t1", team_alias: "One" });
  await ask("/team/new", { team_id: "t2" });
  for (const [alias, fields] of [
    ["k1", { team_id: "t1", tags: ["red"] }],
    ["k2", { team_id: "t2", user_id: "ann" }],
  ] as const) {
    const { body } = await ask("/key/generate", { key_alias: alias, ...fields });
    keys.set(alias, String(body.key));
  }
  for (const [alias, model, user] of [
    ["k1", "a", "c1"],
    ["k1", "b", "c1"],
    ["k1", "a", "c2"],
    ["k2", "a", undefined],
  ] as const)
    await talk(alias, { model, ...(user !== undefined && { user }) });
  await eventually("the rows", async () => (await logs("")).length === 4);
}, 60_000);

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

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

async function talk(alias: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${keys.get(alias)}` };
  const response = await chat(gateway, { messages: MESSAGES, ...body }, { headers });
  expect(response.status).toBe(200);
  await response.text();
}

async function logs(more: string, key?: string): Promise<readonly Json[]> {
  const { body } = await ask(`/spend/logs/v2?${DATES}${more}`, undefined, "GET", key);
  return body.data as readonly Json[];
}

interface Activity {
  readonly results: readonly {
    readonly metrics: Json;
    readonly breakdown: Readonly<
      Record<string, Readonly<Record<string, { readonly metrics: Json }>>>
    >;
  }[];
  readonly metadata: Json;
}

async function activity(kind: string, more = "", key?: string): Promise<Activity> {
  const answer = await ask(`/${kind}/daily/activity?${DATES}${more}`, undefined, "GET", key);
  expect(answer.status).toBe(200);
  return answer.body as unknown as Activity;
}

/** Requests by the values of a breakdown, over all days. */
function requestsOf({ results }: Activity, list: string): Json {
  const found: Record<string, number> = {};
  for (const { breakdown } of results)
    for (const [name, { metrics }] of Object.entries(breakdown[list] ?? {}))
      found[name] = (found[name] ?? 0) + Number(metrics.api_requests);
  return found;
}

describe("activity by day", () => {
  it("adds up rows by team, model, provider and key, and equals them", async () => {
    const teams = await activity("team");
    expect(teams.metadata).toMatchObject({
      total_spend: 4 * CENT,
      total_api_requests: 4,
      total_successful_requests: 4,
      total_failed_requests: 0,
      page: 1,
      has_more: false,
    });
    expect(requestsOf(teams, "entities")).toEqual({ t1: 3, t2: 1 });
    expect(requestsOf(teams, "models")).toEqual({ a: 3, b: 1 });
    expect(requestsOf(teams, "providers")).toEqual({ openai: 4 });
    expect(Object.values(requestsOf(teams, "api_keys")).toSorted()).toEqual([1, 3]);
    const one = await activity("team", "&team_ids=t1");
    expect(one.metadata).toMatchObject({ total_spend: 3 * CENT, total_api_requests: 3 });
    const other = await activity("team", "&exclude_team_ids=t1");
    expect([other.metadata["total_api_requests"], requestsOf(other, "entities")]).toEqual([
      1,
      { t2: 1 },
    ]);
  });

  it("knows users, tags, customers and organizations, and filters by model", async () => {
    expect(requestsOf(await activity("user"), "entities")).toEqual({ Unassigned: 3, ann: 1 });
    expect(requestsOf(await activity("tag"), "entities")).toEqual({ red: 3 });
    expect(requestsOf(await activity("customer"), "entities")).toEqual({ c1: 2, c2: 1 });
    expect(requestsOf(await activity("customer", "&end_user_ids=c1,c2"), "entities")).toEqual({
      c1: 2,
      c2: 1,
    });
    expect((await activity("organization")).metadata["total_api_requests"]).toBe(4);
    expect((await activity("user", "&model=b")).metadata["total_api_requests"]).toBe(1);
  });

  it("shows a key its own rows, and needs dates", async () => {
    const own = await activity("user", "", keys.get("k2"));
    expect(own.metadata["total_api_requests"]).toBe(1);
    expect(await ask("/team/daily/activity")).toMatchObject({
      status: 400,
      body: { error: { param: "start_date" } },
    });
    const many = Array.from({ length: 51 }, (_, at) => `t${at}`).join(",");
    expect((await ask(`/team/daily/activity?${DATES}&team_ids=${many}`)).status).toBe(400);
  });

  it("is there for all together, by model too, and lists the tags", async () => {
    const all = await ask(`/global/activity?${DATES}`);
    expect(all.body).toMatchObject({ sum_api_requests: 4 });
    const [day] = all.body.daily_data as readonly Json[];
    expect(day?.["date"]).toMatch(/^[A-Z][a-z]{2} \d\d$/);
    const models = await ask(`/global/activity/model?${DATES}`);
    expect(models.body).toMatchObject([
      { model: "a", sum_api_requests: 3 },
      { model: "b", sum_api_requests: 1 },
    ]);
    expect((await ask("/tag/list")).body).toMatchObject([{ name: "red", models: null }]);
  });
});

describe("rows in pages", () => {
  it("have a number and a filter, newest first", async () => {
    const { body } = await ask(`/spend/logs/v2?${DATES}&page=2&page_size=3`);
    expect(body).toMatchObject({ total: 4, page: 2, page_size: 3, total_pages: 2 });
    expect(body.data).toHaveLength(1);
    expect(body.data).toMatchObject([{ metadata: { user_api_key_alias: "k1" } }]);
    const times = (await logs("")).map(({ startTime }) => String(startTime));
    expect(times).toEqual(times.toSorted().toReversed());
    for (const [filter, count] of [
      ["team_id=t1", 3],
      ["end_user=c2", 1],
      ["model=b", 1],
      ["key_alias=k", 4],
      ["key_alias=k2", 1],
      ["status_filter=failure", 0],
      ["status_filter=success", 4],
      ["min_spend=0.01", 4],
      ["max_spend=0.005", 0],
      ["user_id=ann", 1],
    ] as const)
      expect([filter, (await logs(`&${filter}`)).length]).toEqual([filter, count]);
    const time = `start_date=${TODAY} 00:00:00&end_date=${TODAY} 23:59:59`;
    expect((await ask(`/spend/logs/v2?${time}`)).status).toBe(200);
  });

  it("are a key's own, and want dates and pages", async () => {
    expect(await logs("", keys.get("k2"))).toHaveLength(1);
    for (const [query, param] of [
      ["", "start_date"],
      [`${DATES}&page=0`, "page"],
      [`${DATES}&page_size=101`, "page_size"],
      [`${DATES}&min_spend=x`, "min_spend"],
      [`start_date=yesterday&end_date=${TODAY}`, "start_date"],
    ] as const)
      expect(await ask(`/spend/logs/v2?${query}`)).toMatchObject({
        status: 400,
        body: { error: { param } },
      });
  });
});

describe("tenants", () => {
  it("members of organizations are read back, and get no role or budget there", async () => {
    await ask("/organization/new", { organization_id: "o" });
    await ask("/user/new", { user_id: "eve", auto_create_key: false });
    const named = { organization_id: "o", user_id: "eve" };
    const update = (fields: object) =>
      ask("/organization/member_update", { ...named, ...fields }, "PATCH");
    expect((await update({ role: "internal_user" })).status).toBe(404);
    await ask("/organization/member_add", { organization_id: "o", member: { user_id: "eve" } });
    expect(await update({ role: "internal_user" })).toMatchObject({
      status: 200,
      body: { user_id: "eve", organization_id: "o", user_role: "internal_user" },
    });
    expect((await update({ role: "org_admin" })).status).toBe(400);
    expect((await update({ max_budget_in_organization: 3 })).status).toBe(400);
  });

  it("permissions of members are whether they make keys", async () => {
    const list = async () =>
      (await ask("/team/permissions_list?team_id=t1")).body.team_member_permissions;
    expect(await list()).toEqual(["/key/info", "/key/health"]);
    const set = (team_member_permissions: readonly string[]) =>
      ask("/team/permissions_update", { team_id: "t1", team_member_permissions });
    expect(await set(["/key/generate", "/key/delete"])).toMatchObject({
      status: 200,
      body: {
        team_member_permissions: expect.arrayContaining(["/key/generate"]) as string[],
        ignored_permissions: ["/key/delete"],
        self_service: { max_keys: 10 },
      },
    });
    expect(await list()).toContain("/key/generate");
    await set([]);
    expect(await list()).toEqual(["/key/info", "/key/health"]);
  });

  it("unified access groups are assigned to teams and keys, and read back", async () => {
    await ask("/team/update", { team_id: "t2", models: ["b"] });
    const made = await ask("/v1/access_group", {
      access_group_name: "gold",
      access_model_names: ["a"],
      access_mcp_server_ids: [],
      assigned_team_ids: ["t2"],
    });
    expect(made).toMatchObject({
      status: 201,
      body: { access_group_id: "gold", access_model_names: ["a"], assigned_team_ids: ["t2"] },
    });
    await talk("k2", { model: "a" });
    const changed = await ask(
      "/v1/access_group/gold",
      { access_model_names: ["a", "b"], assigned_team_ids: [] },
      "PUT",
    );
    expect(changed.body).toMatchObject({ access_model_names: ["a", "b"], assigned_team_ids: [] });
    expect((await ask("/v1/unified_access_group")).body).toMatchObject([
      { access_group_id: "gold" },
    ]);
    const refused = await ask("/v1/access_group", {
      access_group_name: "mcp",
      access_mcp_server_ids: ["x"],
    });
    expect(refused.status).toBe(400);
    expect((await ask("/v1/access_group/gold", undefined, "DELETE")).status).toBe(200);
    expect((await ask("/v1/access_group/gold")).status).toBe(404);
  });
});
