/** Keys on the admin listener: who may change them, what every field takes, how they are shown. */

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, createKey, MESSAGES, recordOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const DECLARED_KEY = "sk-declared-in-the-configuration-0001";

let gateway: GatewayProcess;

beforeAll(async () => {
  const workspace = createWorkspace();
  const declared =
    'keys:\n  - { alias: ci, key: "${env:CI_KEY}", models: [echo], user_id: robot, spend_scope: user }\n';
  workspace.write(workspace.config({}) + declared);
  gateway = await startGateway(workspace, { CI_KEY: DECLARED_KEY });
});
afterAll(async () => {
  await gateway?.dispose();
});

async function ask(
  path: string,
  body?: unknown,
): Promise<readonly [number, Record<string, unknown>]> {
  const response = await admin(gateway, path, body);
  return [response.status, (await response.json()) as Record<string, unknown>];
}

async function infoOf(key: string): Promise<Record<string, unknown>> {
  const [, { info }] = await ask(`/key/info?key=${key}`);
  return recordOf(info);
}

function use(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return chat(gateway, { model: "echo", messages: MESSAGES }, { headers }).then(
    ({ status }) => status,
  );
}

const ROUTES = [
  "POST /key/generate",
  "POST /key/update",
  "POST /key/delete",
  "POST /key/block",
  "POST /key/unblock",
  "POST /key/regenerate",
  "GET /key/info",
  "GET /key/list",
  "POST /key/import",
  "POST /team/import",
  "POST /team/new",
  "POST /team/update",
  "POST /team/delete",
  "POST /team/block",
  "POST /team/unblock",
  "GET /team/info",
  "GET /team/list",
];

describe.each(ROUTES)("%s", (route) => {
  const [method = "", path = ""] = route.split(" ");
  const call = (headers: Record<string, string>) =>
    fetch(`${gateway.adminUrl}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(method === "POST" && { body: "{}" }),
    });

  it("is for the master key alone", async () => {
    const { key } = await createKey(gateway, {});
    const statusOf = async (headers: Record<string, string>) => (await call(headers)).status;
    const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
    expect(await statusOf({})).toBe(401);
    expect(await statusOf(bearer("sk-unknown"))).toBe(401);
    expect(await statusOf({ authorization: gateway.masterKey })).toBe(401);
    expect(await statusOf({ ...bearer(gateway.masterKey), "x-service-api-key": key })).toBe(401);
    expect(await statusOf(bearer(key))).toBe(403);
    expect(await statusOf(bearer(DECLARED_KEY))).toBe(401);
    for (const headers of [bearer(gateway.masterKey), { "x-service-api-key": gateway.masterKey }]) {
      expect([200, 400]).toContain(await statusOf(headers));
    }
  });

  it("does not exist on the public listener, but for what a key may do for itself", async () => {
    const headers = { authorization: `Bearer ${gateway.masterKey}` };
    const { status } = await fetch(`${gateway.publicUrl}${path}`, { method, headers });
    const isOwn = ["/key/generate", "/key/regenerate"].includes(path);
    // The master key has no record there, and owns none.
    expect(status).toBe(isOwn ? 403 : 404);
  });

  it("takes no other method", async () => {
    const headers = { authorization: `Bearer ${gateway.masterKey}` };
    const response = await fetch(`${gateway.adminUrl}${path}`, {
      method: method === "GET" ? "POST" : "GET",
      headers,
    });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain(method);
  });
});

/** Every field of a key with a value, another value, and what clearing it leaves. */
const FIELDS: readonly (readonly [
  name: string,
  value: unknown,
  other: unknown,
  cleared: unknown,
])[] = [
  ["key_alias", "a laptop", "another laptop", null],
  ["models", ["echo", "large", "openai/*"], ["echo"], []],
  ["max_budget", 0.1, 7_999_999.999999999, null],
  ["max_budget", 0, 1e-9, null],
  ["max_budget", 12.345678901, 100, null],
  ["soft_budget", 0.1, 7_999_999.999999999, null],
  ["budget_duration", "30d", "1mo", null],
  ["rpm_limit", 0, 9_007_199_254_740_991, null],
  ["tpm_limit", 100_000, 1, null],
  ["max_parallel_requests", 5, 0, null],
  ["tags", ["project:x", "é"], ["y"], []],
  ["metadata", { note: [1, null, { deep: "ü" }] }, {}, {}],
  ["guardrails", ["pii"], ["pii", "toxicity"], []],
  ["user_id", "u-1", "u-2", null],
  ["team_id", "fields", "fields-2", null],
  ["blocked", true, false, false],
  ["spend_scope", "user", "team", "key"],
  ["expires", "2090-01-31T12:00:00.000Z", "2091-01-31T00:00:00.000Z", null],
];

/** The fields of a key without the use of its windows, which is read for the answer. */
const storedOf = async (id: string): Promise<Record<string, unknown>> => {
  const { rpm_used: _requests, tpm_used: _tokens, ...stored } = await infoOf(id);
  return stored;
};

describe("a field of a key", () => {
  beforeAll(async () => {
    for (const team_id of ["fields", "fields-2"]) await ask("/team/new", { team_id });
  });

  it.each(FIELDS)(
    "%s is stored as it is sent (%j), shown, changed to %j and cleared",
    async (name, value, other, cleared) => {
      const [status, made] = await ask("/key/generate", { [name]: value });
      expect([status, made[name]]).toEqual([200, value]);
      const id = String(made["token_id"]);
      const before = await storedOf(id);
      expect(before).toEqual(
        Object.fromEntries(Object.entries(made).filter(([member]) => member !== "key")),
      );
      expect(await ask("/key/update", { key: id, [name]: other })).toMatchObject([
        200,
        { [name]: other, key: id },
      ]);
      expect(await storedOf(id)).toEqual({ ...before, [name]: other });
      // An absent field is kept.
      expect(await ask("/key/update", { key: made["key"] })).toMatchObject([
        200,
        { [name]: other },
      ]);
      expect(await ask("/key/update", { key: id, [name]: null })).toMatchObject([
        200,
        { [name]: cleared },
      ]);
      expect(await storedOf(id)).toEqual({ ...before, [name]: cleared });
      const [, empty] = await ask("/key/generate", { [name]: null });
      expect(empty[name]).toEqual(cleared);
      expect(await ask("/key/delete", { keys: [id, made["key"]] })).toEqual([
        200,
        { deleted_keys: [id] },
      ]);
    },
  );

  it.each(["max_budget", "soft_budget"])(
    "%s is the nearest nano-dollar of any number, for keys and teams (contract 1.8)",
    async (name) => {
      for (const path of ["/key/generate", "/team/new"]) {
        const [status, made] = await ask(path, { [name]: 0.1 + 0.2 });
        expect([path, status, made[name]]).toEqual([path, 200, 0.3]);
        expect((await ask(path, { [name]: 12.3456789014 }))[1][name]).toBe(12.345678901);
      }
    },
  );

  it("duration gives the time at which the key ends", async () => {
    const [, made] = await ask("/key/generate", { duration: "2w" });
    const left = Date.parse(String(made["expires"])) - Date.now();
    expect(Math.abs(left - 14 * 86_400_000)).toBeLessThan(10_000);
    expect(await ask("/key/update", { key: made["token_id"], duration: null })).toMatchObject([
      200,
      { expires: null },
    ]);
  });

  const LONG = "x".repeat(257);
  it.each<readonly [string, unknown]>([
    ["key_alias", ""],
    ["key_alias", 5],
    ["key_alias", "two\nlines"],
    ["key_alias", "nul\0"],
    ["key_alias", LONG],
    ["key_alias", "\ud800"],
    ["models", "echo"],
    ["models", [5]],
    ["models", [""]],
    ["models", { echo: true }],
    ["max_budget", -1],
    ["max_budget", -1e-9],
    ["max_budget", 8_000_001],
    ["max_budget", 1e30],
    ["max_budget", "5"],
    ["max_budget", true],
    ["soft_budget", -1],
    ["soft_budget", "5"],
    ["budget_duration", "monthly"],
    ["budget_duration", "0s"],
    ["budget_duration", "10ms"],
    ["budget_duration", 30],
    ["budget_duration", "99999999d"],
    ["rpm_limit", -1],
    ["rpm_limit", 1.5],
    ["rpm_limit", "60"],
    ["rpm_limit", 1e300],
    ["tpm_limit", -1],
    ["max_parallel_requests", -1],
    ["tags", "x"],
    ["tags", [null]],
    ["metadata", "x"],
    ["metadata", []],
    ["guardrails", {}],
    ["user_id", ""],
    ["user_id", []],
    ["team_id", ""],
    ["team_id", "nowhere"],
    ["blocked", "true"],
    ["blocked", 1],
    ["spend_scope", "all"],
    ["spend_scope", 1],
    ["duration", "0s"],
    ["duration", "-1d"],
    ["duration", 5],
    ["duration", "5 days"],
    ["expires", "tomorrow"],
    ["expires", "2001-01-01"],
    ["expires", "2090-13-01"],
    ["expires", 2_000_000_000],
    ["expire", "2090-01-01"],
    ["key", "sk-of-my-own-choice"],
    ["digest", "00"],
    ["__proto__", {}],
    ["constructor", {}],
  ])("%s refuses %j and names itself", async (name, value) => {
    const body = `{${JSON.stringify(name)}:${JSON.stringify(value)}}`;
    const response = await fetch(`${gateway.adminUrl}/key/generate`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body,
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { type: "invalid_request_error", code: 400, param: name } },
    ]);
  });

  it("that is not known is refused with the one that was meant", async () => {
    const [, body] = await ask("/key/generate", { max_budgets: 5 });
    expect(body).toMatchObject({
      error: { message: expect.stringContaining("did you mean max_budget?") },
    });
  });

  it("that says the same as another is refused beside it", async () => {
    expect(await ask("/key/generate", { duration: "1d", expires: "2090-01-01" })).toMatchObject([
      400,
      { error: { param: "expires" } },
    ]);
  });

  it("changes nothing when another field of the body is wrong", async () => {
    const { token_id } = await createKey(gateway, { rpm_limit: 5 });
    expect((await ask("/key/update", { key: token_id, rpm_limit: 6, tpm_limit: -1 }))[0]).toBe(400);
    expect((await ask("/key/update", { key: token_id, rpm_limit: 6, team_id: "nowhere" }))[0]).toBe(
      400,
    );
    expect(await infoOf(token_id)).toMatchObject({ rpm_limit: 5, team_id: null });
  });
});

describe("a given key", () => {
  const given = () => `sk-${randomBytes(16).toString("base64url")}`;

  it("is the key, once, and opens at once", async () => {
    const key = given();
    expect(await use(key)).toBe(401);
    expect(await ask("/key/generate", { key, key_alias: "given" })).toMatchObject([
      200,
      { key, key_name: `sk-...${key.slice(-4)}`, key_alias: "given" },
    ]);
    expect(await use(key)).toBe(200);
    expect(await ask("/key/generate", { key })).toMatchObject([
      400,
      { error: { param: "key", message: expect.stringMatching(/exists already/) as string } },
    ]);
    await ask("/key/delete", { keys: [key] });
    expect([await use(key), (await ask("/key/generate", { key }))[0], await use(key)]).toEqual([
      401, 200, 200,
    ]);
  });

  it("is refused when it exists: declared, the master key, the secret before a rotation", async () => {
    const old = given();
    await ask("/key/generate", { key: old });
    await ask("/key/regenerate", { key: old, grace_period: "1h" });
    for (const key of [DECLARED_KEY, gateway.masterKey, old])
      expect(await ask("/key/generate", { key })).toMatchObject([400, { error: { param: "key" } }]);
    expect(await use(DECLARED_KEY)).toBe(200);
  });

  it.each([
    ["sk-1234", /7 characters/],
    ["sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", /entropy/],
    ["sk-with blanks and of some length", /visible ASCII/],
    [5, /string/],
  ])("%j is refused, and no message repeats it", async (key, reason) => {
    const [status, { error }] = await ask("/key/generate", { key });
    const { param, message } = error as { param: string; message: string };
    expect([status, param, message]).toEqual([400, "key", expect.stringMatching(reason)]);
    expect(message).not.toContain(String(key));
  });

  it("is taken once when two ask for it together", async () => {
    const key = given();
    const answers = await Promise.all([1, 2, 3].map(() => ask("/key/generate", { key })));
    expect(answers.map(([status]) => status).toSorted()).toEqual([200, 400, 400]);
    expect(await use(key)).toBe(200);
  });
});

describe("an alias", () => {
  it("is one of a kind among keys, declared ones too", async () => {
    await createKey(gateway, { key_alias: "taken" });
    const { token_id } = await createKey(gateway, { key_alias: "free" });
    for (const key_alias of ["taken", "ci"]) {
      expect(await ask("/key/generate", { key_alias })).toMatchObject([
        400,
        { error: { param: "key_alias" } },
      ]);
      expect(await ask("/key/update", { key: token_id, key_alias })).toMatchObject([
        400,
        { error: { param: "key_alias" } },
      ]);
    }
    expect(await ask("/key/update", { key: token_id, key_alias: "free" })).toMatchObject([
      200,
      { key_alias: "free" },
    ]);
  });

  it("is given to one of twenty who ask for it at once", async () => {
    const asked = Array.from({ length: 20 }, () => ask("/key/generate", { key_alias: "wanted" }));
    const statuses = (await Promise.all(asked)).map(([status]) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(19);
  });

  it("finds its key, and deletes it", async () => {
    const { token_id } = await createKey(gateway, { key_alias: "by-name" });
    expect(await ask("/key/info?key_alias=by-name")).toMatchObject([200, { key: token_id }]);
    expect(await ask("/key/delete", { key_aliases: ["by-name"] })).toEqual([
      200,
      { deleted_keys: [token_id] },
    ]);
    expect(await ask("/key/info?key_alias=by-name")).toMatchObject([
      404,
      { error: { param: "key_alias" } },
    ]);
  });
});

describe("a key that does not exist", () => {
  it.each([
    ["/key/update", { key: "key_none", rpm_limit: 1 }],
    ["/key/block", { key: "sk-none" }],
    ["/key/unblock", { key: "key_none" }],
    ["/key/regenerate", { key: "key_none" }],
    ["/key/delete", { keys: ["key_none", "sk-none"] }],
    ["/key/delete", { key_aliases: ["none"] }],
    ["/key/info?key=key_none", undefined],
  ])("%s %j answers 404", async (path, body) => {
    expect(await ask(path, body)).toMatchObject([
      404,
      { error: { type: "not_found_error", code: 404 } },
    ]);
  });

  it.each([
    ["/key/update", { rpm_limit: 1 }, "key"],
    ["/key/block", { key: 5 }, "key"],
    ["/key/block", { key: "" }, "key"],
    ["/key/delete", {}, "keys"],
    ["/key/delete", { keys: "key_1" }, "keys"],
    ["/key/delete", { key: "key_1" }, "key"],
    ["/key/regenerate", { key: "key_1", grace_period: "soon" }, "grace_period"],
    ["/key/info", undefined, "key"],
    ["/key/info?token=x", undefined, "token"],
    ["/key/list?page=0", undefined, "page"],
    ["/key/list?size=101", undefined, "size"],
    ["/key/list?size=ten", undefined, "size"],
    ["/key/list?return_full_object=yes", undefined, "return_full_object"],
    ["/key/list?pages=1", undefined, "pages"],
  ])("%s %j is refused, and names %s", async (path, body, param) => {
    expect(await ask(path, body)).toMatchObject([400, { error: { param } }]);
  });
});

describe("the list of keys", () => {
  it("comes in pages, declared keys first, and by user, team and alias", async () => {
    await ask("/team/new", { team_id: "listed" });
    const made: string[] = [];
    for (let number = 1; number <= 5; number++) {
      const fields = {
        user_id: "lister",
        key_alias: `listed ${number}`,
        ...(number > 3 && { team_id: "listed" }),
      };
      made.push((await createKey(gateway, fields)).token_id);
      // Keys of one millisecond are listed by id: these need different times.
      const madeAtMs = Date.now();
      await eventually("the next millisecond", () => Date.now() > madeAtMs);
    }
    const list = async (query: string) =>
      (await ask(`/key/list?${query}`))[1] as { keys: { token_id: string }[] };
    const ids = async (query: string) => (await list(query)).keys.map(({ token_id }) => token_id);
    expect(await list("user_id=lister&size=2&page=3")).toMatchObject({
      total_count: 5,
      current_page: 3,
      total_pages: 3,
    });
    expect(await ids("user_id=lister&size=2")).toEqual(made.slice(0, 2));
    expect(await ids("user_id=lister&size=2&page=3")).toEqual(made.slice(4));
    expect(await ids("user_id=lister&size=2&page=4")).toEqual([]);
    expect(await ids("team_id=listed")).toEqual(made.slice(3));
    expect(await ids("key_alias=listed%202")).toEqual([made[1]]);
    expect(await list("user_id=lister&return_full_object=false")).toMatchObject({ keys: made });
    expect((await list("size=3")).keys[0]).toMatchObject({ token_id: "yaml:ci", declared: true });
    // Page by page: every key once.
    const { total_count: total } = (await list("size=1")) as unknown as { total_count: number };
    const all: string[] = [];
    for (let page = 1; page <= Math.ceil(total / 4); page++)
      all.push(...(await ids(`size=4&page=${page}`)));
    expect(new Set(all).size).toBe(total);
    expect(all).toHaveLength(total);
  });
});

describe("a declared key", () => {
  it("is shown without anything of the key itself", async () => {
    for (const asked of ["key=yaml:ci", `key=${DECLARED_KEY}`, "key_alias=ci"]) {
      const [status, body] = await ask(`/key/info?${asked}`);
      expect([status, body]).toMatchObject([
        200,
        {
          key: "yaml:ci",
          info: {
            declared: true,
            key_alias: "ci",
            models: ["echo"],
            user_id: "robot",
            spend_scope: "user",
          },
        },
      ]);
      expect(JSON.stringify(body)).not.toContain(DECLARED_KEY.slice(-4));
    }
    expect(await ask("/key/list?user_id=robot")).toMatchObject([
      200,
      { total_count: 1, keys: [{ token_id: "yaml:ci" }] },
    ]);
    expect(await use(DECLARED_KEY)).toBe(200);
  });

  it.each([
    ["/key/update", { key: "yaml:ci", rpm_limit: 1 }, "key"],
    ["/key/update", { key: DECLARED_KEY, rpm_limit: 1 }, "key"],
    ["/key/block", { key: "yaml:ci" }, "key"],
    ["/key/unblock", { key: "yaml:ci" }, "key"],
    ["/key/regenerate", { key: "yaml:ci" }, "key"],
    ["/key/delete", { keys: ["yaml:ci"] }, "keys"],
    ["/key/delete", { key_aliases: ["ci"] }, "key_aliases"],
  ])("%s %j is refused with the place where it is declared", async (path, body, param) => {
    expect(await ask(path, body)).toMatchObject([
      409,
      {
        error: {
          param,
          message: expect.stringMatching(/declared in the configuration \(.*gateway\.yaml:\d+\)/),
        },
      },
    ]);
    expect(await use(DECLARED_KEY)).toBe(200);
  });
});
