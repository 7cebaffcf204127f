/**
 * First requests of new budgets: what was spent is read for all of them, also when the gateway did
 * not run for a while.
 */

import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

/** Longer than any deadline of a question to the ledger or to the supervising process. */
const STOPPED_MS = 22_000;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeEach(async () => {
  upstream = await createUpstream();
});
afterEach(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function start(workers: number): Promise<void> {
  const models = [
    "{ id: quick, targets: [{ provider: openai, model: quick, price: { input: 1, output: 1 } }] }",
  ];
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    server: `workers: ${workers}`,
    models,
  });
}

async function send(key: string, stream: boolean): Promise<number> {
  const response = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "quick", messages: MESSAGES, max_tokens: 5, stream }),
  });
  await response.text();
  return response.status;
}

it.each([1, 2])(
  "first requests of a new key at once are all served: %i workers",
  async (workers) => {
    await start(workers);
    for (const count of [4, 40]) {
      for (const stream of [false, true]) {
        const { key } = await createKey(gateway, { max_budget: 5 });
        const statuses = await Promise.all(Array.from({ length: count }, () => send(key, stream)));
        expect(new Set(statuses)).toEqual(new Set([200]));
      }
    }
  },
);

it("first requests are served after the gateway was stopped while it read what was spent", async () => {
  await start(1);
  const keys = await Promise.all(
    Array.from({ length: 60 }, async () => (await createKey(gateway, { max_budget: 5 })).key),
  );
  const sent = keys.map((key, index) => send(key, index % 2 === 0));
  // Some are served, some have asked the ledger, some wait for their turn to ask it.
  await Promise.race(sent);
  gateway.signal("SIGSTOP");
  await pause(STOPPED_MS);
  gateway.signal("SIGCONT");
  expect(new Set(await Promise.all(sent))).toEqual(new Set([200]));
});
