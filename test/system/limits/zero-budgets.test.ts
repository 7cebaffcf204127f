/**
 * A budget of 0 refuses every call in its scope, also one that costs nothing: in memory, and on
 * Redis where one answers.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const hasRedis = await redisAnswers();
const PREFIX = `{sluice-zero-${randomUUID()}}:`;
const FREE = "price: { input: 0, output: 0 }";
const LIMITS = `  - use: limits
    with:
      budgets:
        - { per: provider, max: 0, only: [closed] }
        - { per: tag, max: 0, only: [closed] }
`;

const FIRST = { model: "first" };

const RECORDS: readonly (readonly [path: string, body: object])[] = [
  ["/budget/new", { budget_id: "zero", max_budget: 0 }],
  ["/user/new", { user_id: "zero", max_budget: 0 }],
  ["/user/new", { user_id: "member" }],
  ["/team/new", { team_id: "open" }],
  ["/team/member_add", { user_id: "member", team_id: "open", max_budget: 0 }],
  ["/team/new", { team_id: "zero", max_budget: 0 }],
  ["/organization/new", { organization_id: "zero", max_budget: 0 }],
  ["/team/new", { team_id: "in-zero", organization_id: "zero" }],
  ["/customer/new", { customer_id: "zero", max_budget: 0 }],
  ["/customer/new", { customer_id: "at-free", per_model: { free: { max_budget: 0 } } }],
];

if (!hasRedis) console.info("skipped: budgets of 0 on Redis, as none answers on 127.0.0.1:6379");

describe.each(["memory", "redis"])("a budget of 0, in %s", (kind) => {
  if (kind === "redis" && !hasRedis) return;
  let upstream: Upstream;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    upstream = await createUpstream();
    upstream.script("broken", { kind: "error", status: 500 });
    const redis = `shared: { use: redis, url: "redis://${REDIS.host}:${REDIS.port}/9", prefix: "${PREFIX}" }`;
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      attempts: 1,
      providers: [
        `closed: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`,
      ],
      models: [
        `{ id: free, targets: [{ provider: openai, model: free, ${FREE} }] }`,
        `{ id: closed, targets: [{ provider: closed, model: free, ${FREE} }] }`,
        `{ id: first, targets: [{ provider: openai, model: broken, ${FREE} }], fallbacks: { general: [free] } }`,
      ],
      sections: kind === "redis" ? [redis] : [],
    });
    const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
    writeFileSync(pipeline, readFileSync(pipeline, "utf8").replace(/^ +- limits\b.*\n/m, LIMITS));
    gateway = await startGateway(workspace);
    for (const [path, body] of RECORDS) {
      const response = await admin(gateway, path, body);
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    }
  }, 40_000);
  afterAll(async () => {
    await gateway?.dispose();
    await upstream?.close();
    if (kind !== "redis") return;
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  const send = async (fields: object, body: object) => {
    const { key } = await createKey(gateway, fields);
    const called = upstream.requests.length;
    const response = await chat(
      gateway,
      { model: "free", messages: MESSAGES, max_tokens: 5, ...body },
      { headers: { authorization: `Bearer ${key}` } },
    );
    await response.text();
    return [response.status, upstream.requests.length - called];
  };

  it.each<[string, object, object?, number?]>([
    ["key", { max_budget: 0 }],
    ["key in each period", { max_budget: 0, budget_duration: "1d" }],
    ["key at the model", { per_model: { free: { max_budget: 0 } } }],
    ["key at a model that stands in", { per_model: { free: { max_budget: 0 } } }, FIRST, 1],
    ["key by its budget record", { budget_id: "zero" }],
    ["pool", { budget_id: "zero", budget_share: "pool" }],
    ["user", { user_id: "zero" }],
    ["membership", { user_id: "member", team_id: "open" }],
    ["team", { team_id: "zero" }],
    ["organization", { organization_id: "zero" }],
    ["team's organization", { team_id: "in-zero" }],
    ["customer of the key", { customer_id: "zero" }],
    ["customer of the request", {}, { user: "zero" }],
    ["customer at a model that stands in", {}, { ...FIRST, user: "at-free" }, 1],
    ["provider", {}, { model: "closed" }],
    ["tag", { tags: ["closed"] }],
  ])("of the %s refuses a model without a price", async (_name, fields, body = {}, calls = 0) => {
    expect(await send(fields, body)).toEqual([calls === 0 ? 429 : 502, calls]);
  });

  it("holds for nothing else, and ends when it is cleared", async () => {
    expect(await send({ max_budget: 0.000_000_001 }, {})).toEqual([200, 1]);
    expect(await send({}, FIRST)).toEqual([200, 2]);
    const { key, token_id } = await createKey(gateway, { max_budget: 0 });
    const ask = () =>
      chat(
        gateway,
        { model: "free", messages: MESSAGES },
        { headers: { authorization: `Bearer ${key}` } },
      );
    const refused = await ask();
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([429, "false"]);
    expect((await admin(gateway, "/key/update", { key: token_id, max_budget: null })).status).toBe(
      200,
    );
    expect((await ask()).status).toBe(200);
  });
});
