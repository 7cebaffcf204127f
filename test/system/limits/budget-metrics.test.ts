/** What is left of budgets, as metrics of the scopes that the operator names. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const LIMITS = "  - { use: limits, with: { budget_metrics: [team, membership, key] } }\n";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    models: [
      "{ id: paid, targets: [{ provider: openai, model: paid, price: { input: 0, output: 0, request: 0.01 } }] }",
    ],
  });
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(pipeline, readFileSync(pipeline, "utf8").replace(/^ +- limits\b.*\n/m, LIMITS));
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** The samples of the budgets. */
async function samples(): Promise<readonly string[]> {
  const text = await (await admin(gateway, "/metrics")).text();
  return text.split("\n").filter((line) => line.startsWith("sluice_limits_budget_"));
}

it("are of the named scopes that have budgets and requests, as of the last request", async () => {
  await admin(gateway, "/user/new", { user_id: "ann", max_budget: 9 });
  await admin(gateway, "/team/new", { team_id: "t", max_budget: 2, budget_duration: "1d" });
  await admin(gateway, "/team/new", { team_id: "unused", max_budget: 2 });
  await admin(gateway, "/team/member_add", { team_id: "t", user_id: "ann", max_budget: 3 });
  const fields = { user_id: "ann", team_id: "t", max_budget: 1 };
  const { key, token_id: id } = await createKey(gateway, fields);
  expect(await samples()).toEqual([]);
  for (const left of ["0.99", "0.98"]) {
    const answer = await chat(
      gateway,
      { model: "paid", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    );
    expect(answer.status).toBe(200);
    await answer.text();
    const found = await samples();
    expect(found).toContain(
      `sluice_limits_budget_remaining_usd{scope="key",id="${id}",period="ever"} ${left}`,
    );
  }
  expect((await samples()).toSorted()).toEqual(
    [
      `sluice_limits_budget_max_usd{scope="key",id="${id}",period="ever"} 1`,
      'sluice_limits_budget_max_usd{scope="membership",id="t:ann",period="ever"} 3',
      'sluice_limits_budget_max_usd{scope="team",id="t",period="1d"} 2',
      `sluice_limits_budget_remaining_usd{scope="key",id="${id}",period="ever"} 0.98`,
      'sluice_limits_budget_remaining_usd{scope="membership",id="t:ann",period="ever"} 2.98',
      'sluice_limits_budget_remaining_usd{scope="team",id="t",period="1d"} 1.98',
    ].toSorted(),
  );
});
