/**
 * `kill -9` with calls under way: every upstream call that was made has one row after the restart,
 * and its budget counts it.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("hangs", { kind: "hang" });
  upstream.script("gpt-4", { kind: "hang" });
  upstream.script("stops", { kind: "reply", fault: { kind: "hang", after: 3 } });
  const priced = (id: string): string =>
    `{ id: ${id}, targets: [{ provider: openai, model: ${id}, price: { input: 1000, output: 1000 } }] }`;
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    models: [priced("hangs"), priced("stops"), priced("quick")],
  });
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.kill();
  workspace?.remove();
  await upstream?.close();
});

const rowsIn = (rows: readonly SpendRow[]): string[] =>
  rows.map((row) => `${row.request_id}:${row.attempt}`);

it("leaves one row for each call that was made, of every kind of route, and counts it in the budget", async () => {
  const { key } = await createKey(gateway, { max_budget: 0.05, key_alias: "budgeted" });
  const init = { headers: { authorization: `Bearer ${key}`, "x-sluice-tags": "project:night" } };
  const never = (sent: Promise<Response>): void => void sent.catch(() => undefined);
  const asked = (model: string, more: object = {}) => ({
    model,
    messages: MESSAGES,
    max_tokens: 1,
    ...more,
  });
  const settled = await chat(gateway, asked("quick"), init);
  expect(settled.status).toBe(200);
  await settled.text();
  never(chat(gateway, asked("hangs"), init));
  never(
    chat(gateway, asked("stops", { stream: true }), init).then((response) =>
      response.text().then(() => response),
    ),
  );
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  never(post("/v1/embeddings", { model: "hangs", input: "some text to embed" }));
  never(post("/openai/v1/chat/completions", asked("hangs")));
  await eventually("all calls at the upstream", () => upstream.requests.length === 5);
  // The settled row must be in a file: its note must not come back as a second row.
  await gateway.kill();
  gateway = await startGateway(workspace);

  const rows = await eventually("the rows", async () => {
    const found = await spendRows(gateway, { limit: "100" });
    return found.length >= 5 ? found : undefined;
  });
  expect(rows).toHaveLength(upstream.requests.length);
  expect(new Set(rowsIn(rows)).size).toBe(rows.length);
  const cut = rows.filter(({ metadata }) => metadata["interrupted"] === true);
  expect(cut).toHaveLength(4);
  for (const row of cut) {
    expect(row).toMatchObject({
      status: "partial",
      usage_source: "estimated",
      attempt: 1,
      completion_tokens: expect.any(Number),
    });
    expect(row.prompt_tokens).toBeGreaterThan(3);
  }
  const ofKey = cut.filter(({ request_tags: tags }) => tags.includes("project:night"));
  expect(ofKey).toHaveLength(2);
  for (const row of ofKey)
    expect(row).toMatchObject({
      cost_status: "priced",
      model_group: row.model,
      completion_tokens: 1,
    });
  // Nothing was reserved for the master key: its prompts are billed.
  for (const row of cut.filter((other) => !ofKey.includes(other)))
    expect(row.completion_tokens).toBe(0);
  const spent = rows
    .filter((row) => row.request_tags.includes("project:night"))
    .reduce((sum, row) => sum + (row.spend ?? 0), 0);
  // 0.05 dollars are 50 tokens: what was under way leaves no room for another call.
  expect(spent).toBeGreaterThan(0.03);
  const refused = await chat(gateway, asked("quick"), init);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { type: "budget_exceeded" } });
  // A second start finds nothing new.
  await gateway.stop();
  const left = readdirSync(workspace.dataDirectory).filter((name) => name.endsWith(".log"));
  expect(left).toEqual([]);
  gateway = await startGateway(workspace);
  const again = await spendRows(gateway, { limit: "100" });
  expect(
    rowsIn(again)
      .filter((row) => rowsIn(rows).includes(row))
      .toSorted(),
  ).toEqual(rowsIn(rows).toSorted());
  expect(again.filter(({ metadata }) => metadata["interrupted"] === true)).toHaveLength(4);
  expect(readdirSync(join(workspace.dataDirectory))).toContain("store.id");
});

interface KilledCall {
  readonly call: string;
  readonly path: string;
  readonly model: string;
  readonly more: object;
  /** One such call fits it, two do not. */
  readonly budget: number;
  /** A model that answers. */
  readonly next: string;
}

const CHAT = { path: "/v1/chat/completions", model: "hangs", budget: 6, next: "quick" };
const NATIVE = {
  path: "/openai/v1/chat/completions",
  model: "gpt-4",
  budget: 0.36,
  next: "gpt-3.5-turbo",
};
const KILLED: readonly KilledCall[] = [
  { call: "a whole reply", ...CHAT, more: { max_tokens: 4_000 } },
  { call: "a stream", ...CHAT, more: { max_completion_tokens: 4_000, stream: true } },
  { call: "two replies", ...CHAT, more: { max_tokens: 2_000, n: 2 } },
  { call: "a native call", ...NATIVE, more: { max_completion_tokens: 4_000 } },
];

describe("a killed call under a budget costs what was reserved for it", () => {
  const keys = new Map<string, { readonly key: string; readonly token_id: string }>();
  const post = ({ call, path }: KilledCall, body: object): Promise<Response> =>
    fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${keys.get(call)?.key}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ messages: MESSAGES, ...body }),
    });

  // Each call has a key of its own. One kill ends all of them.
  beforeAll(async () => {
    const sent: Promise<unknown>[] = [];
    for (const killed of KILLED) {
      const { call, model, more, budget } = killed;
      keys.set(call, await createKey(gateway, { max_budget: budget }));
      const before = upstream.requests.length;
      let early: Response | undefined;
      sent.push(
        post(killed, { model, ...more }).then(
          (response) => (early = response),
          () => undefined,
        ),
      );
      await eventually(`the call at the upstream: ${call}`, async () => {
        if (early !== undefined && !early.ok) throw new Error(await early.text());
        return upstream.requests.length === before + 1;
      });
    }
    await gateway.kill();
    await Promise.all(sent);
    gateway = await startGateway(workspace);
  });

  it.each(KILLED)("$call", async (killed) => {
    const { call, model, more, budget, next } = killed;
    const refused = await post(killed, { model, ...more });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { type: "budget_exceeded" } });
    const rows = await eventually("the row", async () => {
      const found = await spendRows(gateway, {
        api_key: keys.get(call)?.token_id ?? "",
        limit: "100",
      });
      const partial = found.filter(({ status }) => status === "partial");
      return partial.length > 0 && partial;
    });
    expect(rows).toHaveLength(1);
    const [row] = rows;
    expect(row).toMatchObject({
      model,
      completion_tokens: 4_000,
      usage_source: "estimated",
      cost_status: "priced",
    });
    expect(row?.spend).toBeGreaterThan(budget / 2);
    const short = await post(killed, { model: next, max_tokens: 1 });
    expect(await short.text()).toContain('"usage"');
    expect(short.status).toBe(200);
  });
});
