/** Self-service of a key on the public listener: what it reads, makes and rotates, and its bounds. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MASTER_KEY } from "../support/gateway-process.ts";
import { selfService, startTenants, type Tenants } from "./tenants.ts";

let tenants: Tenants;

beforeAll(async () => {
  tenants = await startTenants("key_defaults: { rpm: 90, tpm: 5000 }");
  const bounds = { maxBudgetNanoUsd: 10_000_000_000, budgetDuration: "30d", rpm: 100 };
  await tenants.organization("o", {
    selfService: selfService({
      upperBounds: { ...bounds, models: ["gpt-4o", "openai/*"] },
      maxKeys: 9,
    }),
  });
  await tenants.team("t", "o", {
    metadata: { secret: "notes" },
    selfService: selfService({ maxKeys: 40, upperBounds: { rpm: 50 }, defaults: { rpm: 20 } }),
  });
  await tenants.team("closed", null);
  await tenants.user("ann", { organizations: ["o"], email: "ann@example.org" });
  await tenants.user("bob", { organizations: ["o"] });
  await tenants.member("ann", "t");
  await tenants.member("bob", "t");
}, 60_000);

afterAll(() => tenants?.close());

const ask = (call: string, body: object | undefined, key: string) =>
  tenants.askPublic(call, body, key);

describe("a key reads", () => {
  it("itself, its team and its user, and nothing else", async () => {
    const own = await tenants.secret({ userId: "ann", teamId: "t" });
    const other = await tenants.secret({ userId: "bob", teamId: "t", alias: "bobs" });
    const info = await ask("GET /key/info", undefined, own.key);
    expect(info).toMatchObject({
      status: 200,
      body: { key: own.id, info: { user_id: "ann", team_id: "t", spend: 0 } },
    });
    expect((await ask(`GET /key/info?key=${own.id}`, undefined, own.key)).status).toBe(200);
    for (const asked of [
      other.id,
      other.key,
      "bobs",
      "key_none",
      own.id.toUpperCase(),
      `${own.id} `,
    ])
      expect(
        (await ask(`GET /key/info?key=${encodeURIComponent(asked)}`, undefined, own.key)).status,
      ).toBe(404);
    const team = await ask("GET /team/info", undefined, own.key);
    expect(team).toMatchObject({ status: 200, body: { team_id: "t", team_info: { spend: 0 } } });
    expect(team.text).not.toContain("notes");
    for (const id of ["closed", "T", "t "])
      expect(
        (await ask(`GET /team/info?team_id=${encodeURIComponent(id)}`, undefined, own.key)).status,
      ).toBe(404);
    const user = await ask("GET /user/info", undefined, own.key);
    expect(user).toMatchObject({
      status: 200,
      body: { user_id: "ann", user_info: { user_email: "ann@example.org" } },
    });
    expect(user.text).toContain(own.id);
    expect(user.text).not.toContain(other.id);
    expect((await ask("GET /user/info?user_id=bob", undefined, own.key)).status).toBe(404);
  });

  it("only with a valid key, and the master key has no record", async () => {
    for (const path of ["/key/info", "/team/info", "/user/info"]) {
      expect((await ask(`GET ${path}`, undefined, "sk-unknown")).status).toBe(401);
      expect((await ask(`GET ${path}`, undefined, MASTER_KEY)).status).toBe(404);
      expect((await ask(`POST ${path}`, {}, MASTER_KEY)).status).toBe(405);
    }
    for (const path of ["/key/generate", "/key/regenerate"]) {
      expect((await ask(`POST ${path}`, {}, "sk-unknown")).status).toBe(401);
      expect((await ask(`POST ${path}`, {}, MASTER_KEY)).status).toBe(403);
      expect((await ask(`GET ${path}`, undefined, MASTER_KEY)).status).toBe(405);
    }
  });

  it("no route that administers others is on this listener", async () => {
    for (const path of [
      "/key/update",
      "/key/delete",
      "/key/block",
      "/team/new",
      "/user/new",
      "/audit",
    ])
      for (const method of ["GET", "POST"])
        expect([
          path,
          (await ask(`${method} ${path}`, method === "POST" ? {} : undefined, MASTER_KEY)).status,
        ]).not.toEqual([path, 200]);
  });
});

describe("a user makes keys", () => {
  it("within the bounds of the team, the organization and the key itself", async () => {
    const own = await tenants.secret({
      userId: "ann",
      teamId: "t",
      rpm: 40,
      models: ["gpt-4o", "openai/gpt-4o-mini", "echo"],
      guardrails: ["pii"],
      tags: ["red"],
    });
    const made = await ask("POST /key/generate", { key_alias: "mine" }, own.key);
    expect(made).toMatchObject({
      status: 200,
      body: {
        user_id: "ann",
        team_id: "t",
        key_alias: "mine",
        // The team's default; server.key_defaults; the organization's bound; what all allow.
        rpm_limit: 20,
        tpm_limit: 5000,
        max_budget: 10,
        budget_duration: "30d",
        guardrails: ["pii"],
        tags: ["red"],
        models: expect.arrayContaining(["gpt-4o", "openai/gpt-4o-mini"]),
      },
    });
    expect(made.body["models"]).not.toContain("echo");
    const secret = String(made.body["key"]);
    expect((await ask("GET /key/info", undefined, secret)).body).toMatchObject({
      info: { token_id: made.body["token_id"] },
    });
    // A name opens no model: the lists hold for the one that it stands for.
    const names = { fast: "gpt-4o", shut: "echo" };
    const named = await ask("POST /key/generate", { model_aliases: names }, own.key);
    expect(named).toMatchObject({ status: 200, body: { model_aliases: names } });
    const shut = { model: "shut", messages: [{ role: "user", content: "Hello" }] };
    expect((await ask("POST /v1/chat/completions", shut, String(named.body["key"]))).status).toBe(
      404,
    );
    const beyond: readonly object[] = [
      { rpm: 41 },
      { rpm: null },
      { max_budget: 10.000000001 },
      { max_budget: null },
      { max_budget: 5, budget_duration: "1d" },
      { budget_duration: "29d" },
      { models: [] },
      { models: null },
      { models: ["echo"] },
      { models: ["*"] },
      { models: ["openai/*"] },
      { models: ["GPT-4o"] },
      { models: ["gpt-4o", "gpt-4o-mini"] },
    ];
    for (const body of beyond)
      expect([body, (await ask("POST /key/generate", body, own.key)).status]).toEqual([body, 403]);
    const within = { rpm: 0, max_budget: 0, models: ["gpt-4o"], budget_duration: "1mo" };
    expect(await ask("POST /key/generate", within, own.key)).toMatchObject({
      status: 200,
      body: { rpm_limit: 0, max_budget: 0, models: ["gpt-4o"] },
    });
  });

  it("for the user of the key alone, and with no field that widens", async () => {
    const own = await tenants.secret({ userId: "ann", teamId: "t" });
    for (const body of [
      { user_id: "bob" },
      { user_id: null },
      { user_id: "ANN" },
      { team_id: "closed" },
      { team_id: null },
      { team_id: "T" },
    ])
      expect([body, (await ask("POST /key/generate", body, own.key)).status]).toEqual([body, 403]);
    for (const body of [
      { admin: true },
      { passthrough: true },
      { spend_scope: "team" },
      { tags: ["blue"] },
      { allowed_tags: ["blue"] },
      { metadata: { sluice_explain: true } },
      { blocked: false },
      { organization_id: "other" },
      { budget_id: "b" },
      { key: "sk-of-my-own-0123456789-abcdefghijkl" },
    ])
      expect([body, (await ask("POST /key/generate", body, own.key)).status]).toEqual([body, 400]);
    const same = { user_id: "ann", team_id: "t" };
    expect((await ask("POST /key/generate", same, own.key)).status).toBe(200);
  });

  it("up to max_keys, also at once, and not where nothing is said", async () => {
    await tenants.team("few", "o", { selfService: selfService({ maxKeys: 3 }) });
    for (const team of ["few", "closed"]) await tenants.member("bob", team);
    const own = await tenants.secret({ userId: "bob", teamId: "few" });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask("POST /key/generate", {}, own.key)),
    );
    const keys = await tenants.store.keys.list({
      userId: "bob",
      teamId: "few",
      offset: 0,
      limit: 50,
    });
    expect(keys.total).toBeLessThanOrEqual(3);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(keys.total - 1);
    expect((await ask("POST /key/generate", {}, own.key)).status).toBe(
      keys.total === 3 ? 403 : 200,
    );
    // What was one too many is in the audit, made and deleted.
    const { body } = await tenants.ask("GET /audit?user=bob&limit=200", undefined);
    const lines = body["lines"] as readonly Record<string, unknown>[];
    const countOf = (action: string) => lines.filter((line) => line["action"] === action).length;
    const { total } = await tenants.store.keys.list({
      userId: "bob",
      teamId: "few",
      offset: 0,
      limit: 1,
    });
    const refused = lines.filter(({ outcome }) => outcome !== "done").length;
    expect(countOf("key.create") - refused - countOf("key.delete")).toBe(total - 1);
    const elsewhere = await tenants.secret({ userId: "bob", teamId: "closed" });
    expect((await ask("POST /key/generate", {}, elsewhere.key)).status).toBe(403);
    expect((await ask("POST /key/regenerate", {}, elsewhere.key)).status).toBe(403);
    const none = await tenants.secret({ teamId: "t" });
    expect((await ask("POST /key/generate", {}, none.key)).status).toBe(403);
  });

  it("up to max_keys of the organization over all of its teams, 50 at once", async () => {
    await tenants.organization("wide", { selfService: selfService({ maxKeys: 6 }) });
    await tenants.user("eve", { organizations: ["wide"] });
    const owns: { readonly key: string }[] = [];
    for (const team of ["w1", "w2"]) {
      await tenants.team(team, "wide");
      await tenants.member("eve", team);
      owns.push(await tenants.secret({ userId: "eve", teamId: team }));
    }
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => ask("POST /key/generate", {}, owns[at % 2]!.key)),
    );
    const count = async () =>
      (await tenants.store.keys.list({ userId: "eve", offset: 0, limit: 1 })).total;
    expect(await count()).toBeLessThanOrEqual(6);
    for (let at = 0; at < 8; at += 1) await ask("POST /key/generate", {}, owns[at % 2]!.key);
    expect(await count()).toBe(6);
    expect(await ask("POST /key/generate", {}, owns[0]!.key)).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining("6 keys in this organization") } },
    });
  });

  it("that end with the key that made them", async () => {
    const endMs = Date.now() + 3_600_000;
    const own = await tenants.secret({ userId: "ann", teamId: "t", expiresAtMs: endMs });
    expect((await ask("POST /key/generate", { duration: "2h" }, own.key)).status).toBe(403);
    expect((await ask("POST /key/generate", { expires: null }, own.key)).status).toBe(403);
    const made = await ask("POST /key/generate", {}, own.key);
    expect(made.body["expires"]).toBe(new Date(endMs).toISOString());
  });
});

describe("a key rotates", () => {
  it("itself alone, and not by a secret that was replaced", async () => {
    const own = await tenants.secret({ userId: "bob", teamId: "t" });
    const other = await tenants.secret({ userId: "bob", teamId: "t" });
    for (const key of [other.id, other.key])
      expect((await ask("POST /key/regenerate", { key }, own.key)).status).toBe(400);
    const rotated = await ask("POST /key/regenerate", { grace_period: "10m" }, own.key);
    expect(rotated).toMatchObject({ status: 200, body: { token_id: own.id } });
    const secret = String(rotated.body["key"]);
    expect((await ask("GET /key/info", undefined, secret)).status).toBe(200);
    // The old secret is valid for its grace, and makes nothing.
    expect((await ask("GET /key/info", undefined, own.key)).status).toBe(200);
    expect((await ask("POST /key/generate", {}, own.key)).status).toBe(403);
    expect((await ask("POST /key/regenerate", {}, own.key)).status).toBe(403);
  });

  it("and the audit has each of these with the key and its user", async () => {
    const { body } = await tenants.ask("GET /audit?user=bob&action=key.rotate&limit=5", undefined);
    const lines = body["lines"] as readonly object[];
    expect(lines[0]).toMatchObject({ user_id: "bob", outcome: "done", team_id: "t" });
    expect(JSON.stringify(lines)).not.toContain("sk-");
  });
});
