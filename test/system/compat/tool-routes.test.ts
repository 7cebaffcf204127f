/**
 * Every route that LiteLLM's command line, its Terraform providers and its own end-to-end tests
 * call: each is answered by a handler of its own, on both listeners, and 501 names a file.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const DATES = "start_date=2030-01-01&end_date=2030-01-02";

/** Routes by their subject; each with a body that the tools send, or with a query. */
const SERVED: Readonly<Record<string, readonly (readonly [call: string, body?: object])[]>> = {
  users: [
    ["POST /user/new", { user_id: "u1", auto_create_key: false, teams: [], models: [] }],
    ["GET /user/info?user_id=u1"],
    ["GET /v2/user/info?user_id=u1"],
    ["POST /user/update", { user_id: "u1", max_budget: 5, budget_duration: "30d" }],
    ["GET /user/list?page=1&page_size=25"],
    [`GET /user/daily/activity?${DATES}`],
    ["POST /user/delete", { user_ids: ["u1"] }],
  ],
  customers: [
    ["POST /customer/new", { user_id: "c1", max_budget: 1, blocked: false }],
    ["GET /customer/info?end_user_id=c1"],
    ["POST /customer/update", { user_id: "c1", max_budget: 2 }],
    ["GET /customer/list"],
    ["GET /end_user/info?end_user_id=c1"],
    ["POST /customer/delete", { user_ids: ["c1"] }],
  ],
  budgets: [
    ["POST /budget/new", { budget_id: "b1", max_budget: 1, budget_duration: "1d" }],
    ["POST /budget/update", { budget_id: "b1", max_budget: 2 }],
    ["POST /budget/info", { budgets: ["b1"] }],
    ["GET /budget/list"],
    ["POST /budget/delete", { id: "b1" }],
  ],
  organizations: [
    ["POST /organization/new", { organization_id: "o1", organization_alias: "O", models: [] }],
    ["GET /organization/list"],
    ["GET /organization/info?organization_id=o1"],
    ["PATCH /organization/update", { organization_id: "o1", max_budget: 3 }],
    ["POST /user/new", { user_id: "u2", auto_create_key: false }],
    [
      "POST /organization/member_add",
      { organization_id: "o1", member: { role: "internal_user", user_id: "u2" } },
    ],
    [
      "PATCH /organization/member_update",
      { organization_id: "o1", user_id: "u2", role: "internal_user" },
    ],
    ["DELETE /organization/member_delete", { organization_id: "o1", user_id: "u2" }],
    ["DELETE /organization/delete", { organization_ids: ["o1"] }],
  ],
  teams: [
    ["POST /team/new", { team_id: "t1", team_alias: "T", models: ["gpt-4o-mini"] }],
    ["POST /team/update", { team_id: "t1", max_budget: 9, organization_id: "" }],
    ["GET /team/info?team_id=t1"],
    ["GET /team/list"],
    ["GET /v2/team/list?page=1&page_size=10"],
    ["GET /team/available"],
    ["POST /team/block", { team_id: "t1" }],
    ["POST /team/unblock", { team_id: "t1" }],
    ["POST /team/member_add", { team_id: "t1", member: { role: "user", user_id: "u2" } }],
    ["POST /team/member_update", { team_id: "t1", user_id: "u2", max_budget_in_team: 1 }],
    ["POST /team/member_delete", { team_id: "t1", user_id: "u2" }],
    ["POST /team/model/add", { team_id: "t1", models: ["gpt-4o"] }],
    ["POST /team/model/delete", { team_id: "t1", models: ["gpt-4o"] }],
    ["GET /team/permissions_list?team_id=t1"],
    ["POST /team/permissions_update", { team_id: "t1", team_member_permissions: [] }],
    [`GET /team/daily/activity?${DATES}&team_ids=t1`],
  ],
  keys: [
    ["POST /key/generate", { key_alias: "k1", team_id: "t1", aliases: {}, config: {} }],
    ["POST /key/service-account/generate", { key_alias: "k2", team_id: "t1" }],
    ["POST /key/update", { key_alias: "k1", max_budget: 1, team_id: "" }],
    ["GET /key/list?return_full_object=true&page=1&size=100"],
    ["GET /key/aliases"],
    ["POST /key/delete", { key_aliases: ["k1", "k2"] }],
    ["POST /team/delete", { team_ids: ["t1"] }],
  ],
  groups: [
    ["POST /access_group/new", { access_group: "g1", model_names: ["gpt-4o-mini"] }],
    ["GET /access_group/list"],
    ["GET /access_group/g1/info"],
    ["PUT /access_group/g1/update", { model_names: ["gpt-4o"] }],
    ["DELETE /access_group/g1/delete"],
    ["POST /v1/access_group", { access_group_name: "g2", access_model_names: ["gpt-4o"] }],
    ["GET /v1/access_group"],
    ["GET /v1/access_group/g2"],
    ["PUT /v1/access_group/g2", { access_model_names: ["gpt-4o-mini"] }],
    ["DELETE /v1/access_group/g2"],
    ["GET /tag/list"],
  ],
  spend: [
    [`GET /global/spend/report?${DATES}&group_by=team`],
    [`GET /global/spend/report?${DATES}&group_by=customer`],
    [`GET /global/spend/report?${DATES}&group_by=api_key`],
  ],
};

/** What a key sees of itself: on the public listener alone. */
const OF_KEY = [
  "GET /model/info",
  "GET /v1/model/info",
  "GET /v2/model/info",
  "GET /model_group/info",
  `GET /spend/logs/v2?${DATES}`,
];

/** Routes that would write what files hold, and the section or the page that their answer names. */
const IN_FILES: readonly (readonly [call: string, names: RegExp])[] = [
  ["POST /model/new", /models/],
  ["PATCH /model/m1/update", /models/],
  ["POST /model/update", /models/],
  ["POST /model/delete", /models/],
  ["POST /credentials", /providers/],
  ["GET /credentials", /providers/],
  ["GET /credentials/by_name/a/b", /providers/],
  ["PATCH /credentials/a", /providers/],
  ["DELETE /credentials/a", /providers/],
  ["POST /fallback", /fallbacks/],
  ["GET /fallback/m1", /fallbacks/],
  ["DELETE /fallback/m1", /fallbacks/],
  ["POST /tag/new", /step `limits`/],
  ["POST /tag/update", /step `limits`/],
  ["POST /tag/info", /step `limits`/],
  ["POST /tag/delete", /step `limits`/],
  ["POST /v1/mcp/server", /gateway\.yaml/],
  ["GET /v1/mcp/server/s1", /gateway\.yaml/],
  ["PUT /v1/mcp/server", /gateway\.yaml/],
  ["DELETE /v1/mcp/server/s1", /gateway\.yaml/],
  ["GET /v1/mcp/server/s1/health", /gateway\.yaml/],
  ["POST /project/new", /gateway\.yaml/],
  ["POST /project/update", /gateway\.yaml/],
  ["GET /project/info", /gateway\.yaml/],
  ["GET /project/list", /gateway\.yaml/],
  ["DELETE /project/delete", /gateway\.yaml/],
  ["POST /guardrails", /guardrails/],
  ["PUT /guardrails/g1", /guardrails/],
  ["PATCH /guardrails/g1", /guardrails/],
  ["DELETE /guardrails/g1", /guardrails/],
  ["GET /guardrails/g1", /guardrails/],
  ["GET /guardrails/g1/info", /guardrails/],
  ["GET /guardrails/list", /guardrails/],
  ["POST /prompts", /gateway\.yaml/],
  ["GET /prompts/list", /gateway\.yaml/],
  ["PATCH /prompts/p1", /gateway\.yaml/],
  ["GET /v1/agents", /gateway\.yaml/],
  ["PUT /v1/agents/a1", /gateway\.yaml/],
  ["POST /search_tools", /gateway\.yaml/],
  ["GET /search_tools/list", /gateway\.yaml/],
  ["PUT /search_tools/s1", /gateway\.yaml/],
  ["POST /vector_store/new", /gateway\.yaml/],
  ["POST /vector_store/info", /gateway\.yaml/],
  ["GET /vector_store/list", /gateway\.yaml/],
];

describe.each(["public", "admin"] as const)("on the %s listener", (listener) => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await startGateway({
      plugins: ["@sluice/compat-litellm"],
      sections: ["extensions:\n  litellm: { administration: public }"],
    });
  });
  afterAll(() => gateway?.dispose());

  const ask = async (call: string, body?: object) => {
    const [method = "", path = ""] = call.split(" ");
    const at = listener === "public" ? gateway.publicUrl : gateway.adminUrl;
    const hasBody = method !== "GET";
    const response = await fetch(`${at}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        ...(hasBody && { "content-type": "application/json" }),
      },
      ...(hasBody && { body: JSON.stringify(body ?? {}) }),
    });
    return { status: response.status, text: await response.text() };
  };

  it.each(Object.entries(SERVED))("%s: every route serves", async (_subject, calls) => {
    const failed: string[] = [];
    for (const [call, body] of calls) {
      const { status, text } = await ask(call, body);
      if (status < 200 || status > 299) failed.push(`${call}: ${status} ${text.slice(0, 200)}`);
    }
    expect(failed).toEqual([]);
  });

  it("what a key sees of itself is served on the public listener", async () => {
    const statuses = await Promise.all(OF_KEY.map(async (call) => (await ask(call)).status));
    expect(statuses).toEqual(OF_KEY.map(() => (listener === "public" ? 200 : 404)));
  });

  it("what files hold is 501, and the answer names where it stands", async () => {
    const failed: string[] = [];
    for (const [call, names] of IN_FILES) {
      const { status, text } = await ask(call);
      if (status !== 501 || !names.test(text)) failed.push(`${call}: ${status} ${text}`);
    }
    expect(failed).toEqual([]);
  });
});
