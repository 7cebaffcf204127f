/**
 * Retries of a deployment have a part for each key: a key whose requests always fail leaves retries
 * to the others.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl, attempts: 2, balance: NEVER_EJECTS });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(key: string, user: string): Promise<Response> {
  const body = { model: "gpt-4o-mini", messages: MESSAGES, user };
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
  await response.clone().text();
  return response;
}

it("a failed call of a quiet key is repeated while another key's requests always fail", async () => {
  const [attacker, victim] = await Promise.all([createKey(gateway, {}), createKey(gateway, {})]);
  let hasFailed = false;
  upstream.script("gpt-4o-mini", ({ parsed }) => {
    if (parsed?.["user"] === "attacker") return { kind: "error", status: 500 };
    hasFailed = !hasFailed;
    return hasFailed ? { kind: "error", status: 500 } : { kind: "reply" };
  });
  // The attacker is alone at first: all of the budget is its own.
  for (let turn = 0; turn < 20; turn += 1)
    expect((await ask(attacker.key, "attacker")).status).toBeGreaterThanOrEqual(500);
  const calls = upstream.requests.length;
  expect(calls).toBeGreaterThan(20);
  expect(calls).toBeLessThan(30);
  expect((await ask(victim.key, "victim")).status).toBe(200);
  // From here on they share it: the attacker keeps a fifth of its own requests.
  const explanations: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const id = (await ask(attacker.key, "attacker")).headers.get("x-request-id") ?? "";
    explanations.push(await (await admin(gateway, `/requests/${id}`)).text());
  }
  const refused = explanations.filter((text) =>
    /retry budget of the deployment is spent|the key has its part of the deployment's retry budget/.test(
      text,
    ),
  );
  expect(refused.length).toBeGreaterThanOrEqual(10);
});
