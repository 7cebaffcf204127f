/** A company moves in: the same requests get the same verdicts, and nothing is lost or twice. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../../support/gateway-process.ts";
import { judge, type Probe, type Refusal, type Rule, RULES } from "./verdicts.fixture.ts";
import { filesOf, makeWorld, MODELS, numbers, stagedKey } from "./world.fixture.ts";

const PROBES = 2_000;
const AT_ONCE = 8;
const PRICE = "price: { input: 0, output: 0, request: 0.000001 }";
/** Where the requests are listed, those that a rule of ours decides with the rule. */
const TABLE = new URL("../../../../node_modules/.cache/import-probes.jsonl", import.meta.url);
/** Keys that have expired are left out. */
const world = makeWorld();
const kept = world.keys.filter(({ row }) => row["expires"] === undefined);

let upstream: Upstream;
let gateway: GatewayProcess;
let files: readonly string[];

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    models: MODELS.map(
      (id) => `{ id: ${id}, targets: [{ provider: openai, model: ${id}, ${PRICE} }] }`,
    ),
  });
  files = Object.entries(filesOf(world)).map(([name, text]) => {
    const path = join(gateway.workspace.folder, name);
    writeFileSync(path, text);
    return path;
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Counts {
  readonly added: number;
  readonly unchanged: number;
  readonly left_out: number;
  readonly blocked: number;
}
type Outcome = Readonly<Record<Table, Counts>> & {
  readonly notes: readonly {
    readonly kind: string;
    readonly what: string;
    readonly count: number;
  }[];
};
const TABLES = {
  budgets: "budget",
  organizations: "organization",
  access_groups: "access_group",
  users: "tenant_user",
  teams: "team",
  members: "membership",
  keys: "virtual_key",
  customers: "customer",
} as const;
type Table = keyof typeof TABLES;

function command(...args: readonly string[]) {
  return runCommand(
    ["import", "litellm-database", ...files, ...args, "--admin-url", gateway.adminUrl],
    gateway.workspace.folder,
    { SLUICE_CONFIG: gateway.configPath },
  );
}

async function run(...args: readonly string[]): Promise<Outcome> {
  const started = command("--json", ...args);
  await started.ended;
  if (started.stdout === "") throw new Error(started.stderr);
  return JSON.parse(started.stdout) as Outcome;
}

function ask(sql: string): readonly Readonly<Record<string, unknown>>[] {
  const path = join(gateway.workspace.dataDirectory, "sluice.db");
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

function countOf(table: Table): number {
  return Number(ask(`select count(*) as count from ${TABLES[table]}`)[0]?.["count"]);
}

const names = Object.keys(TABLES) as readonly Table[];
const records = (): unknown =>
  names.map((table) => ask(`select * from ${TABLES[table]} order by 1, 2`));
/** How long a part of an import may take on a machine that does much else. */
const IMPORT_MS = 180_000;
/** The three organizations, and the keys of none. */
const PLACES = 4;

it("a dry run says what an import does, and changes nothing", async () => {
  const outcome = await run("--dry-run");
  expect(outcome).toMatchObject({
    budgets: { added: 10, left_out: 0 },
    organizations: { added: 3, left_out: 0 },
    users: { added: 200, left_out: 0 },
    teams: { added: 20, left_out: 0 },
    keys: { added: kept.length, left_out: world.keys.length - kept.length, blocked: 0 },
    customers: { added: world.customers.length * PLACES, left_out: 0 },
  });
  expect(names.map(countOf)).toEqual(names.map(() => 0));
});

it("an import that was killed twice is made whole by repeating it, and nothing is twice", async () => {
  const killedAt = async (table: Table, count: number): Promise<void> => {
    const killed = command();
    try {
      await eventually(`${count} ${table}`, () => countOf(table) >= count, IMPORT_MS);
    } finally {
      killed.signal("SIGKILL");
      await killed.ended;
    }
  };
  await killedAt("keys", kept.length / 2);
  expect(countOf("keys")).toBeLessThan(kept.length);
  await killedAt("customers", (world.customers.length * PLACES) / 2);
  expect(countOf("customers")).toBeLessThan(world.customers.length * PLACES);
  const repeated = await run();
  for (const table of names) {
    const { added, unchanged, left_out: leftOut } = repeated[table];
    expect([table, countOf(table)]).toEqual([table, added + unchanged]);
    expect([table, leftOut]).toEqual([
      table,
      table === "keys" ? world.keys.length - kept.length : 0,
    ]);
  }
  const before = records();
  const third = await run();
  expect(names.map((table) => third[table].added)).toEqual(names.map(() => 0));
  expect(records()).toEqual(before);
}, 600_000);

it("the spend of every kind is that of the export, to the nano-dollar", () => {
  const nano = (rows: readonly { readonly spend?: number | undefined }[]): number =>
    rows.reduce((sum, { spend = 0 }) => sum + Math.round(spend * 1e9), 0);
  const expected: Readonly<Partial<Record<Table, number>>> = {
    organizations: nano(world.organizations),
    users: nano(world.users),
    teams: nano(world.teams),
    members: nano(world.memberships),
    keys: nano(kept.map(({ row }) => row)),
    // Each place has a copy: what was spent cannot be spent again in another one.
    customers: nano(world.customers) * PLACES,
  };
  for (const [table, sum] of Object.entries(expected))
    expect([
      table,
      ask(`select sum(imported_nano_usd) as sum from ${TABLES[table as Table]}`),
    ]).toEqual([table, [{ sum }]]);
});

it("places, roles and names are those of the export", async () => {
  const of = async (path: string): Promise<unknown> => (await admin(gateway, path)).json();
  expect(await of("/user/info?user_id=user-0")).toMatchObject({
    user_info: {
      user_email: "user-0@example.com",
      roles: [
        { role: "admin", at: "whole" },
        { role: "admin", at: "organization", organization_id: "acme" },
      ],
    },
  });
  expect(await of("/user/info?user_id=user-1")).toMatchObject({
    user_info: {
      roles: [{ role: "viewer", at: "whole" }],
      organizations: expect.arrayContaining(["acme"]) as unknown,
    },
  });
  expect(await of("/team/member_info?team_id=team-3&user_id=user-30")).toMatchObject({
    member_info: { role: "admin" },
  });
  expect(await of("/team/info?team_id=team-11")).toMatchObject({
    team_info: { model_aliases: { fast: "m1" }, user_budgets: "ignore" },
  });
});

/** The class of an answer; `undefined`: it was admitted. */
async function answerTo({ key, model, customer }: Probe): Promise<Refusal | undefined> {
  const { secret = "" } = world.keys[key] ?? {};
  const body = { model, messages: MESSAGES, max_tokens: 5, ...(customer && { user: customer }) };
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${secret}` } });
  const text = await response.text();
  if (response.ok) return undefined;
  const { type } = (JSON.parse(text) as { error: { type: string } }).error;
  const refusal = REFUSALS[`${response.status} ${type}`];
  if (refusal === undefined) throw new Error(`${response.status} ${text}`);
  return refusal;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  "401 authentication_error": "closed",
  "404 not_found_error": "model",
  "429 budget_exceeded": "budget",
  "403 permission_error": "customer",
};

/** Each key once with any model, then any key: half of them for a customer. */
function makeProbes(): readonly Probe[] {
  const random = numbers(7);
  const below = (count: number): number => Math.floor(random() * count);
  return Array.from({ length: PROBES }, (_, index) => {
    const key = index < world.keys.length ? index : below(world.keys.length);
    const customer = [
      undefined,
      undefined,
      world.customers[below(world.customers.length)]?.["user_id"] as string,
      `never seen ${below(50)}`,
    ][below(4)];
    const model = stagedKey(key)?.model ?? MODELS[below(MODELS.length)] ?? "m1";
    return { key, model, ...(customer !== undefined && { customer }) };
  });
}

it(`${PROBES} requests get LiteLLM's verdict, but where a rule of ours decides`, async () => {
  const verdictOf = judge(world);
  const probes = makeProbes();
  const wrong: unknown[] = [];
  /** Every request with its verdicts, for readers of the proof. */
  const table: unknown[] = [];
  const byRule = new Map<Rule | "userModelBudgets", number>();
  const byVerdict = { admitted: 0, refused: 0 };
  const look = async (probe: Probe): Promise<void> => {
    const { litellm, rules, isWider } = verdictOf(probe);
    const answer = await answerTo(probe);
    const allowed = new Set([...litellm, ...rules.values()]);
    const isRefused = isWider ? rules.size > 0 : allowed.size > 0;
    const isRight = isRefused ? answer !== undefined && allowed.has(answer) : answer === undefined;
    if (!isRight)
      wrong.push({
        probe,
        answer,
        litellm: [...litellm],
        rules: [...rules],
        key: world.keys[probe.key]?.row,
      });
    table.push({ ...probe, litellm: [...litellm], rules: [...rules.keys()], isWider, answer });
    byVerdict[answer === undefined ? "admitted" : "refused"] += 1;
    if (isWider && answer === undefined) count("userModelBudgets");
    // Marked: the rule alone decides.
    else if (litellm.size === 0) for (const rule of rules.keys()) count(rule);
  };
  const count = (rule: Rule | "userModelBudgets"): void =>
    void byRule.set(rule, (byRule.get(rule) ?? 0) + 1);
  for (let start = 0; start < probes.length; start += AT_ONCE)
    await Promise.all(probes.slice(start, start + AT_ONCE).map(look));
  mkdirSync(new URL(".", TABLE), { recursive: true });
  writeFileSync(TABLE, table.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(wrong).toEqual([]);
  expect([...byRule.keys()].toSorted()).toEqual(
    [...Object.keys(RULES), "userModelBudgets"].toSorted(),
  );
  expect(byVerdict.admitted).toBeGreaterThan(PROBES / 5);
  expect(byVerdict.refused).toBeGreaterThan(PROBES / 5);
});
