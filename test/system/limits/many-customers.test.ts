/**
 * Requests of many customers at once, as after a start: the budget of each begins with its rows,
 * and none is refused because others begin too.
 */

import { setTimeout as pause } from "node:timers/promises";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";
import { createWorkspace } from "../support/workspace.ts";

const PRICE = "price: { input: 0, output: 0, request: 0.01 }";
/** Times that a customer asks again while the spend cannot be read. */
const MAX_TURNS = 10;
const CUSTOMERS = Array.from({ length: 250 }, (_, at) => `c${at}`);

describe.each([
  { store: "sqlite", isThere: true },
  { store: "postgres", isThere: isServerThere },
])("on $store", ({ store, isThere }) => {
  let upstream: Upstream;
  let database: TestDatabase | undefined;
  let gateway: GatewayProcess;
  let key: string;
  let environment: Record<string, string | undefined>;

  beforeAll(async () => {
    if (!isThere) return;
    upstream = await createUpstream();
    if (store !== "sqlite") database = await createDatabase();
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      ...(database && { postgres: "" }),
      models: [`{ id: m, targets: [{ provider: openai, model: up, ${PRICE} }] }`],
      sections: ["customers: { headers: [x-customer-id], defaults: { max_budget: 0.025 } }"],
    });
    environment = { DATABASE_URL: database?.url };
    gateway = await startGateway(workspace, environment);
    ({ key } = await createKey(gateway, {}));
  }, 60_000);
  afterAll(async () => {
    await gateway?.dispose();
    await database?.drop();
    await upstream?.close();
  });

  async function ask(customer: string): Promise<string> {
    const headers = { authorization: `Bearer ${key}`, "x-customer-id": customer };
    for (let turn = 0; ; turn += 1) {
      const response = await chat(gateway, { model: "m", messages: MESSAGES }, { headers });
      const text = await response.text();
      if (response.status !== 503) return String(response.status);
      // A server that is late on a busy machine says nothing: the gateway names a time for it.
      if (turn === MAX_TURNS) return `503 ${text}`;
      await pause(Number(response.headers.get("retry-after") ?? 1) * 1_000);
    }
  }
  /** How many answers of each kind all customers got. */
  async function answers(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const answer of await Promise.all(CUSTOMERS.map((name) => ask(name))))
      counts[answer] = (counts[answer] ?? 0) + 1;
    return counts;
  }

  it.skipIf(!isThere)("each gets its budget, also after a start and a kill", async () => {
    expect(await answers()).toEqual({ 200: CUSTOMERS.length });
    await gateway.kill();
    gateway = await startGateway(gateway.workspace, environment);
    expect(await answers()).toEqual({ 200: CUSTOMERS.length });
    await gateway.stop();
    gateway = await startGateway(gateway.workspace, environment);
    expect(await answers()).toEqual({ 429: CUSTOMERS.length });
  });
});
