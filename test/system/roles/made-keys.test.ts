/** Keys that were made with a key by self-service: its limits hold for all of them together. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const LIMITS = `  - use: limits
    with: { windows: [{ per: key, requests: 6, window: 1h, only: [optioned] }] }
`;

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    models: [
      "{ id: priced, targets: [{ provider: openai, model: priced, price: { input: 0, output: 0, request: 0.01 } }] }",
      "{ id: free, targets: [{ provider: openai, model: free, price: { input: 0, output: 0 } }] }",
    ],
  });
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(pipeline, readFileSync(pipeline, "utf8").replace(/^ +- limits\b.*\n/m, LIMITS));
  gateway = await startGateway(workspace);
  await done("/team/new", { team_id: "t", self_service: { max_keys: 100 } });
  await done("/user/new", { user_id: "ann" });
  await done("/team/member_add", { team_id: "t", user_id: "ann" });
}, 60_000);

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function done(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = await admin(gateway, path, body);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

interface Key {
  readonly key: string;
  readonly id: string;
}

/** A key of the user, made by administration. */
async function issued(fields: object = {}): Promise<Key> {
  const made = await done("/key/generate", { team_id: "t", user_id: "ann", ...fields });
  return { key: String(made["key"]), id: String(made["token_id"]) };
}

async function makeWith(key: string, fields: object = {}): Promise<Response> {
  return fetch(`${gateway.publicUrl}/key/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
}

/** A key that another one makes. */
async function made(key: string, fields: object = {}): Promise<Key> {
  const answer = await makeWith(key, fields);
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { key: String(body["key"]), id: String(body["token_id"]) };
}

async function statusOf(key: string, model = "free"): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await chat(gateway, { model, messages: MESSAGES }, { headers });
  await answer.text();
  return answer.status;
}

/** How many of so many requests, in turn with each key and at once, are served. */
async function served(keys: readonly Key[], count: number, model?: string): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: count }, (_, at) => statusOf(keys[at % keys.length]!.key, model)),
  );
  return statuses.filter((status) => status === 200).length;
}

describe("a key and those that were made with it", () => {
  it("share its budget, also after a restart, and after one was deleted and made again", async () => {
    const own = await issued({ max_budget: 0.12 });
    const family = [own, await made(own.key), await made(own.key), await made(own.key)];
    expect(await served(family, 40, "priced")).toBe(12);
    const read = await fetch(`${gateway.publicUrl}/key/info`, {
      headers: { authorization: `Bearer ${own.key}` },
    });
    expect(await read.json()).toMatchObject({
      info: { spend: 0.12, budget_remaining: 0, made_with: null },
    });
    await done("/key/delete", { keys: [family[1]!.id] });
    expect(await statusOf((await made(own.key)).key, "priced")).toBe(429);
    await gateway.stop();
    gateway = await startGateway(workspace);
    expect(await served(family.slice(2), 4, "priced")).toBe(0);
    // The administration may raise it: all of them have what is left.
    await done("/key/update", { key: own.id, max_budget: 0.15 });
    expect(await served([own, ...family.slice(2)], 12, "priced")).toBe(3);
  });

  it("share its requests, its limits at a model, and the options of each key", async () => {
    const rated = await issued({ rpm: 7 });
    expect(await served([rated, await made(rated.key), await made(rated.key)], 30)).toBe(7);
    const perModel = await issued({ per_model: { free: { rpm: 5 } } });
    expect(await served([perModel, await made(perModel.key)], 20)).toBe(5);
    const optioned = await issued({ key_alias: "optioned" });
    expect(await served([optioned, await made(optioned.key)], 20)).toBe(6);
  });

  it("have the models and the guardrails that it has now", async () => {
    const own = await issued();
    const other = await made(own.key);
    expect(await statusOf(other.key, "priced")).toBe(200);
    await done("/key/update", { key: own.id, models: ["free"] });
    expect(await statusOf(other.key, "priced")).toBe(404);
    expect(await statusOf(other.key)).toBe(200);
  });

  it("end with it: blocked, given to another user, deleted", async () => {
    await done("/user/new", { user_id: "bob" });
    await done("/team/member_add", { team_id: "t", user_id: "bob" });
    const own = await issued();
    const others = [await made(own.key), await made(own.key)];
    await done("/key/block", { key: own.id });
    expect(await served(others, 4)).toBe(0);
    await done("/key/unblock", { key: own.id });
    expect(await served(others, 4)).toBe(4);
    await done("/key/update", { key: own.id, user_id: "bob" });
    expect(await served(others, 4)).toBe(0);
    await done("/key/update", { key: own.id, user_id: "ann" });
    const { deleted_keys: deleted } = await done("/key/delete", { keys: [own.id] });
    expect(deleted).toEqual(expect.arrayContaining([...others.map(({ id }) => id), own.id]));
    expect(await statusOf(others[0]!.key)).toBe(401);
    expect((await admin(gateway, `/key/info?key=${others[0]!.id}`)).status).toBe(404);
  });

  it("make no further keys, and rotate themselves", async () => {
    const own = await issued();
    const other = await made(own.key);
    const refused = await makeWith(other.key);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("made with another key"),
    ]);
    const rotated = await fetch(`${gateway.publicUrl}/key/regenerate`, {
      method: "POST",
      headers: { authorization: `Bearer ${other.key}`, "content-type": "application/json" },
      body: "{}",
    });
    const { key } = (await rotated.json()) as { readonly key: string };
    expect((await makeWith(key)).status).toBe(403);
    expect(await statusOf(key)).toBe(200);
  });

  it("no request names the tag of the rows of others", async () => {
    const own = await issued();
    const other = await made(own.key);
    const headers = { authorization: `Bearer ${own.key}`, "x-sluice-tags": `sluice:key:${own.id}` };
    const named = await chat(gateway, { model: "free", messages: MESSAGES }, { headers });
    expect(named.status).toBe(403);
    const { info } = (await (await admin(gateway, `/key/info?key=${other.id}`)).json()) as {
      readonly info: Readonly<Record<string, unknown>>;
    };
    expect(info["made_with"]).toBe(own.id);
  });
});
