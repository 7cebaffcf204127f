/**
 * Changes in the middle of a stream: a key moved to another team, a team blocked, a customer
 * blocked, a budget edited. What runs is settled where it was taken, and the next request is decided
 * by the records as they are now.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { customer, openTenants, type OpenTenants, team } from "../support/tenant-records.ts";
import { createWorkspace } from "../support/workspace.ts";

const CENT = 10_000_000;
/** A stream that ends after the changes: its events are held back. */
const EVENT_DELAY_MS = 90;

let upstream: Upstream;
let gateway: GatewayProcess;
let store: OpenTenants;

beforeAll(async () => {
  upstream = await createUpstream();
  const price = "price: { input: 0, output: 0, request: 0.01 }";
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    models: [
      `{ id: slow, targets: [{ provider: openai, model: slow, ${price} }] }`,
      `{ id: quick, targets: [{ provider: openai, model: quick, ${price} }] }`,
    ],
  });
  gateway = await startGateway(workspace);
  store = await openTenants(workspace);
  upstream.script("slow", {
    kind: "reply",
    text: Array.from({ length: 20 }, (_, at) => `w${at}`).join(" "),
    eventDelayMs: EVENT_DELAY_MS,
  });
});
afterAll(async () => {
  await store?.close();
  await gateway?.dispose();
  await upstream?.close();
});

/** A request's status and error. */
async function ask(key: string, more: object = {}): Promise<{ status: number; text: string }> {
  const answer = await chat(
    gateway,
    { model: "quick", messages: MESSAGES, ...more },
    { headers: { authorization: `Bearer ${key}` } },
  );
  return { status: answer.status, text: await answer.text() };
}

/** Begins a stream; `end` reads the rest of it and returns its rows. */
async function begin(key: string, more: object = {}) {
  const answer = await chat(
    gateway,
    { model: "slow", stream: true, messages: MESSAGES, ...more },
    { headers: { authorization: `Bearer ${key}` } },
  );
  expect(answer.status).toBe(200);
  const reader = answer.body!.getReader();
  await reader.read();
  return {
    async end() {
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += Buffer.from(value).toString();
      }
      expect(text).toContain("[DONE]");
      return rowsOf(gateway, answer.headers.get("x-request-id"));
    },
  };
}

/** Waits until a request of a key has a status, and prints how long it took. */
async function until(status: number, key: string, more: object = {}): Promise<void> {
  const startedMs = performance.now();
  await eventually(`the status ${status}`, async () => (await ask(key, more)).status === status);
  console.info(`${status} ${Math.round(performance.now() - startedMs)} ms after the change`);
}

/** Waits until the rows of a team sum up to an amount. */
const spends = (teamId: string, nanoUsd: number) =>
  eventually(
    `the spend of ${teamId}`,
    async () => (await store.ledger.spent({ teamId })) === nanoUsd,
  );

describe("in the middle of a stream", () => {
  it("a key that moves leaves what it spends where it was", async () => {
    for (const id of ["before", "after"])
      await store.teams.insert(team(id, { maxBudgetNanoUsd: 2 * CENT }));
    const { key, token_id } = await createKey(gateway, { team_id: "before" });
    const stream = await begin(key);
    expect((await admin(gateway, "/key/update", { key: token_id, team_id: "after" })).status).toBe(
      200,
    );
    expect((await ask(key)).status).toBe(200);
    const rows = await stream.end();
    expect(rows).toMatchObject([{ team_id: "before", spend: 0.01 }]);
    await spends("before", CENT);
    await spends("after", CENT);
    // Each team's counter has its own.
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).text).toContain("The team's budget of 0.02 US dollars");
  });

  it("a team that is blocked ends nothing, and admits nothing more", async () => {
    await store.teams.insert(team("blocked-later"));
    const { key } = await createKey(gateway, { team_id: "blocked-later" });
    const stream = await begin(key);
    await store.teams.update("blocked-later", { blocked: true });
    await until(401, key);
    expect(await stream.end()).toMatchObject([{ team_id: "blocked-later", status: "success" }]);
  });

  it("a customer that is blocked ends nothing, and is refused by name from then on", async () => {
    const { key } = await createKey(gateway, {});
    const stream = await begin(key, { user: "carl" });
    await store.tenants.customer.insert(customer("carl", { blocked: true }));
    await until(403, key, { user: "carl" });
    expect((await ask(key, { user: "carl" })).text).toContain(
      'The customer \\"carl\\" is blocked.',
    );
    expect((await ask(key, { user: "cara" })).status).toBe(200);
    expect(await stream.end()).toMatchObject([{ end_user: "carl", status: "success" }]);
  });

  it("a budget that shrinks keeps what is spent, and one that grows admits again", async () => {
    await store.teams.insert(team("edited", { maxBudgetNanoUsd: 10 * CENT }));
    const { key } = await createKey(gateway, { team_id: "edited" });
    expect((await ask(key)).status).toBe(200);
    const stream = await begin(key);
    await store.teams.update("edited", { maxBudgetNanoUsd: 2 * CENT });
    // Two are spent or reserved. What the old budget still admits is counted.
    let served = 2;
    await eventually("the refusal", async () => {
      const { status } = await ask(key);
      if (status === 200) served += 1;
      return status === 429;
    });
    expect(await stream.end()).toMatchObject([{ spend: 0.01 }]);
    await spends("edited", served * CENT);
    await store.teams.update("edited", { maxBudgetNanoUsd: (served + 1) * CENT });
    await until(200, key);
    expect((await ask(key)).status).toBe(429);
    await spends("edited", (served + 1) * CENT);
  });
});
