/** Limits of a customer at single models below one wildcard, in any order of requests. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    models: ['{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }'],
  });
}, 60_000);
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const [FREE, LIMITED] = ["openai/gpt-4o-mini", "openai/gpt-4o"];

it.each([
  ["free first", [FREE, LIMITED, LIMITED, FREE], [200, 200, 429, 200]],
  ["limited first", [LIMITED, FREE, LIMITED, FREE], [200, 200, 429, 200]],
])("hold at their model alone: %s", async (customer, models, expected) => {
  const per_model = { [LIMITED]: { rpm: 1 } };
  await admin(gateway, "/customer/new", { customer_id: customer, per_model });
  const { key } = await createKey(gateway, {});
  const statuses: number[] = [];
  for (const model of models) {
    const body = { model, messages: MESSAGES, user: customer };
    const answer = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
    statuses.push(answer.status);
    await answer.text();
  }
  expect(statuses).toEqual(expected);
});
