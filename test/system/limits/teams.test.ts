/** Teams: their fields, and what they allow and forbid their keys. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, createKey, MESSAGES, openaiClient, recordOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, DEFAULT_MODELS } from "../support/workspace.ts";

const DECLARED_KEY = "sk-declared-in-the-configuration-0002";
const MODELS = [
  ...DEFAULT_MODELS,
  "{ id: echo-b, targets: [{ provider: echo, model: echo }], access_groups: [both] }",
  "{ id: echo-c, targets: [{ provider: echo, model: echo }], access_groups: [both] }",
];

let gateway: GatewayProcess;

beforeAll(async () => {
  const workspace = createWorkspace();
  const declared =
    'keys:\n  - { alias: ci, key: "${env:CI_KEY}", team_id: of-the-file, tags: [ci] }\n';
  workspace.write(workspace.config({ models: MODELS }) + declared);
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

async function use(key: string, model = "echo"): Promise<number> {
  const response = await chat(
    gateway,
    { model, messages: MESSAGES },
    { headers: { authorization: `Bearer ${key}` } },
  );
  await response.arrayBuffer();
  return response.status;
}

describe("a team", () => {
  it("takes an id of the client's or gets one, and an id is one of a kind", async () => {
    expect(await ask("/team/new", { team_id: "mine", team_alias: "same" })).toMatchObject([
      200,
      { team_id: "mine", team_alias: "same" },
    ]);
    expect(await ask("/team/new", { team_id: "mine" })).toMatchObject([
      400,
      { error: { param: "team_id" } },
    ]);
    expect(await ask("/team/new", { team_alias: "same" })).toMatchObject([
      400,
      { error: { param: "team_alias" } },
    ]);
    const [status, made] = await ask("/team/new", { team_alias: "another" });
    expect([status, made["team_id"]]).toEqual([200, expect.stringMatching(/^team_[\w-]{12}$/)]);
    expect((await ask("/team/new", { team_id: "" }))[0]).toBe(400);
  });

  it.each<readonly [string, unknown, unknown, unknown]>([
    ["team_alias", "a", "b", null],
    ["models", ["echo"], ["both", "openai/*"], []],
    ["max_budget", 0.1, 2_500, null],
    ["soft_budget", 0.05, 2_400, null],
    ["budget_duration", "1d", "2w", null],
    ["rpm_limit", 0, 60, null],
    ["tpm_limit", 1, 2, null],
    ["max_parallel_requests", 1, 2, null],
    ["tags", ["team:x"], ["y"], []],
    ["metadata", { a: [1] }, {}, {}],
    ["guardrails", ["pii"], [], []],
    ["blocked", true, false, false],
  ])(
    "keeps %s as it is sent (%j), shows it, changes it to %j and clears it",
    async (name, value, other, cleared) => {
      const [status, made] = await ask("/team/new", { [name]: value });
      expect([status, made[name]]).toEqual([200, value]);
      const team_id = made["team_id"];
      // Without the use of its windows, which is read for the answer.
      const info = async () => {
        const [, answer] = await ask(`/team/info?team_id=${String(team_id)}`);
        const { rpm_used: _requests, tpm_used: _tokens, ...stored } = recordOf(answer["team_info"]);
        return stored;
      };
      expect(await info()).toEqual(made);
      const changed = { ...made, [name]: other };
      expect(await ask("/team/update", { team_id, [name]: other })).toEqual([
        200,
        { team_id, data: changed },
      ]);
      expect(await ask("/team/update", { team_id })).toEqual([200, { team_id, data: changed }]);
      await ask("/team/update", { team_id, [name]: null });
      expect(await info()).toEqual({ ...made, [name]: cleared });
      expect((await ask("/team/list"))[1]).toContainEqual({ ...made, [name]: cleared });
    },
  );

  it.each<readonly [string, unknown, number, string]>([
    ["/team/new", { max_budget: -1 }, 400, "max_budget"],
    ["/team/new", { max_budget: 1, soft_budget: 1.1 }, 400, "soft_budget"],
    ["/team/new", { user_id: "u" }, 400, "user_id"],
    ["/team/new", { team_id: 5 }, 400, "team_id"],
    ["/team/update", { rpm_limit: 1 }, 400, "team_id"],
    ["/team/update", { team_id: "none", rpm_limit: 1 }, 404, "team_id"],
    ["/team/block", { team_id: "none" }, 404, "team_id"],
    ["/team/unblock", {}, 400, "team_id"],
    ["/team/delete", {}, 400, "team_ids"],
    ["/team/delete", { team_ids: "none" }, 400, "team_ids"],
    ["/team/delete", { team_ids: ["none"] }, 404, "team_ids"],
    ["/team/delete", { team_id: "none" }, 400, "team_id"],
    ["/team/info", undefined, 400, "team_id"],
    ["/team/info?team_id=none", undefined, 404, "team_id"],
    ["/team/list?page=1", undefined, 400, "page"],
  ])("%s %j answers %i and names %s", async (path, body, status, param) => {
    expect(await ask(path, body)).toMatchObject([status, { error: { code: status, param } }]);
  });
});

describe("a team's key", () => {
  it("uses what both lists allow, and a change of either counts for the very next request", async () => {
    await ask("/team/new", { team_id: "bounded", models: ["echo", "both"] });
    const { key, token_id } = await createKey(gateway, {
      team_id: "bounded",
      models: ["echo-b", "gpt-4o", "echo-c"],
    });
    const usable = async () => {
      const listed = (await openaiClient(gateway, { apiKey: key }).models.list()).data.map(
        ({ id }) => id,
      );
      for (const id of ["echo", "echo-b", "echo-c"])
        expect([id, await use(key, id)]).toEqual([id, listed.includes(id) ? 200 : 404]);
      return listed;
    };
    expect(await usable()).toEqual(["echo-b", "echo-c"]);
    await ask("/key/update", { key: token_id, models: [] });
    expect(await usable()).toEqual(["echo", "echo-b", "echo-c"]);
    await ask("/team/update", { team_id: "bounded", models: ["echo-c"] });
    expect(await usable()).toEqual(["echo-c"]);
    await ask("/key/update", { key: token_id, models: ["echo"] });
    expect(await usable()).toEqual([]);
    await ask("/team/update", { team_id: "bounded", models: null });
    expect(await usable()).toEqual(["echo"]);
    await ask("/key/update", { key: token_id, team_id: null });
    expect(await usable()).toEqual(["echo"]);
  });

  it("is refused while the team is blocked, and served afterwards", async () => {
    await ask("/team/new", { team_id: "moody" });
    const { key } = await createKey(gateway, { team_id: "moody" });
    for (let round = 0; round < 20; round++) {
      expect(await use(key)).toBe(200);
      await ask("/team/block", { team_id: "moody" });
      expect(await use(key)).toBe(401);
      await ask("/team/update", { team_id: "moody", blocked: false });
    }
  });

  it("goes with its team, whose id is not used again", async () => {
    await ask("/team/new", { team_id: "mortal" });
    const { key, token_id } = await createKey(gateway, { team_id: "mortal" });
    expect(await ask("/team/info?team_id=mortal")).toMatchObject([
      200,
      { keys: [{ token_id }], total_keys: 1 },
    ]);
    expect(await use(key)).toBe(200);
    const both = { team_ids: ["mortal", "none"], keys: "delete" };
    expect(await ask("/team/delete", both)).toEqual([
      200,
      { deleted_teams: ["mortal"], deleted_keys: [token_id], deleted_keys_total: 1 },
    ]);
    expect(await use(key)).toBe(401);
    expect(await ask("/team/new", { team_id: "Mortal" })).toMatchObject([
      400,
      { error: { message: expect.stringContaining("not used again") as string } },
    ]);
    expect((await ask(`/key/info?key=${token_id}`))[0]).toBe(404);
  });

  it("needs a team that exists, however close the deletion is", async () => {
    for (let round = 0; round < 20; round++) {
      const team_id = `raced-${round}`;
      await ask("/team/new", { team_id });
      const [[status, made]] = await Promise.all([
        ask("/key/generate", { team_id }),
        ask("/team/delete", { team_ids: [team_id], keys: "delete" }),
      ]);
      // Made before the deletion, it is gone with the team; after it, there is no team to join.
      const verdict =
        status === 200
          ? await use(String(made["key"]))
          : (made["error"] as { param: string }).param;
      expect([401, "team_id"]).toContain(verdict);
    }
  });

  it("has the team's tags in its rows, each tag once", async () => {
    await ask("/team/new", { team_id: "tagged", tags: ["team:x", "both"] });
    const { key, token_id } = await createKey(gateway, {
      team_id: "tagged",
      tags: ["key:y", "both"],
    });
    await use(key);
    const response = await fetch(`${gateway.publicUrl}/spend/logs?api_key=${token_id}`, {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    });
    expect(await response.json()).toMatchObject([
      { team_id: "tagged", request_tags: ["key:y", "both", "team:x"] },
    ]);
  });
});

describe("a declared key's team", () => {
  it("is a label while it does not exist, bounds the key once it does, and cannot be deleted under it", async () => {
    expect(await use(DECLARED_KEY)).toBe(200);
    await ask("/team/new", { team_id: "of-the-file", models: ["echo-b"] });
    expect([await use(DECLARED_KEY), await use(DECLARED_KEY, "echo-b")]).toEqual([404, 200]);
    await ask("/team/block", { team_id: "of-the-file" });
    expect(await use(DECLARED_KEY, "echo-b")).toBe(401);
    expect(await ask("/team/delete", { team_ids: ["of-the-file"] })).toMatchObject([
      400,
      {
        error: {
          param: "team_ids",
          message: expect.stringMatching(/^The key ci, declared in the configuration/),
        },
      },
    ]);
    await ask("/team/unblock", { team_id: "of-the-file" });
    expect(await use(DECLARED_KEY, "echo-b")).toBe(200);
    expect(await ask("/team/info?team_id=of-the-file")).toMatchObject([
      200,
      { keys: [{ token_id: "yaml:ci", declared: true }] },
    ]);
  });
});
