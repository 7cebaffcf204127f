/**
 * Budgets for 200 calls in each scope, alone and nested, and 1,000 calls at once over two gateways
 * on one Redis: 200 are served, and the sums of every scope are those of the rows. Skipped by name
 * where no Redis answers.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LedgerSumFilter, poolTag } from "@sluice/contract";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { chat, MESSAGES, spendRows, type SpendRow } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  budget,
  customer,
  membership,
  openTenants,
  type OpenTenants,
  organization,
  team,
  user,
} from "../support/tenant-records.ts";
import { createWorkspace } from "../support/workspace.ts";

const hasRedis = await redisAnswers();
const RUN = randomUUID();
const CALLS = 1_000;
const SERVED = 200;
const LIMIT = { maxBudgetNanoUsd: SERVED * 10_000_000 };
const DOLLARS = SERVED / 100;
const PRICE = "price: { input: 0, output: 0, request: 0.01 }";

/** The scopes, and what a request of the case belongs to. */
const CASES = [
  "key",
  "user",
  "membership",
  "team",
  "organization",
  "customer",
  "shared budget",
  "model",
] as const;
type Case = (typeof CASES)[number];

const secretOf = (name: string): string =>
  `sk-${name.replaceAll(" ", "-")}-of-the-scope-tests-0123456789abcdef`;
const variableOf = (name: string): string => `KEY_${name.replaceAll(" ", "_").toUpperCase()}`;

interface Pair {
  readonly gateways: readonly GatewayProcess[];
  readonly stores: readonly OpenTenants[];
  dispose(): Promise<void>;
}

let upstream: Upstream;

/** Two gateways with the same files and records on one Redis. */
async function pairOf(name: string, keys: readonly string[], budgets: string): Promise<Pair> {
  const prefix = `{sluice-scopes-${name}-${RUN}}:`;
  const made = await Promise.all(
    [1, 2].map(async () => {
      const options = {
        baseUrl: upstream.baseUrl,
        attempts: 1,
        models: [
          `{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini, ${PRICE} }] }`,
        ],
      };
      const workspace = createWorkspace(options);
      workspace.write(`${workspace.config(options)}shared: { use: redis, url: "\${env:TEST_REDIS_URL}", prefix: "${prefix}", instances: 2, command_timeout: 5s }
keys:
${keys.join("\n")}
`);
      const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
      const limits = `  - { use: limits, with: { reserved_share: "100%"${budgets} } }\n`;
      const text = readFileSync(pipeline, "utf8").replace(/^ +- limits\b.*\n/m, limits);
      writeFileSync(pipeline, text);
      const secrets = Object.fromEntries(
        [...CASES, "whole", "nested"].map((one) => [variableOf(one), secretOf(one)]),
      );
      const gateway = await startGateway(workspace, {
        ...secrets,
        TEST_REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9`,
      });
      return { gateway, store: await openTenants(workspace) };
    }),
  );
  const [gateways, stores] = [made.map(({ gateway }) => gateway), made.map(({ store }) => store)];
  return {
    gateways,
    stores,
    async dispose() {
      for (const store of stores) await store.close();
      for (const gateway of gateways) await gateway.dispose();
    },
  };
}

/** Sends all calls at once, half to each gateway. Returns how many were served. */
async function storm({ gateways }: Pair, key: string, more: object = {}): Promise<number> {
  const body = JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, ...more });
  const statuses = await Promise.all(
    Array.from({ length: CALLS }, async (_, at) => {
      const gateway = gateways[at % 2]!;
      const answer = await chat(gateway, body, {
        headers: { authorization: `Bearer ${secretOf(key)}` },
      });
      await answer.text();
      return answer.status;
    }),
  );
  expect([...new Set(statuses)].toSorted()).toEqual([200, 429]);
  return statuses.filter((status) => status === 200).length;
}

/** The rows of calls of both gateways. */
async function rowsOf({ gateways }: Pair, alias: string): Promise<SpendRow[]> {
  const all = await Promise.all(
    gateways.map((gateway) =>
      spendRows(gateway, { api_key: `yaml:${alias}`, limit: String(CALLS) }),
    ),
  );
  return all.flat().filter(({ status }) => status === "success");
}

/** The rows of each scope, as its counters are read anew from the ledger. */
const FILTERS: Readonly<Record<Case, LedgerSumFilter>> = {
  key: { keyId: "yaml:key" },
  user: { userId: "ann" },
  membership: { userId: "bob", teamId: "guild" },
  team: { teamId: "squad" },
  organization: { organizationId: "acme" },
  customer: { organizationId: "", endUser: "carl" },
  "shared budget": { tag: poolTag("pot") },
  model: { teamId: "modelled", models: ["gpt-4o-*"] },
};

/** The nano-dollars of the rows of both gateways. */
async function spentOf({ stores }: Pair, filter: LedgerSumFilter): Promise<number> {
  const sums = await Promise.all(stores.map(({ ledger }) => ledger.spent(filter)));
  return sums.reduce((sum, one) => sum + one, 0);
}

beforeAll(async () => {
  upstream = await createUpstream();
});
afterAll(async () => {
  await upstream?.close();
  if (hasRedis) await adminCommand("FLUSHDB");
});

describe.skipIf(!hasRedis)("a budget for 200 calls over two gateways", () => {
  let pair: Pair;
  beforeAll(async () => {
    const key = (name: Case, more = ""): string =>
      `  - { alias: "${name}", key: "\${env:${variableOf(name)}}"${more} }`;
    pair = await pairOf(
      "alone",
      [
        key("key", `, max_budget: ${DOLLARS}`),
        key("user", ", user_id: ann"),
        key("membership", ", user_id: bob, team_id: guild"),
        key("team", ", team_id: squad"),
        key("organization", ", team_id: of-acme"),
        key("customer"),
        key("shared budget", ", team_id: pooled"),
        key("model", ", team_id: modelled"),
      ],
      "",
    );
    for (const { tenants, teams } of pair.stores) {
      await tenants.organization.insert(organization("acme", LIMIT));
      await tenants.user.insert(user("ann", LIMIT));
      await tenants.user.insert(user("bob"));
      await tenants.budget.insert(budget("pot", LIMIT));
      await teams.insert(team("guild"));
      await teams.insert(team("squad", LIMIT));
      await teams.insert(team("of-acme", { organizationId: "acme" }));
      await teams.insert(team("pooled", { budgetId: "pot", budgetShare: "pool" }));
      const amounts = { ...budget("none"), ...LIMIT };
      await teams.insert(team("modelled", { perModel: { "gpt-4o-*": amounts } }));
      await tenants.membership.insert(membership("bob", "guild", LIMIT));
      await tenants.customer.insert(customer("carl", LIMIT));
    }
    // The gateways saw the teams missing at most a second ago.
    for (const gateway of pair.gateways)
      await eventually("the records", async () => {
        const answer = await chat(
          gateway,
          { model: "none", messages: MESSAGES },
          {
            headers: { authorization: `Bearer ${secretOf("team")}` },
          },
        );
        await answer.text();
        return answer.status === 404;
      });
  });
  afterAll(() => pair?.dispose());

  it.each(CASES)("of the %s serves 200 of 1,000 calls", async (name) => {
    const more = name === "customer" ? { user: "carl" } : {};
    expect(await storm(pair, name, more)).toBe(SERVED);
    const rows = await eventually("the rows", async () => {
      const found = await rowsOf(pair, name);
      return found.length >= SERVED && found;
    });
    expect(rows).toHaveLength(SERVED);
    expect(await spentOf(pair, FILTERS[name])).toBe(LIMIT.maxBudgetNanoUsd);
    const refused = await chat(
      pair.gateways[0]!,
      { model: "gpt-4o-mini", messages: MESSAGES, ...more },
      {
        headers: { authorization: `Bearer ${secretOf(name)}` },
      },
    );
    expect(await refused.text()).toContain("budget of 2 US dollars");
  });
});

describe.skipIf(!hasRedis)("budgets for 200 calls in all scopes", () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await pairOf(
      "nested",
      [
        `  - { alias: nested, key: "\${env:KEY_NESTED}", user_id: eve, team_id: core, max_budget: ${DOLLARS} }`,
      ],
      `, budgets: [{ per: global, max: ${DOLLARS} }]`,
    );
    for (const { tenants, teams } of pair.stores) {
      await tenants.organization.insert(organization("acme", LIMIT));
      await tenants.user.insert(user("eve", LIMIT));
      await tenants.budget.insert(budget("pot", LIMIT));
      const shared = {
        ...LIMIT,
        organizationId: "acme",
        budgetId: "pot",
        budgetShare: "pool",
      } as const;
      await teams.insert(team("core", shared));
      await tenants.membership.insert(membership("eve", "core", LIMIT));
      await tenants.customer.insert(customer("carl", { ...LIMIT, organizationId: "acme" }));
    }
  });
  afterAll(() => pair?.dispose());

  it("serve 200 of 1,000 calls", async () => {
    expect(await storm(pair, "nested", { user: "carl" })).toBe(SERVED);
    const rows = await eventually("the rows", async () => {
      const found = await rowsOf(pair, "nested");
      return found.length >= SERVED && found;
    });
    expect(rows).toHaveLength(SERVED);
    const filters: LedgerSumFilter[] = [
      {},
      { organizationId: "acme" },
      { teamId: "core" },
      { userId: "eve", teamId: "core" },
      { userId: "eve" },
      { keyId: "yaml:nested" },
      { organizationId: "acme", endUser: "carl" },
      { tag: poolTag("pot") },
    ];
    const spent = await Promise.all(filters.map((filter) => spentOf(pair, filter)));
    expect(spent).toEqual(filters.map(() => LIMIT.maxBudgetNanoUsd));
  });
});

describe.skipIf(!hasRedis)("a budget of the whole gateway", () => {
  let pair: Pair;
  beforeAll(async () => {
    const keys = [`  - { alias: whole, key: "\${env:KEY_WHOLE}" }`];
    pair = await pairOf("whole", keys, `, budgets: [{ per: global, max: ${DOLLARS} }]`);
  });
  afterAll(() => pair?.dispose());

  it("serves 200 of 1,000 calls, and shows nothing of what others have spent", async () => {
    expect(await storm(pair, "whole")).toBe(SERVED);
    const answer = await chat(
      pair.gateways[0]!,
      { model: "gpt-4o-mini", messages: MESSAGES },
      {
        headers: { authorization: `Bearer ${secretOf("whole")}` },
      },
    );
    expect(await answer.text()).toContain(
      "The gateway's budget of 2 US dollars is spent or reserved.\"",
    );
  });
});
