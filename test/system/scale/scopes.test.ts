/**
 * Budgets for 200 calls in each scope, alone and nested, and 1,000 calls at once over three gateways
 * on one Redis, and on a Redis Cluster: 200 are served, and the sums of every scope are those of the
 * rows. The servers are the test's own. Skipped by name without `redis-server`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LedgerSumFilter, poolTag } from "@sluice/contract";
import { createUpstream, type Upstream } from "@sluice/testing";
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
import { startCluster } from "../stores/redis-cluster.fixture.ts";
import {
  hasRedisServer,
  redisServers,
  type RedisServers,
} from "../stores/redis-servers.fixture.ts";

const GATEWAYS = 3;
const IS_FULL = process.env["SLUICE_PROOF"] === "full";
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

/** The servers of shared state: how a gateway file names them, and the variables of that. */
interface Topology {
  readonly shared: string;
  readonly environment: Readonly<Record<string, string>>;
}

const TOPOLOGIES: Readonly<Record<string, () => Promise<Topology>>> = {
  "one Redis": async () => {
    const { port } = await servers.start([]);
    const environment = { TEST_REDIS_URL: `redis://127.0.0.1:${port}` };
    return { shared: 'url: "${env:TEST_REDIS_URL}"', environment };
  },
  "a Redis Cluster": async () => {
    const { addresses } = await startCluster(servers);
    const quoted = addresses.map((address) => `"${address}"`).join();
    return { shared: `cluster: [${quoted}]`, environment: {} };
  },
};

/** On a cluster each kind of group has a case: home, user, customer. The whole is in the nested one. */
const casesOn = (place: string): readonly Case[] =>
  place === "one Redis" || IS_FULL ? CASES : ["organization", "user", "customer"];

interface Fleet {
  readonly gateways: readonly GatewayProcess[];
  readonly stores: readonly OpenTenants[];
  dispose(): Promise<void>;
}

let upstream: Upstream;
let servers: RedisServers;

/** Gateways with the same files and records on one state, with names of their own there. */
async function fleetOf(
  { shared, environment }: Topology,
  name: string,
  keys: readonly string[],
  budgets: string,
): Promise<Fleet> {
  const made = await Promise.all(
    Array.from({ length: GATEWAYS }, async () => {
      const options = {
        baseUrl: upstream.baseUrl,
        attempts: 1,
        models: [
          `{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini, ${PRICE} }] }`,
        ],
      };
      const workspace = createWorkspace(options);
      workspace.write(`${workspace.config(options)}shared: { use: redis, ${shared}, prefix: "{${name}}:", instances: ${GATEWAYS}, command_timeout: 5s }
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
        ...environment,
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

/** Sends all calls at once, a part to each gateway. Returns how many were served. */
async function storm({ gateways }: Fleet, key: string, more: object = {}): Promise<number> {
  const body = JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, ...more });
  const statuses = await Promise.all(
    Array.from({ length: CALLS }, async (_, at) => {
      const gateway = gateways[at % gateways.length]!;
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
async function rowsOf({ gateways }: Fleet, alias: string): Promise<SpendRow[]> {
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
async function spentOf({ stores }: Fleet, filter: LedgerSumFilter): Promise<number> {
  const sums = await Promise.all(stores.map(({ ledger }) => ledger.spent(filter)));
  return sums.reduce((sum, one) => sum + one, 0);
}

if (!hasRedisServer) console.info("skipped: budgets of scopes, as there is no redis-server");

beforeAll(async () => {
  servers = redisServers();
  upstream = await createUpstream();
});
afterAll(async () => {
  await upstream?.close();
  await servers?.dispose();
});

describe.skipIf(!hasRedisServer).each(Object.keys(TOPOLOGIES))("three gateways on %s", (place) => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await TOPOLOGIES[place]!();
  });

  describe("a budget for 200 calls", () => {
    let fleet: Fleet;
    beforeAll(async () => {
      const key = (name: Case, more = ""): string =>
        `  - { alias: "${name}", key: "\${env:${variableOf(name)}}"${more} }`;
      fleet = await fleetOf(
        topology,
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
      for (const { tenants, teams } of fleet.stores) {
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
      for (const gateway of fleet.gateways)
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
    afterAll(() => fleet?.dispose());

    it.each(casesOn(place))("of the %s serves 200 of 1,000 calls", async (name) => {
      const more = name === "customer" ? { user: "carl" } : {};
      expect(await storm(fleet, name, more)).toBe(SERVED);
      const rows = await eventually("the rows", async () => {
        const found = await rowsOf(fleet, name);
        return found.length >= SERVED && found;
      });
      expect(rows).toHaveLength(SERVED);
      expect(await spentOf(fleet, FILTERS[name])).toBe(LIMIT.maxBudgetNanoUsd);
      const refused = await chat(
        fleet.gateways[0]!,
        { model: "gpt-4o-mini", messages: MESSAGES, ...more },
        {
          headers: { authorization: `Bearer ${secretOf(name)}` },
        },
      );
      expect(await refused.text()).toContain("budget of 2 US dollars");
    });
  });

  describe("budgets for 200 calls in all scopes", () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await fleetOf(
        topology,
        "nested",
        [
          `  - { alias: nested, key: "\${env:KEY_NESTED}", user_id: eve, team_id: core, max_budget: ${DOLLARS} }`,
        ],
        `, budgets: [{ per: global, max: ${DOLLARS} }]`,
      );
      for (const { tenants, teams } of fleet.stores) {
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
    afterAll(() => fleet?.dispose());

    it("serve 200 of 1,000 calls", async () => {
      expect(await storm(fleet, "nested", { user: "carl" })).toBe(SERVED);
      const rows = await eventually("the rows", async () => {
        const found = await rowsOf(fleet, "nested");
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
      const spent = await Promise.all(filters.map((filter) => spentOf(fleet, filter)));
      expect(spent).toEqual(filters.map(() => LIMIT.maxBudgetNanoUsd));
    });
  });

  describe.skipIf(place !== "one Redis" && !IS_FULL)("a budget of the whole gateway", () => {
    let fleet: Fleet;
    beforeAll(async () => {
      const keys = [`  - { alias: whole, key: "\${env:KEY_WHOLE}" }`];
      fleet = await fleetOf(
        topology,
        "whole",
        keys,
        `, budgets: [{ per: global, max: ${DOLLARS} }]`,
      );
    });
    afterAll(() => fleet?.dispose());

    it("serves 200 of 1,000 calls, and shows nothing of what others have spent", async () => {
      expect(await storm(fleet, "whole")).toBe(SERVED);
      const answer = await chat(
        fleet.gateways[0]!,
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
});
