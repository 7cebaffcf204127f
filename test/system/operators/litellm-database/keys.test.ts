/** `sluice import litellm-database`: keys keep their secrets, limits and spend. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../../support/gateway-process.ts";
import {
  exportCsv,
  exportJsonLines,
  keyRow,
  litellmSecret,
  litellmToken,
  teamRow,
  userRow,
} from "./export.fixture.ts";

const CENT = "price: { input: 0, output: 0, request: 0.01 }";
const KEYS = 1_000;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    models: [
      `{ id: chat, targets: [{ provider: openai, model: chat, ${CENT} }] }`,
      `{ id: other, targets: [{ provider: openai, model: other, ${CENT} }] }`,
    ],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function write(name: string, text: string): string {
  const path = join(gateway.workspace.folder, name);
  writeFileSync(path, text);
  return path;
}

interface Counts {
  readonly added: number;
  readonly unchanged: number;
  readonly left_out: number;
  readonly blocked: number;
}
interface Outcome {
  readonly keys: Counts;
  readonly teams: Counts;
  readonly members: Counts;
  readonly users: Counts;
  readonly notes: readonly {
    readonly kind: string;
    readonly what: string;
    readonly count: number;
    readonly rows: readonly { readonly at: string; readonly name: string }[];
  }[];
}

function command(...args: readonly string[]) {
  return runCommand(
    ["import", "litellm-database", ...args, "--admin-url", gateway.adminUrl],
    gateway.workspace.folder,
    { SLUICE_CONFIG: gateway.configPath },
  );
}

async function run(
  ...args: readonly string[]
): Promise<Outcome & { readonly code: number | null }> {
  const started = command(...args, "--json");
  const { code } = await started.ended;
  if (started.stdout === "") throw new Error(started.stderr);
  return { code, ...(JSON.parse(started.stdout) as Outcome) };
}

async function statusOf(key: string): Promise<number> {
  const response = await fetch(`${gateway.publicUrl}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response.status;
}

/** 200, or the type of the error. */
async function use(key: string, model = "chat"): Promise<number | string> {
  const body = { model, messages: MESSAGES, max_tokens: 5 };
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  return response.ok ? 200 : (JSON.parse(text) as { error: { type: string } }).error.type;
}

function ask(sql: string): readonly Record<string, unknown>[] {
  const database = new DatabaseSync(join(gateway.workspace.dataDirectory, "sluice.db"), {
    readOnly: true,
  });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** Every stored key and team. */
const records = (): unknown => [
  ask("select * from virtual_key order by id"),
  ask("select * from team order by id"),
];
const unused = (): unknown =>
  ask("select count(*) as count from virtual_key where digest like 'sha256:%'")[0]?.["count"];

describe(`an export of ${KEYS} keys`, () => {
  const secrets = Array.from({ length: KEYS }, litellmSecret);
  let files: readonly string[];

  beforeAll(() => {
    const teams = [
      teamRow("platform", { team_alias: 'The "platform", all of it', models: ["chat"] }),
      teamRow("research", { metadata: { tags: ["lab"] } }),
    ];
    const rows = secrets.map((secret, index) =>
      keyRow(secret, {
        key_alias: `app ${index}, "quoted"`,
        user_id: `user-${index % 7}`,
        team_id: [null, "platform", "research"][index % 3],
        metadata: { number: index, note: 'line\nbreak, "quotes"' },
        models: index % 3 === 0 ? ["chat", "a model"] : [],
        rpm_limit: 100 + index,
      }),
    );
    const users = Array.from({ length: 7 }, (_, index) => userRow(`user-${index}`));
    files = [
      write("users.csv", exportCsv("user", users)),
      write("members.csv", exportCsv("teamMembership", [])),
      write("keys.csv", exportCsv("key", rows.slice(0, 600))),
      write("keys.jsonl", exportJsonLines("key", rows.slice(600))),
      write("teams.csv", exportCsv("team", teams)),
    ];
  });

  it("changes nothing with --dry-run", async () => {
    const before = records();
    expect(await run(...files, "--dry-run")).toMatchObject({
      code: 0,
      keys: { added: KEYS },
      teams: { added: 2 },
      notes: [],
    });
    expect(records()).toEqual(before);
  });

  it("is imported by repeating a command that was killed in the middle", async () => {
    const killed = command(...files);
    const some = await eventually("the first keys", () => {
      const [row] = ask("select count(*) as count from virtual_key");
      return Number(row?.["count"]) > 0 && Number(row?.["count"]);
    });
    killed.signal("SIGKILL");
    await killed.ended;
    expect(some).toBeLessThan(KEYS);
    const repeated = await run(...files);
    expect(repeated).toMatchObject({ code: 0, keys: { left_out: 0 }, teams: { left_out: 0 } });
    expect(repeated.keys.added + repeated.keys.unchanged).toBe(KEYS);
    expect(ask("select count(*) as count from virtual_key")[0]?.["count"]).toBe(KEYS);
  });

  it("is as it was after another import", async () => {
    const before = records();
    expect(await run(...files)).toMatchObject({
      code: 0,
      keys: { added: 0, unchanged: KEYS },
      teams: { added: 0, unchanged: 2 },
    });
    expect(records()).toEqual(before);
  });

  it("opens for each old secret, and for nothing else", async () => {
    expect(unused()).toBe(KEYS);
    const wrong = secrets.slice(0, 20).flatMap((secret) => {
      const token = litellmToken(secret);
      return [token, `sha256:${token}`, `sk-${token}`, `${secret}x`, secret.slice(0, -1)];
    });
    for (const key of wrong) expect(await statusOf(key)).toBe(401);
    expect(unused()).toBe(KEYS);
    for (let start = 0; start < KEYS; start += 20) {
      const batch = secrets.slice(start, start + 20);
      expect(await Promise.all(batch.map(statusOf))).toEqual(batch.map(() => 200));
    }
    // A write that found too many others before it is made by the next use.
    await eventually("the digests to be replaced", async () => {
      if (unused() === 0) return true;
      await Promise.all(secrets.slice(0, 20).map(statusOf));
      return unused() === 0;
    });
    const [{ digest, last4 } = {}] = ask("select digest, last4 from virtual_key limit 1");
    expect([digest, last4]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^.{4}$/),
    ]);
    expect(secrets.some((secret) => litellmToken(secret) === digest)).toBe(false);
    for (const key of secrets.slice(0, 5)) expect(await statusOf(key)).toBe(200);
    for (const key of wrong.slice(0, 10)) expect(await statusOf(key)).toBe(401);
    expect(await run(...files)).toMatchObject({ keys: { added: 0, unchanged: KEYS } });
  });

  it("keeps alias, user, team, models, limits and metadata", async () => {
    const response = await admin(
      gateway,
      `/key/info?key_alias=${encodeURIComponent('app 3, "quoted"')}`,
    );
    expect(await response.json()).toMatchObject({
      info: {
        user_id: "user-3",
        team_id: null,
        models: ["chat", "a model"],
        rpm_limit: 103,
        metadata: { number: 3, note: 'line\nbreak, "quotes"' },
        created_at: "2026-01-31T10:00:00.123Z",
      },
    });
    expect([await use(secrets[1]!), await use(secrets[1]!, "other")]).toEqual([
      200,
      "not_found_error",
    ]);
  });

  it("does not restore a key that was deleted since", async () => {
    const [first = ""] = secrets;
    expect((await admin(gateway, "/key/delete", { keys: [first] })).status).toBe(200);
    expect(await run(...files)).toMatchObject({ keys: { added: 0, unchanged: KEYS } });
    expect(await statusOf(first)).toBe(401);
  });
});

describe("an imported key", () => {
  const importOf = async (columns: object, ...args: readonly string[]) => {
    const secret = litellmSecret();
    const file = write("one.jsonl", exportJsonLines("key", [keyRow(secret, { ...columns })]));
    return { secret, outcome: await run(file, ...args) };
  };

  it("has spent what it had spent, in the period that lasts", async () => {
    const spent = { max_budget: 0.05, spend: 0.035, budget_duration: "30d" };
    const { secret } = await importOf({ ...spent, budget_reset_at: "2999-01-01T00:00:00" });
    expect([await use(secret), await use(secret)]).toEqual([200, "budget_exceeded"]);
    const info = await eventually("the row of the request", async () => {
      const response = await admin(gateway, `/key/info?key=${secret}`);
      const { info: found } = (await response.json()) as { info: { spend: number } };
      return found.spend === 0.045 && found;
    });
    expect(info).toMatchObject({ max_budget: 0.05, spend: 0.045, budget_remaining: 0.005 });
    const ended = await importOf({ ...spent, budget_reset_at: "2026-01-01 00:00:00" });
    expect([await use(ended.secret), await use(ended.secret)]).toEqual([200, 200]);
    const forEver = await importOf({ max_budget: 1, spend: 2 });
    expect(await use(forEver.secret)).toBe("budget_exceeded");
  });

  it("has the spend of its team, which is its own", async () => {
    const secret = litellmSecret();
    const team = teamRow("spent", { max_budget: 0.05, spend: 0.035 });
    await run(
      write("team.jsonl", exportJsonLines("team", [team])),
      write("key.jsonl", exportJsonLines("key", [keyRow(secret, { team_id: "spent", spend: 9 })])),
    );
    expect([await use(secret), await use(secret)]).toEqual([200, "budget_exceeded"]);
  });

  it("that is blocked stays blocked, and one that has expired is left out", async () => {
    const blocked = await importOf({ blocked: true });
    expect([blocked.outcome.code, await statusOf(blocked.secret)]).toEqual([0, 401]);
    const expired = await importOf({ key_alias: "old", expires: "2020-01-01T00:00:00" });
    expect(expired.outcome).toMatchObject({
      code: 1,
      keys: { left_out: 1 },
      notes: [
        {
          kind: "left out",
          what: "it has expired",
          count: 1,
          rows: [{ at: "one.jsonl:1", name: 'key "old"' }],
        },
      ],
    });
  });

  it("with a bound that the gateway cannot hold is blocked, unless the loss is accepted", async () => {
    const { secret, outcome } = await importOf({ allowed_routes: ["/v1/embeddings"] });
    expect(outcome).toMatchObject({ code: 0, keys: { added: 1, blocked: 1 } });
    expect(outcome.notes).toEqual([
      expect.objectContaining({
        kind: "blocked",
        what: "allowed_routes: a key here may call every inference route",
      }),
    ]);
    expect(await statusOf(secret)).toBe(401);
    await admin(gateway, "/key/unblock", { key: secret });
    expect(await statusOf(secret)).toBe(200);
    const accepted = await importOf({ budget_id: "b" }, "--accept-loss", "budget_id,other");
    expect(accepted.outcome).toMatchObject({ keys: { added: 1, blocked: 0 } });
    expect(await statusOf(accepted.secret)).toBe(200);
    const inference = await importOf({ allowed_routes: ["llm_api_routes"] });
    expect(inference.outcome.notes).toEqual([]);
  });

  it.each([
    { project_id: "p" },
    { budget_limits: [{ budget_duration: "1d", max_budget: 1 }] },
    { expires: "Sat Jan 31 12:00:00 2020 UTC" },
    { expires: 1_580_000_000 },
    { blocked: "TRUE" },
    { models: "chat" },
    { models: "['chat']" },
    { models: [1] },
    { models: [""] },
    { allowed_routes: "/v1/embeddings" },
    { max_budget: "$5" },
    { rpm_limit: "ten" },
    { metadata: "{'model_rpm_limit': {'chat': 1}}" },
    { metadata: { guardrails: "pii" } },
    { model_max_budget: "{'chat': 1}" },
  ])("with %j, which is a bound in a form of its own, is blocked", async (columns) => {
    const { secret, outcome } = await importOf(columns);
    expect(outcome).toMatchObject({ code: 0, keys: { added: 1, blocked: 1 } });
    expect(outcome.notes).toEqual([expect.objectContaining({ kind: "blocked" })]);
    expect(await statusOf(secret)).toBe(401);
  });

  it("is left out with its reason: no such team, an alias that is taken, no hash, a session", async () => {
    await importOf({ key_alias: "taken" });
    for (const [columns, reason] of [
      [{ team_id: "nowhere" }, /its team is neither .* add LiteLLM_TeamTable/],
      [{ budget_id: "b" }, /its budget is neither .* add LiteLLM_BudgetTable/],
      [{ organization_id: "o" }, /its organization is neither .* add LiteLLM_OrganizationTable/],
      [{ user_id: "u" }, /its user is neither .* add LiteLLM_UserTable/],
      [{ key_alias: "taken" }, /another key has its alias/],
      [{ token: "sk-1234" }, /its token is not the SHA-256 of a key/],
      [{ team_id: "litellm-dashboard" }, /a session of LiteLLM's pages/],
      [{ budget_duration: "soon" }, /budget_duration/],
    ] as const) {
      const { secret, outcome } = await importOf(columns);
      expect(outcome).toMatchObject({ code: 1, keys: { left_out: 1 } });
      expect(outcome.notes[0]?.what).toMatch(reason);
      expect(await statusOf(secret)).toBe(401);
    }
  });

  it("names no model where LiteLLM names none", async () => {
    const none = await importOf({ models: ["no-default-models"] });
    expect(await use(none.secret)).toBe("not_found_error");
    const all = await importOf({ models: ["all-proxy-models"] });
    expect(await use(all.secret)).toBe(200);
  });

  it("whose bound cannot be read opens no model when it is unblocked", async () => {
    const { secret } = await importOf({ models: "chat, other", max_budget: 5 });
    await admin(gateway, "/key/unblock", { key: secret });
    expect([await use(secret), await use(secret, "other")]).toEqual([
      "not_found_error",
      "not_found_error",
    ]);
    await admin(gateway, "/key/update", { key: secret, models: ["chat"] });
    expect([await use(secret), await use(secret, "other")]).toEqual([200, "not_found_error"]);
  });

  it("that exists with its secret is not made once more, before or after a rotation", async () => {
    const secret = `${litellmSecret()}${litellmSecret()}`;
    const count = () => ask("select count(*) as count from virtual_key")[0]?.["count"];
    expect((await admin(gateway, "/key/generate", { key: secret, models: ["chat"] })).status).toBe(
      200,
    );
    const before = count();
    const file = write("given.jsonl", exportJsonLines("key", [keyRow(secret)]));
    expect(await run(file)).toMatchObject({ keys: { added: 0, unchanged: 1 } });
    expect([count(), await use(secret, "other")]).toEqual([before, "not_found_error"]);
    await admin(gateway, "/key/regenerate", { key: secret });
    expect(await run(file)).toMatchObject({ keys: { added: 0, unchanged: 1 } });
    expect([count(), await statusOf(secret)]).toEqual([before, 401]);
  });

  it("keeps its old secret for the grace period of a rotation", async () => {
    const { secret } = await importOf({ key_alias: "rotated" });
    const response = await admin(gateway, "/key/regenerate", { key: secret, grace_period: "10m" });
    const { key } = (await response.json()) as { key: string };
    expect([await statusOf(secret), await statusOf(key)]).toEqual([200, 200]);
    await admin(gateway, "/key/regenerate", { key });
    expect([await statusOf(secret), await statusOf(key)]).toEqual([401, 401]);
  });
});

it("JSON that \\copy wrote is refused with the command that writes it right", async () => {
  const doubled = exportJsonLines("key", [
    keyRow(litellmSecret(), { key_alias: 'a "quote"' }),
  ]).replaceAll("\\", "\\\\");
  const refused = command(write("doubled.jsonl", doubled));
  expect(await refused.ended).toMatchObject({ code: 1 });
  expect(refused.stderr).not.toContain("quote");
  expect(refused.stderr).toMatch(/doubled\.jsonl: line 1: not valid JSON; .*psql -At/);
});

it("a file of no table of LiteLLM is refused, and nothing is sent", async () => {
  const secret = litellmSecret();
  const refused = command(
    write("key.jsonl", exportJsonLines("key", [keyRow(secret)])),
    write("other.jsonl", `${JSON.stringify({ [secret]: "u", max_budget: 1 })}\n`),
  );
  expect(await refused.ended).toMatchObject({ code: 1 });
  expect(refused.stderr).toMatch(/other\.jsonl: its columns are not those of LiteLLM_/);
  expect(refused.stderr).not.toContain(secret);
  expect(await statusOf(secret)).toBe(401);
});

it("deleted keys are left where they are", async () => {
  const row = { ...keyRow(litellmSecret()), deleted_at: "2026-01-01T00:00:00" };
  const outcome = await run(write("deleted.jsonl", `${JSON.stringify(row)}\n`));
  expect(outcome).toMatchObject({ code: 0, keys: { added: 0 } });
  expect(outcome.notes).toMatchObject([{ kind: "missing", table: "export" }]);
});
