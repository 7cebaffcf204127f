/**
 * A store that fails while the sums of new customers are asked for: each request has one answer, no
 * sum counts as nothing, and all of it heals.
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { createUpstream, type Upstream } from "@sluice/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createDatabase, isServerThere, SERVER, type TestDatabase } from "../support/postgres.ts";
import { createWorkspace } from "../support/workspace.ts";

const PRICE = "price: { input: 0, output: 0, request: 0.01 }";
const FAULT_MS = 6_000;
/** Calls that the budget of a customer has room for. */
const ROOM = 3;

/** Holds the lock of the file, as another process may. */
async function lockFile(path: string): Promise<void> {
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  await pause(FAULT_MS);
  other.exec("rollback");
  other.close();
}

/** Ends the connections of a database again and again. */
async function endConnections(url: string): Promise<void> {
  const client = new Client({ connectionString: `${SERVER}/test` });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  const untilMs = Date.now() + FAULT_MS;
  while (Date.now() < untilMs) {
    // oxlint-disable-next-line no-await-in-loop -- again and again.
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
      [name],
    );
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pause(15);
  }
  await client.end();
}

describe.each([
  { store: "sqlite", isThere: true },
  { store: "postgres", isThere: isServerThere },
])("on $store", ({ store, isThere }) => {
  let upstream: Upstream;
  let database: TestDatabase | undefined;
  let gateway: GatewayProcess;
  let key: string;
  let environment: Record<string, string | undefined>;
  const granted = new Map<string, number>();
  const reasons = new Set<string>();

  beforeAll(async () => {
    if (!isThere) return;
    upstream = await createUpstream();
    if (store !== "sqlite") database = await createDatabase();
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      ...(database && { postgres: "" }),
      models: [`{ id: m, targets: [{ provider: openai, model: up, ${PRICE} }] }`],
      sections: ["customers: { headers: [x-customer-id], defaults: { max_budget: 0.035 } }"],
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

  async function ask(customer: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}`, "x-customer-id": customer };
    const response = await chat(gateway, { model: "m", messages: MESSAGES }, { headers });
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } };
    if (response.status === 200) granted.set(customer, (granted.get(customer) ?? 0) + 1);
    if (response.status === 503) reasons.add(error?.message ?? "");
    return response.status;
  }
  const names = (mark: string): string[] => Array.from({ length: 60 }, (_, at) => `${mark}${at}`);
  const askAll = (customers: readonly string[]): Promise<number[]> =>
    Promise.all(customers.map((name) => ask(name)));

  it.skipIf(!isThere)(
    "no customer gets more than its budget, and each gets it",
    async () => {
      const fault =
        store === "sqlite"
          ? lockFile(join(gateway.workspace.dataDirectory, "sluice.db"))
          : endConnections(database?.url ?? "");
      const early = askAll([...names("a"), ...names("a")]);
      await pause(FAULT_MS / 2);
      const late = askAll([...names("b"), ...names("b")]);
      await fault;
      const during = [...(await early), ...(await late)];
      expect(during.filter((status) => status !== 200 && status !== 503)).toEqual([]);
      for (const reason of reasons)
        expect(reason).toMatch(/cannot read the spend now|store does not answer/);
      const all = [...names("a"), ...names("b")];
      await eventually("a sum", async () => (await ask("another")) === 200 || undefined);
      for (let round = 0; round < ROOM + 1; round++)
        // oxlint-disable-next-line no-await-in-loop -- one round after the other.
        expect((await askAll(all)).filter((status) => status !== 200 && status !== 429)).toEqual(
          [],
        );
      expect(all.map((name) => granted.get(name))).toEqual(all.map(() => ROOM));
      await gateway.kill();
      gateway = await startGateway(gateway.workspace, environment);
      expect(new Set(await askAll(all))).toEqual(new Set([429]));
    },
    90_000,
  );
});
