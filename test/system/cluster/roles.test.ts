/** Roles and the audit with two workers: one decision, and one line for what all workers do. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { type GatewayProcess, MASTER_KEY, startOwnProcess } from "../support/gateway-process.ts";

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startOwnProcess({ server: "workers: 2" });
}, 120_000);
afterAll(() => gateway?.dispose());

async function ask(call: string, body?: object, key = MASTER_KEY, headers: object = {}) {
  const [method = "", path = ""] = call.split(" ");
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function keyOf(user: string, role: string): Promise<string> {
  await ask("POST /user/new", { user_id: user, roles: [{ role, at: "whole" }] });
  const { body } = await ask("POST /key/generate", { user_id: user, admin: true });
  return String(body["key"]);
}

const linesOf = async (query: string) =>
  (await ask(`GET /audit?order=oldest&limit=100&${query}`)).body["lines"] as readonly Record<
    string,
    unknown
  >[];

it("a viewer reads what both workers answer, and changes nothing", async () => {
  const key = await keyOf("vera", "viewer");
  const status = await ask("GET /config/status", undefined, key);
  expect([status.status, (status.body["workers"] as unknown[]).length]).toEqual([200, 2]);
  for (const call of [
    "POST /restart",
    "POST /config/reload",
    "POST /deployments/echo%2Fecho/reset",
  ])
    expect([call, (await ask(call, {}, key)).status]).toEqual([call, 403]);
  const forged = { "x-sluice-supervisor": "x", "x-sluice-supervisor-master": "1" };
  expect((await ask("POST /restart", {}, key, forged)).status).toBe(403);
  expect((await ask("GET /config/status", undefined, "sk-unknown", forged)).status).toBe(401);
  expect((await linesOf("user=vera")).map(({ action, outcome }) => [action, outcome])).toEqual([
    ["gateway.restart", "refused"],
    ["config.reload", "refused"],
    ["deployment.reset", "refused"],
    ["gateway.restart", "refused"],
  ]);
});

it("an operator reloads both workers, and restarts: one attempt in the audit each", async () => {
  const key = await keyOf("olga", "operator");
  const reload = await ask("POST /config/reload", {}, key);
  expect([reload.status, (reload.body["workers"] as unknown[]).length]).toEqual([200, 2]);
  expect((await ask("POST /restart", {}, key)).status).toBe(200);
  const lines = await linesOf("user=olga");
  expect(lines.map(({ action, outcome }) => [action, outcome])).toEqual([
    ["config.reload", "begun"],
    ["config.reload", "done"],
    ["gateway.restart", "begun"],
    ["gateway.restart", "done"],
  ]);
  // The supervisor's client, and not the supervisor.
  expect(new Set(lines.map(({ address }) => address))).toEqual(new Set(["127.0.0.1"]));
}, 120_000);

it("changes of both workers make one chain", async () => {
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => ask("POST /key/generate", { key_alias: `k${index}` })),
  );
  const lines = await linesOf("");
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
  const [, ...others] = lines;
  expect(others.map((line) => line["prev_hash"])).toEqual(
    lines.slice(0, -1).map(({ hash }) => hash),
  );
});
