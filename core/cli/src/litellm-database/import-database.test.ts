/** Exports in every form, broken ones included: what is sent to the gateway, and what is said. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DatabaseOutcome, importDatabase } from "./import-database.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "sluice-import-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = "ab".repeat(32);
const LIMITS = {
  max_budget: null,
  budget_duration: null,
  tpm_limit: null,
  rpm_limit: null,
  max_parallel_requests: null,
};
const KEY = {
  token: TOKEN,
  key_alias: "ci",
  spend: 0,
  expires: null,
  models: [],
  user_id: null,
  team_id: null,
  metadata: {},
  blocked: null,
  ...LIMITS,
};
const TEAM = {
  team_id: "a",
  team_alias: null,
  members_with_roles: [],
  spend: 0,
  models: [],
  metadata: {},
  blocked: false,
  organization_id: null,
  ...LIMITS,
};
const USER = {
  user_id: "ann",
  user_email: null,
  user_role: "internal_user",
  spend: 0,
  models: [],
  metadata: {},
  ...LIMITS,
};
const BUDGET = { budget_id: "b", model_max_budget: null, ...LIMITS };
const MEMBER = { user_id: "ann", team_id: "a", spend: 0, budget_id: null };

type Files = Readonly<Record<string, string | Buffer | readonly object[]>>;

interface Sent {
  readonly outcome: DatabaseOutcome;
  /** The bodies by the name of their list. */
  readonly bodies: Readonly<Record<string, readonly JsonObject[]>>;
}

/** Imports files into a gateway that adds everything but ids that `refuses` names. */
async function send(
  files: Files,
  accepted: readonly string[] = [],
  refuses: readonly string[] = [],
): Promise<Sent> {
  const paths = Object.entries(files).map(([name, content]) => {
    const path = join(folder, name);
    const isText = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(
      path,
      isText ? content : content.map((row) => `${JSON.stringify(row)}\n`).join(""),
    );
    return path;
  });
  const bodies: Record<string, JsonObject[]> = {};
  const outcome = await importDatabase(
    { files: paths, isDryRun: false, accepted, nowMs: Date.now(), countsUserBudgets: false },
    async (_path, body = {}) => {
      const [[list, entries] = ["", []]] = Object.entries(body) as [string, JsonObject[]][];
      (bodies[list] ??= []).push(...entries);
      const results = entries.map((entry) =>
        Object.values(entry).some((value) => refuses.includes(value as string))
          ? { outcome: "refused", reason: "another one has it" }
          : { outcome: "added", reason: null },
      );
      return { results };
    },
  );
  return { outcome, bodies };
}

const csv = (rows: readonly (readonly string[])[], end = "\n"): string =>
  rows.map((row) => `${row.join(",")}${end}`).join("");
const KEY_COLUMNS = Object.keys(KEY);
const csvKey = (values: Partial<Record<keyof typeof KEY, string>>): string[] =>
  KEY_COLUMNS.map((name) => values[name as keyof typeof KEY] ?? (name === "token" ? TOKEN : ""));

describe("values of CSV", () => {
  it.each(["\n", "\r\n"])(
    "are PostgreSQL's: lines end with %j, with a mark of UTF-8",
    async (end) => {
      const alias = '"a ""quote"", a comma and\na line"';
      const row = csvKey({
        key_alias: alias,
        models: '"{m1,""a, \\""model\\"""",\\\\slash}"'.replace("\\\\slash", '""back\\\\slash""'),
        metadata: '"{""team"": ""x"", ""tags"": [""one""]}"',
        max_budget: "1e1",
        rpm_limit: "5",
        blocked: "t",
        spend: "0.5",
        expires: "2999-01-31 10:00:00+00",
      });
      const { bodies, outcome } = await send({
        "keys.csv": `\uFEFF${csv([KEY_COLUMNS, row], end)}`,
      });
      expect(outcome.notes).toEqual([]);
      expect(bodies["keys"]).toMatchObject([
        {
          key_alias: 'a "quote", a comma and\na line',
          models: ["m1", 'a, "model"', "back\\slash"],
          metadata: { team: "x" },
          tags: ["one"],
          max_budget: 10,
          rpm_limit: 5,
          blocked: true,
          spend: 0.5,
          expires: "2999-01-31T10:00:00.000Z",
        },
      ]);
    },
  );

  it.each([
    ["models", "{NULL}"],
    ["models", "{{a},{b}}"],
    ["models", "{a,}"],
    ["models", "{a"],
    ["models", "{}{}"],
    ["max_budget", "NaN"],
    ["max_budget", "Infinity"],
    ["max_budget", "NULL"],
    ["max_budget", "1e999"],
    ["rpm_limit", "\\N"],
    ["blocked", "yes"],
    ["metadata", "{tags:x}"],
    ["metadata", "[1]"],
    ["expires", "tomorrow"],
  ])(
    "%s %j is unreadable: the key is blocked, and unblocking it opens no model",
    async (name, text) => {
      const row = csvKey({ [name]: JSON.stringify(text).replaceAll('\\"', '""') });
      const { bodies, outcome } = await send({ "keys.csv": csv([KEY_COLUMNS, row]) });
      expect(bodies["keys"]).toMatchObject([{ blocked: true, models: ["no-default-models"] }]);
      expect(outcome.counts.keys).toMatchObject({ added: 1, blocked: 1 });
    },
  );
});

describe("values of JSON", () => {
  it.each([
    { max_budget: true },
    { max_budget: [5] },
    { max_budget: { amount: 5 } },
    { models: "m1" },
    { models: [null] },
    { team_id: 42 },
    { user_id: ["ann"] },
    { budget_id: {}, organization_id: 7 },
    { model_max_budget: { m1: "free" } },
    { model_max_budget: { m1: { tpd_limit: 1 } } },
    { metadata: { model_rpm_limit: { m1: "some" } } },
  ])("%j is unreadable, and closes the key", async (columns) => {
    const { bodies } = await send({ "keys.jsonl": [{ ...KEY, ...columns }] });
    expect(bodies["keys"]).toMatchObject([{ blocked: true, models: ["no-default-models"] }]);
  });

  it("limits of single models are read in their older forms as well", async () => {
    const { bodies, outcome } = await send({
      "keys.jsonl": [
        {
          ...KEY,
          model_max_budget: {
            m1: 0.5,
            m2: { budget_limit: "2", time_period: "1d" },
            m3: { max_budget: 3, budget_duration: "weekly", rpm_limit: 7 },
          },
          metadata: JSON.stringify({ model_tpm_limit: { m1: 100 }, owner: "ann" }),
        },
      ],
    });
    expect(outcome.notes).toEqual([]);
    expect(bodies["keys"]).toMatchObject([
      {
        per_model: {
          m1: { max_budget: 0.5, tpm_limit: 100 },
          m2: { max_budget: 2, budget_duration: "1d" },
          m3: { max_budget: 3, budget_duration: "7d", rpm_limit: 7 },
        },
        metadata: { owner: "ann" },
      },
    ]);
  });
});

describe("a file that is broken is refused before anything is sent, without a word of its content", () => {
  const secret = "sk-very-secret-0123456789";
  const row = csvKey({ key_alias: secret });
  const whole = csv([KEY_COLUMNS, row]);
  const without = (name: string) => KEY_COLUMNS.filter((column) => column !== name);
  it.each<[string, string | Buffer, RegExp]>([
    ["that was cut in a quote", csv([KEY_COLUMNS, csvKey({ key_alias: `"${secret}` })]), /cut/],
    ["that was cut in its last column", whole.slice(0, -1), /cut/],
    ["that was cut in the middle of a line", `${whole.slice(0, -8)}\n`, /number of columns/],
    [
      "with a column twice",
      csv([
        [...KEY_COLUMNS, "models"],
        [...row, ""],
      ]),
      /a column twice/,
    ],
    ["without a header", csv([row]), /does it have a header/],
    ["without models", csv([without("models"), row.slice(1)]), /models is missing/],
    [
      "without limits",
      csv([
        ["token", "key_alias"],
        [TOKEN, secret],
      ]),
      /max_budget.* is missing/,
    ],
    [
      "with a row that is too long",
      csv([KEY_COLUMNS, csvKey({ key_alias: secret.repeat(2e5) })]),
      /more than/,
    ],
    [
      "of JSON that was cut",
      `${JSON.stringify({ ...KEY, key_alias: secret }).slice(0, -5)}\n`,
      /not valid JSON/,
    ],
    [
      "of JSON with a row that lacks a column",
      `${JSON.stringify(KEY)}\n{"token":"${secret}"}\n`,
      /line 2: key_alias/,
    ],
    ["of JSON with a line that is too long", `{"token":"${secret.repeat(2e5)}`, /more than/],
    ["in UTF-16", Buffer.from(`\uFEFF${whole}`, "utf16le"), /UTF-16/],
    [
      "in another encoding",
      Buffer.from(whole.replace(secret, "Jürgen"), "latin1"),
      /not written in UTF-8/,
    ],
    ["that is empty", "", /it is empty/],
    ["of another program", "hello\n\n", /number of columns|are not those/],
    ["of an array of numbers", "[1]", /other than objects/],
  ])("%s", async (_, content, message) => {
    const bodies: unknown[] = [];
    const sending = send({ "users.jsonl": [USER], "broken.file": content }).then(
      (sent) => bodies.push(sent),
      (error: unknown) => error as Error,
    );
    const error = await sending;
    expect(error).toMatchObject({ message: expect.stringMatching(message) as unknown });
    expect(String(error)).toMatch(/broken\.file/);
    expect(String(error)).not.toContain("secret");
    expect(bodies).toEqual([]);
  });

  it("and a file that changes meanwhile is noticed", async () => {
    const path = join(folder, "changing.jsonl");
    writeFileSync(path, `${JSON.stringify(KEY)}\n`);
    writeFileSync(join(folder, "before.jsonl"), `${JSON.stringify(USER)}\n`);
    const asked = {
      files: [join(folder, "before.jsonl"), path],
      isDryRun: false,
      accepted: [],
      nowMs: Date.now(),
      countsUserBudgets: false,
    };
    const importing = importDatabase(asked, async () => {
      writeFileSync(path, `${JSON.stringify({ ...KEY, token: "cd".repeat(32), x: 1 })}\n`);
      return { results: [{ outcome: "added", reason: null }] };
    });
    await expect(importing).rejects.toThrow(/changing\.jsonl: it has changed/);
  });
});

describe("what a row names", () => {
  it("has to be in the export, or the gateway is asked for it", async () => {
    const key = { ...KEY, team_id: "a", user_id: "ann", budget_id: "b" };
    const alone = await send({ "keys.jsonl": [key] });
    expect(alone.bodies["keys"]).toMatchObject([
      {
        requires: [
          { kind: "budget", id: "b" },
          { kind: "team", id: "a" },
          { kind: "user", id: "ann" },
          { kind: "membership", user_id: "ann", team_id: "a" },
        ],
      },
    ]);
    const whole = await send({
      "keys.jsonl": [key],
      "teams.jsonl": [TEAM],
      "users.jsonl": [USER],
      "members.jsonl": [MEMBER],
      "budgets.jsonl": [BUDGET],
    });
    expect(whole.bodies["keys"]?.[0]).not.toHaveProperty("requires");
    expect(whole.outcome.notes).toEqual([]);
  });

  it("that was left out leaves it out too, and all that follows", async () => {
    const files = {
      "keys.jsonl": [{ ...KEY, team_id: "a", user_id: "ann" }],
      "teams.jsonl": [
        { ...TEAM, organization_id: "o", members_with_roles: [{ user_id: "ann", role: "user" }] },
      ],
      "users.jsonl": [USER],
      "members.jsonl": [],
      "organizations.jsonl": [
        {
          organization_id: "o",
          organization_alias: "O",
          budget_id: "b",
          spend: 0,
          models: [],
          metadata: {},
        },
      ],
      "budgets.jsonl": [BUDGET],
    };
    const named = { ...files, "LiteLLM_TeamMembership.jsonl": "" };
    const { "members.jsonl": _members, ...given } = named;
    const { outcome, bodies } = await send(given, [], ["b"]);
    const { organizations, teams, members, keys } = outcome.counts;
    expect([organizations, teams, members, keys].map(({ leftOut }) => leftOut)).toEqual([
      1, 1, 1, 1,
    ]);
    expect(Object.keys(bodies)).toEqual(["budgets", "users"]);
  });

  it("is dropped where its loss is accepted; a user stays as a label", async () => {
    const key = { ...KEY, budget_id: "b", organization_id: "o", user_id: "ann" };
    const { bodies } = await send({ "keys.jsonl": [key] }, [
      "budget_id",
      "organization_id",
      "user_id",
    ]);
    expect(bodies["keys"]?.[0]).toMatchObject({ user_id: "ann", blocked: false });
    for (const name of ["budget_id", "organization_id", "requires"])
      expect(bodies["keys"]?.[0]).not.toHaveProperty(name);
  });

  it("is no user where the table of users does not have it: LiteLLM has no limits of such a one", async () => {
    const { bodies } = await send({
      "keys.jsonl": [{ ...KEY, user_id: "left" }],
      "users.jsonl": [USER],
    });
    expect(bodies["keys"]?.[0]).toMatchObject({ user_id: "left" });
    expect(bodies["keys"]?.[0]).not.toHaveProperty("requires");
  });

  it("that is missing for members leaves them out, and their keys", async () => {
    const { outcome } = await send({
      "keys.jsonl": [{ ...KEY, team_id: "a", user_id: "ann" }],
      "teams.jsonl": [TEAM],
      "users.jsonl": [USER],
    });
    expect(outcome.counts.keys.leftOut).toBe(1);
    expect(outcome.notes.map(({ what }) => what)).toContainEqual(
      expect.stringContaining("LiteLLM_TeamMembership"),
    );
  });
});

describe("limits and rights", () => {
  it("a member has the limits of its budget, and the team's defaults are those of its budget", async () => {
    const { bodies } = await send({
      "teams.jsonl": [{ ...TEAM, metadata: { team_member_budget_id: "d" } }],
      "users.jsonl": [USER],
      "members.jsonl": [{ ...MEMBER, budget_id: "b", spend: 0.25 }],
      "budgets.jsonl": [
        { ...BUDGET, max_budget: 7, allowed_models: ["m1"] },
        { ...BUDGET, budget_id: "d", max_budget: 0, rpm_limit: 9 },
      ],
    });
    expect(bodies["members"]).toMatchObject([{ max_budget: 7, models: ["m1"], spend: 0.25 }]);
    expect(bodies["teams"]).toMatchObject([{ member_defaults: { rpm_limit: 9 } }]);
    expect(bodies["teams"]?.[0]?.["member_defaults"]).not.toHaveProperty("max_budget");
  });

  it("a user without models of its own keeps the models of its teams", async () => {
    const { bodies } = await send({
      "keys.jsonl": [
        { ...KEY, user_id: "ann" },
        { ...KEY, token: "cd".repeat(32), user_id: "ann", team_id: "a" },
      ],
      "teams.jsonl": [TEAM],
      "users.jsonl": [{ ...USER, models: ["no-default-models"] }],
      "members.jsonl": [MEMBER],
    });
    expect(bodies["users"]).toMatchObject([{ models: [] }]);
    expect(bodies["keys"]).toMatchObject([{ models: ["no-default-models"] }, { models: [] }]);
  });

  it("a budget that cannot be held admits nothing, and so does what refers to it", async () => {
    const { bodies } = await send({ "budgets.jsonl": [{ ...BUDGET, max_budget: "a lot" }] });
    expect(bodies["budgets"]).toMatchObject([{ max_budget: 0 }]);
  });

  it("roles are those of LiteLLM; an unknown one is none", async () => {
    const users = ["proxy_admin", "proxy_admin_viewer", "internal_user", "root", null];
    const { bodies, outcome } = await send({
      "users.jsonl": users.map((role, index) => ({
        ...USER,
        user_id: `u${index}`,
        user_role: role,
      })),
    });
    expect(bodies["users"]?.map(({ roles }) => roles)).toEqual([
      [{ role: "admin", at: "whole" }],
      [{ role: "viewer", at: "whole" }],
      [],
      [],
      [],
    ]);
    expect(outcome.notes.map(({ what }) => what)).toContainEqual(
      expect.stringContaining("the role is unknown"),
    );
  });

  it("credentials in metadata stay behind", async () => {
    const metadata = { logging: [{ callback_vars: { langfuse_secret_key: "sk-lf-1" } }], a: 1 };
    const { bodies, outcome } = await send({ "keys.jsonl": [{ ...KEY, metadata }] });
    expect(JSON.stringify([bodies, outcome])).not.toContain("sk-lf-1");
    expect(bodies["keys"]).toMatchObject([{ metadata: { a: 1 } }]);
  });
});

describe("ids and names", () => {
  it("that differ only by case are one: the second row is left out, with its keys", async () => {
    const { outcome, bodies } = await send({
      "users.jsonl": [USER, { ...USER, user_id: "Ann" }],
      "keys.jsonl": [
        { ...KEY, user_id: "Ann" },
        { ...KEY, token: "cd".repeat(32), user_id: "ann" },
      ],
    });
    expect(bodies["users"]).toHaveLength(1);
    expect(bodies["keys"]).toMatchObject([{ user_id: "ann" }]);
    expect(outcome.counts.keys.leftOut).toBe(1);
  });

  it("an alias and an e-mail that another row has are left out, and said once", async () => {
    const alias = { team_alias: "T" };
    const { outcome, bodies } = await send({
      "teams.jsonl": ["a", "b", "c"].map((id) => ({ ...TEAM, ...alias, team_id: id })),
    });
    expect(bodies["teams"]?.map((team) => team["team_alias"])).toEqual(["T", undefined, undefined]);
    expect(outcome.notes).toMatchObject([{ kind: "changed", table: "teams", count: 2 }]);
  });

  it("a loss is named once with its count", async () => {
    const keys = Array.from({ length: 300 }, (_, index) => ({
      ...KEY,
      token: index.toString(16).padStart(64, "0"),
      key_alias: `k${index}`,
      config: { a: 1 },
    }));
    const { outcome } = await send({ "keys.jsonl": keys });
    expect(outcome.notes).toMatchObject([{ kind: "missing", count: 300 }]);
  });

  it("are names for models of a key that stand for none", async () => {
    const keys = [
      { fast: "a", wrong: 1, "": "a", none: "", line: "a\nb" },
      '{"large": "b"}',
      {},
      "none",
    ].map((aliases, index) => ({
      ...KEY,
      token: index.toString(16).padStart(64, "0"),
      key_alias: `k${index}`,
      aliases,
    }));
    const { outcome, bodies } = await send({ "keys.jsonl": keys });
    expect(bodies["keys"]?.map(({ model_aliases: names }) => names)).toEqual([
      { fast: "a" },
      { large: "b" },
      undefined,
      undefined,
    ]);
    expect(outcome.notes).toMatchObject([
      { kind: "missing", count: 1 },
      { kind: "missing", count: 1 },
    ]);
  });
});
