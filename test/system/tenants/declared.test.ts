/** Organizations, users, members, budgets, customers and access groups in the file. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, configPost, MESSAGES, recordOf } from "../support/client.ts";
import { type CommandHost, type Ran, startCommandHost } from "../support/command-host.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const KEY = "sk-declared-for-the-tests-of-tenants-0001";
const SECTIONS = `
organizations:
  - { organization_id: acme, organization_alias: Acme, budget: { max: 100, duration: 1mo }, requests: 1000 }
budgets:
  - { budget_id: monthly, organization_id: acme, max_budget: 5, budget_duration: 1mo }
access_groups:
  - { access_group: small, models: [echo] }
users:
  - user_id: ann
    user_email: ann@example.com
    organizations: [acme]
    roles: [{ role: admin, at: organization, organization_id: acme }]
teams:
  - team_id: core
    organization_id: acme
    models: [small]
    member_defaults: { rpm: 50 }
    members:
      - { user_id: ann, role: admin, budget_id: monthly }
customers:
  records:
    - { customer_id: c-1, organization_id: acme, rpm: 0 }
keys:
  - { alias: ci, key: "\${env:CI_KEY}", team_id: core, user_id: ann, model_aliases: { quick: echo }, per_model: { echo: { rpm: 40 } } }
`;

let workspace: Workspace;
let gateway: GatewayProcess;
let host: CommandHost;

function write(sections: string): void {
  workspace.write(workspace.config({}) + sections);
}

beforeAll(async () => {
  host = startCommandHost();
  workspace = createWorkspace();
  write(SECTIONS);
  gateway = await startGateway(workspace, { CI_KEY: KEY });
});
afterAll(async () => {
  host?.close();
  await gateway?.dispose();
});

async function ask(
  path: string,
  body?: unknown,
): Promise<readonly [number, Record<string, unknown>]> {
  const response = await admin(gateway, path, body);
  return [response.status, (await response.json()) as Record<string, unknown>];
}

async function use(user?: string, key = KEY, model = "echo"): Promise<number> {
  const request = { model, messages: MESSAGES, ...(user !== undefined && { user }) };
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(gateway, request, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** Writes the sections and waits until they are live. */
async function apply(sections: string): Promise<void> {
  write(sections);
  await eventually("the edit", async () => {
    const { digest } = (await configPost(gateway, "validate")) as unknown as { digest: string };
    const { outcome } = await configPost(gateway, "reload", { force: digest });
    return ["applied", "unchanged"].includes(String(outcome));
  });
}

function sluice(...args: readonly string[]): Promise<Ran> {
  const { port } = new URL(gateway.adminUrl);
  return host.run([...args, "--config", gateway.configPath], workspace.folder, {
    SLUICE_ADMIN_PORT: port,
    CI_KEY: KEY,
  });
}

describe("declared tenants", () => {
  it("are shown with their fields, and no route changes them: 409 with file and line", async () => {
    const info = async (path: string, member: string) => {
      const [status, body] = await ask(path);
      expect([status, body]).toMatchObject([200, { [member]: {} }]);
      return recordOf(body[member]);
    };
    expect(
      await info("/organization/info?organization_id=acme", "organization_info"),
    ).toMatchObject({
      managed_by: "file",
      organization_alias: "Acme",
      max_budget: 100,
      budget_duration: "1mo",
      rpm_limit: 1000,
      blocked: false,
    });
    expect(await info("/user/info?user_id=ann", "user_info")).toMatchObject({
      user_email: "ann@example.com",
      roles: [{ role: "admin", at: "organization", organization_id: "acme" }],
    });
    expect(await info("/team/member_info?team_id=core&user_id=ann", "member_info")).toMatchObject({
      role: "admin",
      budget_id: "monthly",
      blocked: false,
    });
    expect(await info("/key/info?key_alias=ci", "info")).toMatchObject({
      managed_by: "file",
      model_aliases: { quick: "echo" },
      per_model: { echo: { rpm_limit: 40 } },
    });
    expect([await use(undefined, KEY, "quick"), await use(undefined, KEY, "quicker")]).toEqual([
      200, 404,
    ]);
    const customer = "/customer/info?customer_id=c-1&organization_id=acme";
    expect(await info(customer, "customer_info")).toMatchObject({ rpm_limit: 0 });
    expect((await ask("/customer/list?organization_id=acme"))[1]["customers"]).toMatchObject([
      { customer_id: "c-1", managed_by: "file" },
    ]);
    const changes: readonly (readonly [string, object])[] = [
      ["/organization/update", { organization_id: "acme", rpm: 1 }],
      ["/organization/new", { organization_id: "acme" }],
      ["/organization/delete", { organization_ids: ["acme"] }],
      ["/user/block", { user_id: "ann" }],
      ["/team/member_update", { team_id: "core", user_id: "ann", rpm: 1 }],
      ["/team/member_add", { team_id: "core", user_id: "ann" }],
      ["/team/member_delete", { team_id: "core", user_id: "ann" }],
      ["/customer/update", { customer_id: "c-1", organization_id: "acme", rpm: 1 }],
      ["/budget/update", { budget_id: "monthly", rpm: 1 }],
      ["/access_group/update", { access_group: "small", models: [] }],
    ];
    for (const [path, body] of changes)
      expect([path, ...(await ask(path, body))]).toMatchObject([
        path,
        409,
        { error: { message: expect.stringMatching(/gateway\.yaml:\d+/) as string } },
      ]);
  });

  it("bound the requests of what belongs to them, and records of the store may refer to them", async () => {
    expect(await use()).toBe(200);
    expect(await use("c-1")).toBe(429);
    expect(await use("c-2")).toBe(200);
    expect((await ask("/team/new", { team_id: "own", organization_id: "acme" }))[0]).toBe(200);
    const [, made] = await ask("/key/generate", { team_id: "own", budget_id: "monthly" });
    expect(await use(undefined, String(made["key"]))).toBe(200);
    expect((await ask("/user/new", { user_id: "bob", organizations: ["acme"] }))[0]).toBe(200);
    expect((await ask("/team/member_add", { team_id: "core", user_id: "bob" }))[0]).toBe(200);
    await apply(SECTIONS.replace("requests: 1000", "requests: 0"));
    expect([await use(), await use(undefined, String(made["key"]))]).toEqual([429, 429]);
    await apply(SECTIONS.replace("models: [echo]", "models: [gpt-4o]"));
    expect(await use()).toBe(404);
    await apply(SECTIONS.replace("max_budget: 5", "rpm: 0, max_budget: 5"));
    expect([await use(), await use(undefined, String(made["key"]))]).toEqual([429, 429]);
    await apply(SECTIONS);
    expect(await use()).toBe(200);
  });

  it("that leave the file leave their keys refused, and a customer as others are", async () => {
    const without = (section: RegExp): Promise<void> => apply(SECTIONS.replace(section, ""));
    await without(/users:\n(?: {2}.*\n)+/);
    expect(await use()).toBe(401);
    await without(/ {4}members:\n(?: {6}.*\n)+/);
    expect(await use()).toBe(401);
    await apply(
      SECTIONS.replace(/organizations:\n(?: {2}.*\n)+/, "").replace(
        "    organizations: [acme]\n",
        "",
      ),
    );
    expect(await use()).toBe(401);
    await without(/customers:\n(?: {2}.*\n)+/);
    expect(await use("c-1")).toBe(200);
    await apply(SECTIONS);
    expect(await use()).toBe(200);
  });
});

describe("an edit of them", () => {
  it("shows who loses access and whose limits fall", async () => {
    write(
      SECTIONS.replace("max_budget: 5", "max_budget: 3")
        .replace("requests: 1000", "requests: 900")
        .replace(/ {4}members:\n(?: {6}.*\n)+/, "")
        .replace("models: [echo]", "models: [gpt-4o]"),
    );
    const impact = await configPost(gateway, "diff", { from: "running", to: "files" });
    const out = JSON.stringify(impact);
    expect(out).toMatch(/organization acme[^}]*requests a minute: 1000 -> 900 \(lowered\)/);
    expect(out).toMatch(/budget monthly[^}]*budget in dollars: 5 -> 3 \(lowered\)/);
    expect(out).toMatch(/member ann of team core[^}]*is no longer declared/);
    expect(out).toMatch(/access group small[^}]*loses the models echo/);
    write(SECTIONS);
  });

  it.each([
    ["rpm: 1, requests: 2", /`organizations\[1\]\.requests` is an alias of `rpm`/],
    [
      "max_budget: 1, budget: { max: 2 }",
      /`organizations\[1\]\.budget\.max` is an alias of `max_budget`/,
    ],
    ["per_model: { echo: { tpm: 1, tokens: 1 } }", /per_model\.echo\.tokens` is an alias of `tpm`/],
    ["budget: { max: 1, soft: 2 }", /budget\.soft` exceeds `budget\.max`/],
    ["budget_id: Monthly", /differs from the budget "monthly" in case/],
    ["budget_id: monthly", /names a budget of the organization "acme"/],
    ["expires: tomorrow", /organizations\[1\]\.expires/],
    ["models: [ecko]", /names "ecko", which is neither a model nor an access group/],
  ])("is refused for { %s }, with the place", async (fields, message) => {
    const line = `  - { organization_id: other, ${fields} }\nbudgets:`;
    write(SECTIONS.replace("budgets:", line));
    const { out, code } = await sluice("check");
    expect([code, out]).toEqual([1, expect.stringMatching(message)]);
    write(SECTIONS);
  });

  it("warns of a limit that can never be reached", async () => {
    write(
      SECTIONS.replace("models: [small]", "models: [small], rpm: 2000").replace(
        "models: [small], rpm",
        "models: [small]\n    rpm",
      ),
    );
    const { out } = await sluice("check");
    expect(out).toMatch(
      /The team core: rpm 2000 can never be reached: the organization "acme" has 1000\..*\(unreachable_limit\)/,
    );
    write(SECTIONS);
  });
});
