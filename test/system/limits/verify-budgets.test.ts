/**
 * `sluice ledger verify` compares the counters of budgets in Redis with the rows. Skipped by name
 * where no Redis answers.
 */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { MESSAGES } from "../support/client.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const hasRedis = await redisAnswers();
const PREFIX = `{sluice-verify-${randomUUID()}}:`;
const KEY = "sk-of-the-budget-comparison-0123456789";
const ENVIRONMENT = { KEY, TEST_REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9` };
const CENT_NANO_USD = 10_000_000;

let workspace: Workspace;
let gateway: GatewayProcess;

const counter = async (): Promise<string> => {
  const names = (await adminCommand("KEYS", `${PREFIX}b:*key*`)) as readonly (string | Buffer)[];
  return String(names[0]);
};
const verify = async () => {
  const words = ["ledger", "verify", "--config", workspace.configPath];
  const command = runCommand([...words, "--admin-url", gateway.adminUrl], workspace.folder, {
    ...ENVIRONMENT,
    SLUICE_MASTER_KEY: gateway.masterKey,
  });
  const { code } = await command.ended;
  return { code, stdout: command.stdout };
};

if (!hasRedis) console.info("skipped: budgets against rows, as no Redis answers");

describe.skipIf(!hasRedis)("budgets and their rows", () => {
  beforeAll(async () => {
    const options = {
      models: [
        "{ id: chat, targets: [{ provider: echo, model: echo, price: { input: 0, output: 0, request: 0.01 } }] }",
      ],
    };
    workspace = createWorkspace(options);
    const shared = `shared: { use: redis, url: "\${env:TEST_REDIS_URL}", prefix: "${PREFIX}", command_timeout: 5s }\n`;
    const keys = `keys:\n  - { alias: limited, key: "\${env:KEY}", max_budget: 5 }\n`;
    workspace.write(`${workspace.config(options)}${shared}${keys}`);
    gateway = await startGateway(workspace, ENVIRONMENT);
    for (let call = 0; call < 3; call += 1) {
      const response = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", messages: MESSAGES }),
      });
      await response.text();
    }
  });
  afterAll(async () => {
    await gateway?.dispose();
    const keys = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
    if (keys.length > 0) await adminCommand("DEL", ...keys);
  });

  it("agree after requests", async () => {
    const { code, stdout } = await verify();
    expect(stdout).toContain("1 budget of 1 that this gateway has used agree with the rows.");
    expect(code).toBe(0);
  });

  it("that lack rows are a finding, and where", async () => {
    await adminCommand("HINCRBY", await counter(), "spent", String(-CENT_NANO_USD));
    const { code, stdout } = await verify();
    expect(stdout).toContain(
      `the counter has ${2 * CENT_NANO_USD} and 0 reserved, the rows ${3 * CENT_NANO_USD}: it lacks rows`,
    );
    expect(code).toBe(1);
  });

  it("that have more than their rows are printed, and no finding", async () => {
    await adminCommand("HINCRBY", await counter(), "spent", String(5 * CENT_NANO_USD));
    const { code, stdout } = await verify();
    expect(stdout).toContain("it has more than its rows");
    expect(code).toBe(0);
  });
});
