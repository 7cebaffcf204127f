/** Scripts that come from LiteLLM: keys, teams and reports, by the routes and fields of LiteLLM. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES, rowsOf } from "../support/client.ts";
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

/** Asks either listener: LiteLLM has one address. */
async function ask(
  path: string,
  body?: object,
  { key = gateway.masterKey, at = gateway.publicUrl, method = "", headers = {} } = {},
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${at}${path}`, {
    method: method === "" ? (body === undefined ? "GET" : "POST") : method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

const talk = (key: string, model = "gpt-4o-mini") =>
  chat(gateway, { model, messages: MESSAGES }, { headers: { authorization: `Bearer ${key}` } });

describe.each(["public", "admin"] as const)("keys on the %s listener", (listener) => {
  const at = () => ({ at: listener === "public" ? gateway.publicUrl : gateway.adminUrl });

  it("are made from every field that LiteLLM's tools send, and read back", async () => {
    const alias = `tool-${listener}`;
    const made = await ask(
      "/key/generate",
      {
        key_alias: alias,
        models: ["gpt-4o-mini"],
        max_budget: 5,
        budget_duration: "30d",
        tpm_limit: 1_000,
        rpm_limit: 100,
        max_parallel_requests: 7,
        metadata: { purpose: "tool" },
        user_id: "",
        team_id: "",
        aliases: {},
        config: {},
        permissions: { get_spend_routes: true },
        allowed_cache_controls: [],
        key_type: "llm_api",
        send_invite_email: false,
        spend: 0,
        blocked: false,
        budget_reset_at: null,
        user_name: null,
      },
      at(),
    );
    expect(made).toMatchObject({
      status: 200,
      body: {
        key: expect.stringMatching(/^sk-/) as string,
        key_alias: alias,
        max_budget: 5,
        spend: 0,
        aliases: {},
        ignored_fields: ["permissions"],
      },
    });
    const { key, token } = made.body as { key: string; token: string };
    const info = await ask(`/key/info?key=${token}`, undefined, at());
    expect(info.body.info).toMatchObject({
      models: ["gpt-4o-mini"],
      rpm_limit: 100,
      metadata: { purpose: "tool" },
    });
    expect((await talk(key)).status).toBe(200);
    const list = await ask("/key/list?size=100", undefined, at());
    expect(list.body.keys).toContain(token);
    expect((await ask("/key/aliases?size=100", undefined, at())).body.aliases).toContain(alias);
    const both = await ask("/v2/key/info", { keys: [token] }, at());
    expect(both.body.info).toMatchObject([{ key_alias: alias }]);
  });

  it("have names of their own for models, before those of the team", async () => {
    const team_id = `aliased-${listener}`;
    const model_aliases = { tiny: "gpt-4o", ours: "gpt-4o-mini" };
    expect((await ask("/team/new", { team_id, model_aliases }, at())).status).toBe(200);
    const aliases = { tiny: "gpt-4o-mini", shut: "gpt-4o" };
    const asked = { team_id, models: ["gpt-4o-mini"], aliases };
    const made = await ask("/key/generate", asked, at());
    expect(made).toMatchObject({ status: 200, body: { aliases, model_aliases: aliases } });
    expect(made.body).not.toHaveProperty("ignored_fields");
    const { key, token } = made.body as { key: string; token: string };
    const tiny = await talk(key, "tiny");
    expect(tiny.status).toBe(200);
    expect(await rowsOf(gateway, tiny.headers.get("x-request-id"))).toMatchObject([
      { model: "gpt-4o-mini" },
    ]);
    expect((await talk(key, "ours")).status).toBe(200);
    // The list of the key holds for the model that a name stands for.
    expect((await talk(key, "shut")).status).toBe(404);
    const wrong = await ask("/key/update", { key, aliases: { tiny: 1 } }, at());
    expect(wrong.status).toBe(400);
    expect((await talk(key, "tiny")).status).toBe(200);
    const changed = await ask("/key/update", { key, aliases: { little: "gpt-4o-mini" } }, at());
    expect(changed).toMatchObject({ status: 200, body: { aliases: { little: "gpt-4o-mini" } } });
    expect((await talk(key, "little")).status).toBe(200);
    // What the key no longer names is the team's again: a model that the key may not use.
    expect((await talk(key, "tiny")).status).toBe(404);
    const info = await ask(`/key/info?key=${token}`, undefined, at());
    expect(info.body.info).toMatchObject({ aliases: { little: "gpt-4o-mini" } });
    const cleared = await ask("/key/update", { key, aliases: null }, at());
    expect(cleared.body).toMatchObject({ aliases: {} });
    expect((await talk(key, "little")).status).toBe(404);
    const audit = await ask(`/audit?object=key:${token}`, undefined, { at: gateway.adminUrl });
    expect(JSON.stringify(audit.body)).toContain('"little":"gpt-4o-mini"');
  });

  it("may have a secret that the script chooses", async () => {
    const key = `sk-chosen-${listener}-0123456789abcdefghijklmn`;
    const made = await ask("/key/generate", { key, duration: "30d" }, at());
    expect(made).toMatchObject({ status: 200, body: { key } });
    expect((await talk(key)).status).toBe(200);
    const short = await ask("/key/generate", { key: "sk-short" }, at());
    expect(short).toMatchObject({ status: 400, body: { error: { param: "key" } } });
  });

  it.each([
    ["allowed_routes", ["management_routes"]],
    ["key_type", "management"],
    ["allowed_cache_controls", ["no-cache"]],
    ["object_permission", { mcp_servers: ["a"] }],
    ["not_a_field", 1],
  ])("are refused with %s, which nothing enforces", async (name, value) => {
    const refused = await ask("/key/generate", { [name]: value }, at());
    expect(refused).toMatchObject({ status: 400, body: { error: { param: name } } });
  });

  it("change by key or alias, and null clears", async () => {
    const alias = `changed-${listener}`;
    const made = await ask(
      "/key/generate",
      { key_alias: alias, max_budget: 1, duration: "1d" },
      at(),
    );
    const changed = await ask(
      "/key/update",
      { key_alias: alias, max_budget: null, duration: "-1", rpm_limit: 9 },
      at(),
    );
    expect(changed.body).toMatchObject({
      key_alias: alias,
      max_budget: null,
      expires: null,
      rpm_limit: 9,
    });
    const many = await ask(
      "/key/bulk_update",
      {
        keys: [
          { key: made.body.token, tpm_limit: 4 },
          { key: "key_nothere", tpm_limit: 4 },
        ],
      },
      at(),
    );
    expect(many.body).toMatchObject({
      total_requested: 2,
      successful_updates: [{ key_info: { tpm_limit: 4 } }],
      failed_updates: [{ key: "key_nothere" }],
    });
  });

  it("get a new secret, also with the key in the path, and with changes", async () => {
    const made = (await ask("/key/generate", {}, at())).body as { key: string };
    const first = await ask("/key/regenerate", { key: made.key, key_alias: `r-${listener}` }, at());
    expect(first.body).toMatchObject({ key_alias: `r-${listener}` });
    const path = `/key/${encodeURIComponent(String(first.body.key))}/regenerate`;
    const second = await ask(path, { duration: "1d" }, at());
    expect(second.body.expires).toBeTypeOf("string");
    expect((await talk(made.key)).status).toBe(401);
    expect((await talk(String(first.body.key))).status).toBe(401);
    expect((await talk(String(second.body.key))).status).toBe(200);
  });

  it("of a service have a team", async () => {
    await ask("/team/new", { team_id: `service-${listener}` }, at());
    expect((await ask("/key/service-account/generate", {}, at())).status).toBe(400);
    const made = await ask(
      "/key/service-account/generate",
      { team_id: `service-${listener}`, metadata: { service_account_id: "bot" } },
      at(),
    );
    expect(made.body).toMatchObject({
      team_id: `service-${listener}`,
      user_id: null,
      metadata: { service_account_id: "bot" },
    });
  });

  it("block, unblock and delete", async () => {
    const { key } = (await ask("/key/generate", {}, at())).body as { key: string };
    expect((await ask("/key/block", { key }, at())).status).toBe(200);
    expect((await talk(key)).status).toBe(401);
    await ask("/key/unblock", { key }, at());
    expect((await talk(key)).status).toBe(200);
    expect((await ask("/key/delete", { keys: [key] }, at())).status).toBe(200);
    expect((await ask(`/key/info?key=${key}`, undefined, at())).status).toBe(404);
  });

  it("give no rights to their callers", async () => {
    const { key } = (await ask("/key/generate", {}, at())).body as { key: string };
    for (const [path, body] of [
      ["/key/generate", { max_budget: 1_000_000 }],
      ["/key/service-account/generate", { team_id: "any" }],
      ["/key/update", { key, max_budget: null }],
      ["/key/bulk_update", { keys: [{ key, max_budget: null }] }],
      ["/key/list", undefined],
      ["/key/aliases", undefined],
      ["/team/new", { team_id: "mine" }],
      ["/team/list", undefined],
      ["/v2/team/list", undefined],
      ["/team/model/add", { team_id: `service-${listener}`, models: ["gpt-4o"] }],
    ] as const) {
      const answer = await ask(path, body, { ...at(), key });
      const failed = answer.body.failed_updates as unknown[] | undefined;
      expect([path, answer.status === 200 && failed?.length !== 1]).toEqual([path, false]);
    }
    expect((await ask("/key/list", undefined, { ...at(), key: "sk-unknown" })).status).toBe(401);
  });
});

describe("teams", () => {
  it("are made, changed by both routes, listed and deleted", async () => {
    const made = await ask("/team/new", {
      team_id: "t-1",
      name: "Named",
      models: ["gpt-4o-mini"],
      members_with_roles: [],
      model_aliases: {},
      organization_id: "",
      max_budget: 10,
      team_member_permissions: ["/key/generate"],
      metadata: { a: 1 },
    });
    expect(made).toMatchObject({
      status: 200,
      body: {
        team_id: "t-1",
        team_alias: "Named",
        members_with_roles: [],
        ignored_fields: ["team_member_permissions"],
      },
    });
    const updated = await ask("/team/update", { team_id: "t-1", max_budget: null });
    expect(updated.body).toMatchObject({ team_id: "t-1", data: { max_budget: null } });
    const patched = await ask("/team/t-1", { tpm_limit: 5 }, { method: "PATCH" });
    expect(patched.body).toMatchObject({ team_id: "t-1", tpm_limit: 5 });
    const other = await ask("/team/t-1", { team_id: "t-2" }, { method: "PATCH" });
    expect(other.status).toBe(400);
    const info = await ask("/team/info?team_id=t-1");
    expect(info.body).toMatchObject({
      team_id: "t-1",
      team_info: { team_alias: "Named", tpm_limit: 5 },
      keys: [],
      team_memberships: [],
    });
    expect((await ask("/team/list")).body).toContainEqual(
      expect.objectContaining({ team_id: "t-1", team_alias: "Named" }),
    );
    expect((await ask("/v2/team/list?team_id=t-1")).body).toMatchObject({
      teams: [{ team_id: "t-1" }],
      total: 1,
    });
    expect((await ask("/team/info?team_id=nothere")).status).toBe(404);
  });

  it("gain and lose models, and never become open by it", async () => {
    const add = await ask("/team/model/add", { team_id: "t-1", models: ["gpt-4o"] });
    expect(add.body.models).toEqual(["gpt-4o-mini", "gpt-4o"]);
    const removed = await ask("/team/model/delete", { team_id: "t-1", models: ["gpt-4o"] });
    expect(removed.body.models).toEqual(["gpt-4o-mini"]);
    const last = await ask("/team/model/delete", { team_id: "t-1", models: ["gpt-4o-mini"] });
    expect(last.status).toBe(400);
  });
});

describe("a report", () => {
  it("has LiteLLM's shape, and equals the rows", async () => {
    await ask("/team/new", { team_id: "t-report", team_alias: "Reported" });
    const { key } = (await ask("/key/generate", { team_id: "t-report" })).body as { key: string };
    let spent = 0;
    for (let call = 0; call < 3; call += 1) {
      const response = await talk(key);
      await response.text();
      const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
      spent += Math.round((row?.spend ?? 0) * 1e9);
    }
    const today = new Date().toISOString().slice(0, 10);
    const dates = `start_date=${today}&end_date=${today}`;
    const report = await ask(`/global/spend/report?${dates}&group_by=team`);
    const teams = (report.body as unknown as { teams: Json[] }[]).flatMap((day) => day.teams);
    const own = teams.find(({ team_name: name }) => name === "Reported");
    expect(Math.round(Number(own?.total_spend) * 1e9)).toBe(spent);
    expect(own?.metadata).toMatchObject([{ model: "gpt-4o-mini" }]);
    const byKey = await ask(`/global/spend/report?${dates}&group_by=api_key&team_id=t-report`);
    expect(byKey.body).toMatchObject([{ group_by_day: today, api_keys: [{ metadata: [{}] }] }]);
    expect((await ask("/global/spend/report?start_date=1")).status).toBe(400);
    const mine = await ask(`/global/spend/report?${dates}`, undefined, { key });
    const seen = (mine.body as unknown as { teams: Json[] }[]).flatMap((day) => day.teams);
    expect(seen.map(({ team_id: id }) => id)).toEqual(["t-report"]);
  });
});

describe("the gateway's own routes", () => {
  it("answer in their own form a caller who asks for it", async () => {
    const own = { at: gateway.adminUrl, headers: { "x-sluice-routes": "own" } };
    const list = await ask("/key/list?size=1", undefined, own);
    expect(list.body.keys).toMatchObject([{ token_id: expect.any(String) as string }]);
    const made = await ask("/key/generate", {}, own);
    expect(made.body).not.toHaveProperty("litellm_budget_table");
  });
});

describe("what restricts", () => {
  it("is not lost where it is false or in the gateway's own form", async () => {
    const made = await ask("/key/generate", { may_name_customers: false, blocked: false });
    expect(made).toMatchObject({ status: 200, body: { may_name_customers: false } });
    const { team_id } = (await ask("/team/new", { team_id: "restricting" })).body;
    expect((await ask("/user/new", { user_id: "native", auto_create_key: false })).status).toBe(
      200,
    );
    const added = await ask("/team/member_add", {
      team_id,
      user_id: "native",
      role: "admin",
      max_budget: 2,
      per_model: { "gpt-4o": { rpm: 1 } },
    });
    expect(added).toMatchObject({
      status: 200,
      body: { members_with_roles: [{ user_id: "native", role: "admin" }] },
    });
    const own = await ask(
      `/team/member_info?team_id=${String(team_id)}&user_id=native`,
      undefined,
      {
        at: gateway.adminUrl,
      },
    );
    expect(JSON.stringify(own.body)).toContain('"max_budget":2');
    expect(JSON.stringify(own.body)).toContain('"gpt-4o"');
  });

  it("is refused where nothing of it would hold", async () => {
    await ask("/team/new", { team_id: "refusing" });
    for (const more of [
      {},
      { member: [] },
      { member: ["ann"] },
      { member: { user_id: "ann", role: "user" }, max_budgett: 1 },
    ]) {
      const answer = await ask("/team/member_add", { team_id: "refusing", ...more });
      expect([more, answer.status]).toEqual([more, 400]);
    }
  });
});
