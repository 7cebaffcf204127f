/**
 * A store that answers questions and is slow with rows: what waits in the outbox is spent money, so
 * no budget begins without it.
 */

import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";
import { createWorkspace } from "../support/workspace.ts";

const PRICE = "price: { input: 0, output: 0, request: 0.01 }";

describe.skipIf(!isServerThere)("a store that is slow with rows", () => {
  let upstream: NativeUpstream;
  let database: TestDatabase;
  let locking: Client;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    upstream = await createNativeUpstream();
    upstream.reply(200, "application/json", JSON.stringify({ id: "c", choices: [] }));
    database = await createDatabase();
    const workspace = createWorkspace({
      baseUrl: `${upstream.url}/v1`,
      postgres: "",
      models: [`{ id: m, targets: [{ provider: openai, model: up, ${PRICE} }] }`],
      sections: ["customers: { headers: [x-customer-id], defaults: { max_budget: 1 } }"],
    });
    gateway = await startGateway(workspace, { DATABASE_URL: database.url });
    locking = new Client({ connectionString: database.url });
    await locking.connect();
  });
  afterAll(async () => {
    await locking?.end();
    await gateway?.dispose();
    await database?.drop();
    await upstream?.close();
  });

  async function ask(key: string, customer?: string): Promise<number> {
    const response = await fetch(`${gateway.publicUrl}/openai/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(customer !== undefined && { "x-customer-id": customer }),
      },
      body: JSON.stringify({ model: "up", messages: [{ role: "user", content: "Hi." }] }),
    });
    await response.text();
    return response.status;
  }

  it("lets no budget begin anew after kill -9", async () => {
    const { key } = await createKey(gateway, { max_budget: 0.045 });
    await locking.query("begin");
    await locking.query("lock table ledger in share row exclusive mode");
    const before = [];
    for (let call = 0; call < 3; call++) before.push(await ask(key));
    expect(before).toEqual([200, 200, 200]);
    await gateway.kill();
    gateway = await startGateway(gateway.workspace, { DATABASE_URL: database.url });
    const after = await Promise.all(Array.from({ length: 4 }, () => ask(key)));
    expect(after).toEqual([503, 503, 503, 503]);
    await locking.query("rollback");
    const later: number[] = [];
    await eventually("the budget", async () => {
      later.push(await ask(key));
      return later.at(-1) === 429 ? true : undefined;
    });
    expect(later.filter((status) => status === 200)).toHaveLength(1);
  });

  it("refuses many customers soon while their sums cannot be read", async () => {
    const { key } = await createKey(gateway, {});
    await locking.query("begin");
    await locking.query("lock table spend_customer_day in access exclusive mode");
    const startedMs = performance.now();
    const customers = Array.from({ length: 100 }, (_, at) => `c${at}`);
    const during = await Promise.all(customers.map((name) => ask(key, name)));
    const tookMs = performance.now() - startedMs;
    await locking.query("rollback");
    expect(new Set(during)).toEqual(new Set([503]));
    // Two late answers, of a second each, and what waits behind them.
    expect(tookMs).toBeLessThan(12_000);
    const after = await Promise.all(customers.map((name) => ask(key, name)));
    expect(new Set(after)).toEqual(new Set([200]));
  }, 60_000);
});
