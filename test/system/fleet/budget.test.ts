/**
 * A budget for 200 calls, and 1,000 calls at once over three gateways on one PostgreSQL and one
 * Redis: 200 are served. Skipped by name where one of the servers does not answer.
 */

import { randomUUID } from "node:crypto";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { chat, createKey, MESSAGES, spendRows } from "../support/client.ts";
import { commandAt, createFleet, type TestFleet } from "../support/databases/fleet.ts";
import { eventually } from "../support/eventually.ts";
import { isServerThere } from "../support/postgres.ts";

const CALLS = 1_000;
const SERVED = 200;
const PREFIX = `{sluice-fleet-${randomUUID()}}:`;
const SHARED = `shared: { use: redis, url: "\${env:TEST_REDIS_URL}", prefix: "${PREFIX}", instances: 3, command_timeout: 5s }\n`;
const hasServers = isServerThere && (await redisAnswers());

let upstream: Upstream;
let fleet: TestFleet;

if (!hasServers)
  console.info("skipped: a budget of a fleet, as PostgreSQL or Redis does not answer");

describe.skipIf(!hasServers)("three gateways on PostgreSQL and Redis", () => {
  beforeAll(async () => {
    upstream = await createUpstream();
    fleet = await createFleet({
      baseUrl: upstream.baseUrl,
      attempts: 1,
      models: [
        "{ id: m, targets: [{ provider: openai, model: m, price: { input: 0, output: 0, request: 0.01 } }] }",
      ],
    });
    const environment = {
      OPENAI_API_KEY: "sk-upstream",
      TEST_REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9`,
    };
    const add = () =>
      fleet.add(environment, (workspace) => workspace.write(`${fleet.text()}${SHARED}`));
    await add();
    await Promise.all([add(), add()]);
  });
  afterAll(async () => {
    await fleet?.dispose();
    await upstream?.close();
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  it("serve exactly 200 of 1,000 calls at once, and rows and counter say the same", async () => {
    const [first] = fleet.members;
    const { key, token_id: id } = await createKey(first!.gateway, { max_budget: SERVED / 100 });
    const headers = { authorization: `Bearer ${key}` };
    const statuses = await Promise.all(
      Array.from({ length: CALLS }, async (_, call) => {
        const { gateway } = fleet.members[call % fleet.members.length]!;
        return eventually("an answer other than 503", async () => {
          const response = await chat(gateway, { model: "m", messages: MESSAGES }, { headers });
          await response.text();
          // On a busy machine the ledger may take longer than a budget waits: clients repeat then.
          return response.status !== 503 && response.status;
        });
      }),
    );
    const counts = Object.groupBy(statuses, (status) => String(status));
    expect(Object.entries(counts).map(([status, those = []]) => [status, those.length])).toEqual([
      ["200", SERVED],
      ["429", CALLS - SERVED],
    ]);
    expect(upstream.requests).toHaveLength(SERVED);
    await eventually("all rows", async () => {
      const rows = await spendRows(first!.gateway, { api_key: id, limit: String(CALLS) });
      return rows.filter(({ status }) => status === "success").length === SERVED;
    });
    const { code, stdout } = await commandAt(first!, "ledger", "verify");
    expect(stdout).toContain("1 budget of 1 that this gateway has used agree with the rows.");
    expect(code).toBe(0);
  });
});
