/** Lists and explanations of requests show each role what is at its places, and nothing else. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { startGateway } from "../support/gateway-process.ts";
import { type Caller, grant, organization, startTenants, team, Tenants, WHOLE } from "./tenants.ts";

let tenants: Tenants;
/** Ids of requests, by what made them. */
const made = new Map<string, string[]>();
const viewers: (readonly [caller: Caller, sees: readonly string[]])[] = [];

beforeAll(async () => {
  tenants = await startTenants();
  for (const id of ["o1", "o2"]) await tenants.organization(id);
  made.clear();
  viewers.length = 0;
  await tenants.team("t1", "o1");
  await tenants.team("t2", "o1");
  await tenants.team("t3", "o2");
  for (const [id, ...organizations] of [
    ["ann", "o1", "o2"],
    ["bob", "o1"],
  ] as const)
    await tenants.user(id, { organizations });
  await tenants.member("ann", "t3");
  const keys = {
    t1: { teamId: "t1", alias: "of-t1" },
    t2: { teamId: "t2" },
    o1: { organizationId: "o1" },
    t3: { teamId: "t3", alias: "of-t3" },
    ann: { teamId: "t3", userId: "ann" },
    none: {},
  };
  for (const [name, parts] of Object.entries(keys)) {
    const { key } = await tenants.secret(parts);
    for (const model of ["echo", "unknown", "echo"]) await ask(name, key, model);
  }
  await ask("without a key", "sk-of-no-key-at-all-0123456789", "echo");
  const all = Object.keys(keys);
  for (const [name, roles, sees, userId] of [
    ["whole", [grant("viewer", WHOLE)], [...all, "without a key"]],
    ["o1", [grant("viewer", organization("o1"))], ["t1", "t2", "o1"]],
    ["t1", [grant("keys", team("t1"))], ["t1"]],
    [
      "both",
      [grant("viewer", team("t1")), grant("admin", organization("o2"))],
      ["t1", "t3", "ann"],
    ],
    ["own", [grant("viewer", team("t2"))], ["t2", "ann"], "ann"],
    ["bob", [grant("viewer", team("t2"))], ["t2"], "bob"],
  ] as const) {
    const caller =
      userId === undefined
        ? await tenants.caller(name, roles)
        : await callerOf(userId, roles as never);
    viewers.push([caller, sees]);
  }
}, 60_000);

afterAll(() => tenants?.close());

/** An admin key of a user that exists. */
async function callerOf(userId: string, roles: Caller["roles"]): Promise<Caller> {
  await tenants.tables.user.update({ id: userId }, { roles });
  const { id, key } = await tenants.secret({ userId, admin: true });
  return { name: userId, userId, key, keyId: id, roles };
}

async function ask(name: string, key: string, model: string): Promise<void> {
  const response = await fetch(`${tenants.gateway.publicUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  made.set(name, [...(made.get(name) ?? []), response.headers.get("x-request-id") ?? ""]);
}

const idsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => made.get(name) ?? []).toSorted();

/** All pages of the list, two requests each. */
async function listed(key: string, more = ""): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const path = `GET /requests?limit=2${more}${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const { status, body } = await tenants.ask(path, undefined, key);
    expect(status).toBe(200);
    const requests = body["requests"] as readonly Readonly<Record<string, unknown>>[];
    ids.push(...requests.map(({ request_id: id }) => String(id)));
    if (body["next_cursor"] === null) return ids.toSorted();
    cursor = String(body["next_cursor"]);
  }
}

/** What is not as the role says. */
async function wrongOf(source: "memory" | "ledger"): Promise<readonly unknown[]> {
  const wrong: unknown[] = [];
  const everything = [...made].flatMap(([name, ids]) => ids.map((id) => [name, id] as const));
  const missing = await tenants.ask("GET /requests/none", undefined, viewers[0]![0].key);
  expect(missing.status).toBe(404);
  for (const [{ name, key }, names] of viewers) {
    const sees = source === "memory" ? names : names.filter((one) => one !== "without a key");
    expect([name, await listed(key)]).toEqual([name, idsOf(sees)]);
    expect([name, await listed(key, "&key=of-t1")]).toEqual([
      name,
      sees.includes("t1") ? idsOf(["t1"]) : [],
    ]);
    for (const [of, id] of everything) {
      const { status, text, body } = await tenants.ask(`GET /requests/${id}`, undefined, key);
      const isRight = sees.includes(of)
        ? status === 200 && body["source"] === source
        : status === 404 && text === missing.text;
      if (!isRight) wrong.push([name, of, status, text]);
    }
  }
  return wrong;
}

it("while the process knows them, and by the ids of their completions", async () => {
  expect(await wrongOf("memory")).toEqual([]);
  const foreign = viewers.find(([{ name }]) => name === "t1")![0];
  const answer = await tenants.ask(
    `GET /requests/chatcmpl-${made.get("t3")![0]}`,
    undefined,
    foreign.key,
  );
  expect(answer.status).toBe(404);
  // A key of others is one without requests, as is a key that does not exist.
  const of = await tenants.ask("GET /requests?key=of-t3", undefined, foreign.key);
  const none = await tenants.ask("GET /requests?key=of-none", undefined, foreign.key);
  expect([of.status, of.text]).toEqual([none.status, none.text]);
});

it("from the ledger, after a restart", async () => {
  await tenants.gateway.stop();
  const gateway = await startGateway(tenants.workspace);
  tenants = new Tenants(tenants.workspace, gateway, tenants.store);
  expect(await wrongOf("ledger")).toEqual([]);
});
