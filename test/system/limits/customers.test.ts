/** Customers at the front door: where their ids stand, what bounds them, and whom they belong to. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  customer,
  openTenants,
  type OpenTenants,
  organization,
  team,
} from "../support/tenant-records.ts";
import { createWorkspace } from "../support/workspace.ts";

const CENT_NANO_USD = 10_000_000;
const KEYS = {
  plain: "sk-plain-of-the-customers-tests-0123456789abcdef",
  second: "sk-second-of-the-customers-tests-0123456789abcdef",
  flood: "sk-flood-of-the-customers-tests-0123456789abcdef",
};

let upstream: Upstream;
let gateway: GatewayProcess;
let store: OpenTenants;

beforeAll(async () => {
  upstream = await createUpstream();
  const price = "price: { input: 0, output: 0, request: 0.01 }";
  const options = {
    baseUrl: upstream.baseUrl,
    models: [`{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini, ${price} }] }`],
  };
  const workspace = createWorkspace(options);
  workspace.write(`${workspace.config(options)}customers:
  headers: [X-Customer-Id]
  new_customers: 40/h
  defaults: { max_budget: 0.02 }
keys:
  - { alias: plain, key: "\${env:PLAIN}" }
  - { alias: second, key: "\${env:SECOND}", team_id: other }
  - { alias: flood, key: "\${env:FLOOD}" }
`);
  gateway = await startGateway(workspace, {
    PLAIN: KEYS.plain,
    SECOND: KEYS.second,
    FLOOD: KEYS.flood,
  });
  store = await openTenants(workspace);
  await store.tenants.organization.insert(organization("acme"));
  await store.teams.insert(team("other", { organizationId: "acme" }));
});
afterAll(async () => {
  await store?.close();
  await gateway?.dispose();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly retryAfter: string | null;
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as { readonly error?: { readonly message: string } };
  return {
    status: response.status,
    message: body.error?.message ?? "",
    retryAfter: response.headers.get("retry-after"),
  };
}

async function ask(key: string, more: object, headers: Record<string, string> = {}) {
  const body = { model: "gpt-4o-mini", messages: MESSAGES, ...more };
  return answerOf(
    await chat(gateway, body, { headers: { authorization: `Bearer ${key}`, ...headers } }),
  );
}

const endUsers = async (alias: string): Promise<(string | null)[]> =>
  (await spendRows(gateway, { api_key: `yaml:${alias}` })).map(({ end_user: id }) => id);

const calls = (): number => upstream.requests.length;

describe("the id of a customer", () => {
  it("is read where each dialect puts it, and from the operator's header", async () => {
    const authorization = `Bearer ${KEYS.plain}`;
    expect((await ask(KEYS.plain, { user: "in-user" })).status).toBe(200);
    expect((await ask(KEYS.plain, { safety_identifier: "in-safety" })).status).toBe(200);
    expect((await ask(KEYS.plain, { user: "body" }, { "x-customer-id": "in-header" })).status).toBe(
      200,
    );
    const post = async (path: string, body: object, more: Record<string, string> = {}) => {
      const response = await fetch(`${gateway.publicUrl}${path}`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", ...more },
        body: JSON.stringify(body),
      });
      await response.text();
      return response.status;
    };
    const message = { model: "gpt-4o-mini", max_tokens: 5, messages: MESSAGES };
    expect(await post("/v1/messages", { ...message, metadata: { user_id: "in-metadata" } })).toBe(
      200,
    );
    const response = { model: "gpt-4o-mini", input: "Hello." };
    expect(await post("/v1/responses", { ...response, safety_identifier: "in-responses" })).toBe(
      200,
    );
    const native = { model: "gpt-4o-mini", messages: MESSAGES, safety_identifier: "in-native" };
    expect(await post("/openai/v1/chat/completions", native)).toBe(200);
    await eventually("the rows", async () => {
      const seen = new Set(await endUsers("plain"));
      return [
        "in-user",
        "in-safety",
        "in-header",
        "in-metadata",
        "in-responses",
        "in-native",
      ].every((id) => seen.has(id));
    });
  });

  it("is compared byte for byte", async () => {
    const ids = ["Zoë", "Zoe\u0308", "zoë", " Zoë", "Zoë "];
    for (const user of ids)
      for (let at = 0; at < 2; at += 1) expect((await ask(KEYS.plain, { user })).status).toBe(200);
    for (const user of ids) expect((await ask(KEYS.plain, { user })).status).toBe(429);
  });

  it.each([
    ["a".repeat(257)],
    ["é".repeat(129)],
    ["a\nb"],
    ["a\u0000"],
    ["a\u0085b"],
    ["half \ud800"],
  ])("%j is refused before a call", async (user) => {
    const before = calls();
    expect(await ask(KEYS.plain, { user })).toMatchObject({ status: 400 });
    expect(calls()).toBe(before);
  });

  it("may have 256 bytes, and an empty one is none", async () => {
    expect((await ask(KEYS.plain, { user: "é".repeat(128) })).status).toBe(200);
    expect((await ask(KEYS.plain, { user: "" })).status).toBe(200);
  });
});

describe("a customer", () => {
  it("has the default budget, for each organization by itself", async () => {
    expect((await ask(KEYS.plain, { user: "u1" })).status).toBe(200);
    expect((await ask(KEYS.plain, { user: "u1" })).status).toBe(200);
    const refused = await ask(KEYS.plain, { user: "u1" });
    expect(refused.status).toBe(429);
    expect(refused.message).toContain("The customer's budget of 0.02 US dollars");
    expect((await ask(KEYS.second, { user: "u1" })).status).toBe(200);
  });

  it("is refused within a second of being blocked, by name, on every route", async () => {
    expect((await ask(KEYS.plain, { user: "mallory" })).status).toBe(200);
    await store.tenants.customer.insert(customer("mallory", { blocked: true }));
    await eventually(
      "the refusal",
      async () => (await ask(KEYS.plain, { user: "mallory" })).status === 403,
    );
    const before = calls();
    const refused = await ask(KEYS.plain, { user: "mallory" });
    expect(refused.message).toBe('The customer "mallory" is blocked.');
    const native = await fetch(`${gateway.publicUrl}/openai/v1/responses/resp_1`, {
      headers: { authorization: `Bearer ${KEYS.plain}`, "x-customer-id": "mallory" },
    });
    expect(native.status).toBe(403);
    await native.text();
    expect(calls()).toBe(before);
    // Another organization has a customer of that id.
    expect((await ask(KEYS.second, { user: "mallory" })).status).toBe(200);
  });

  it("has its own limits before the defaults, and those of its budget", async () => {
    await store.tenants.customer.insert(
      customer("rich", { maxBudgetNanoUsd: 3 * CENT_NANO_USD, models: ["gpt-4o-mini"] }),
    );
    await store.tenants.customer.insert(customer("elsewhere", { models: ["gpt-4o"] }));
    const statuses = [];
    for (let at = 0; at < 4; at += 1)
      statuses.push((await ask(KEYS.plain, { user: "rich" })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await ask(KEYS.plain, { user: "elsewhere" })).status).toBe(404);
  });

  it("that is new is one of so many of its key, and the customers of others are served", async () => {
    expect((await ask(KEYS.plain, { user: "calm" })).status).toBe(200);
    const answers = [];
    for (let at = 0; at < 41; at += 1) answers.push(await ask(KEYS.flood, { user: `f${at}` }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    const refused = answers.at(-1);
    expect(refused).toMatchObject({ status: 429 });
    expect(refused?.message).toContain("40 in 3600 s (customers.new_customers)");
    expect(Number(refused?.retryAfter)).toBeGreaterThan(60);
    // Those that were named before, and those of other keys, are as they were.
    expect((await ask(KEYS.flood, { user: "f3" })).status).toBe(200);
    expect((await ask(KEYS.plain, { user: "calm" })).status).toBe(200);
  });
});
