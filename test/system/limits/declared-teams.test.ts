/** Teams that the configuration declares: what they bound, who changes them, and how they end. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, configPost, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const CI_KEY = "sk-declared-in-the-configuration-0003";
const CENT = "price: { input: 0, output: 0, request: 0.01 }";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

/** A gateway file with these teams. */
const configOf = (...teams: readonly string[]): string =>
  `${workspace.config({
    baseUrl: upstream.baseUrl,
    models: [
      `{ id: chat, targets: [{ provider: openai, model: chat, ${CENT} }] }`,
      `{ id: other, targets: [{ provider: openai, model: other, ${CENT} }] }`,
    ],
  })}keys:
  - { alias: ci, key: "\${env:CI_KEY}", team_id: support, tags: [ci] }
${teams.length === 0 ? "" : `teams:\n${teams.map((team) => `  - ${team}\n`).join("")}`}`;

const SUPPORT =
  "{ team_id: support, team_alias: Support, models: [chat], max_budget: 0.04, tags: [desk] }";

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace();
  workspace.write(configOf(SUPPORT));
  gateway = await startGateway(workspace, { CI_KEY });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** Writes the teams, and waits until they are live. The watch may apply the file first. */
async function apply(...teams: readonly string[]): Promise<void> {
  workspace.write(configOf(...teams));
  await eventually("the edit", async () => {
    const { outcome } = await configPost(gateway, "reload", { force: await digest() });
    return ["applied", "unchanged"].includes(String(outcome));
  });
}

/** The digest of the files, with which an edit is applied that takes all teams away. */
async function digest(): Promise<string> {
  const checked = await configPost(gateway, "validate");
  return String((checked as unknown as { digest: string }).digest);
}

async function ask(path: string, body?: unknown): Promise<readonly [number, Answer]> {
  const response = await admin(gateway, path, body);
  return [response.status, (await response.json()) as Answer];
}
type Answer = Record<string, unknown>;

/** 200, or the type of the error. */
async function use(key: string, model = "chat", more: object = {}): Promise<number | string> {
  const body = { model, messages: MESSAGES, max_tokens: 5, ...more };
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  return response.ok ? 200 : (JSON.parse(text) as { error: { type: string } }).error.type;
}

describe("a declared team", () => {
  beforeEach(() => apply(SUPPORT));

  it("is shown with its fields, and no route changes it: 409 with file and line", async () => {
    const team = {
      team_id: "support",
      team_alias: "Support",
      declared: true,
      managed_by: "file",
      max_budget: 0.04,
      models: ["chat"],
    };
    expect(await ask("/team/info?team_id=support")).toMatchObject([200, { team_info: team }]);
    expect((await ask("/team/list"))[1]).toEqual([expect.objectContaining(team)]);
    for (const [path, body] of [
      ["/team/new", { team_id: "support" }],
      ["/team/update", { team_id: "support", max_budget: 100 }],
      ["/team/block", { team_id: "support" }],
      ["/team/unblock", { team_id: "support" }],
      ["/team/delete", { team_ids: ["support"] }],
      ["/key/update", { key: "yaml:ci", max_budget: 100 }],
    ] as const) {
      const [status, { error }] = await ask(path, body);
      expect([path, status, error]).toMatchObject([
        path,
        409,
        { code: 409, message: expect.stringMatching(/config\/gateway\.yaml:\d+\)/) as string },
      ]);
    }
    expect(await ask("/team/info?team_id=support")).toMatchObject([200, { team_info: team }]);
  });

  it("bounds the declared key and keys of the store by one budget and one list of models", async () => {
    const { key } = await createKey(gateway, { team_id: "support" });
    expect(await use(key, "other")).toBe("not_found_error");
    expect(await use(CI_KEY, "other")).toBe("not_found_error");
    const seen = [await use(key), await use(CI_KEY), await use(key), await use(CI_KEY)];
    expect(seen).toEqual([200, 200, 200, 200]);
    expect([await use(key), await use(CI_KEY)]).toEqual(["budget_exceeded", "budget_exceeded"]);
    const info = await eventually("the rows of the team", async () => {
      const [, { team_info: found }] = await ask("/team/info?team_id=support");
      return (found as Answer)["spend"] === 0.04 && (found as Answer);
    });
    expect(info).toMatchObject({ spend: 0.04, budget_remaining: 0 });
    // An edit of the amount keeps what is spent, for keys that are in use.
    await apply(SUPPORT.replace("0.04", "0.05"));
    expect([await use(key), await use(CI_KEY)]).toEqual([200, "budget_exceeded"]);
    await apply(SUPPORT.replace("0.04", "1"));
  });

  it("gives its tags to its keys, and no other key may name them", async () => {
    await apply(SUPPORT.replace("0.04", "1"));
    const { key } = await createKey(gateway, { team_id: "support" });
    const outside = await createKey(gateway, {});
    expect(await use(key, "chat", { tags: ["desk"] })).toBe(200);
    expect(await use(outside.key, "chat", { tags: ["desk"] })).toBe("permission_error");
  });

  it("that is blocked refuses its keys, and opens them again", async () => {
    await apply(SUPPORT.replace("0.04", "1"));
    const { key } = await createKey(gateway, { team_id: "support" });
    await apply(SUPPORT.replace("0.04", "1, blocked: true"));
    expect([await use(key), await use(CI_KEY)]).toEqual([
      "authentication_error",
      "authentication_error",
    ]);
    await apply(SUPPORT.replace("0.04", "1"));
    expect([await use(key), await use(CI_KEY)]).toEqual([200, 200]);
  });
});

describe("a team that leaves the file", () => {
  const LEAVING = "{ team_id: leaving, models: [chat], max_budget: 5 }";

  it("leaves its keys refused, until it is declared again or the store takes it over", async () => {
    await apply(SUPPORT, LEAVING);
    const { key } = await createKey(gateway, { team_id: "leaving" });
    expect(await use(key)).toBe(200);
    workspace.write(configOf(SUPPORT));
    const impact = await configPost(gateway, "diff", { from: "running", to: "files" });
    expect((impact as unknown as { effects: Answer[] }).effects).toContainEqual(
      expect.objectContaining({
        risk: "danger",
        about: "team leaving",
        message: expect.stringMatching(/its keys are refused/) as string,
      }),
    );
    await apply(SUPPORT);
    expect(await use(key)).toBe("authentication_error");
    expect(await ask("/team/info?team_id=leaving")).toMatchObject([
      200,
      { team_info: { declared: false, managed_by: "file", blocked: true, max_budget: 5 } },
    ]);
    await apply(SUPPORT, LEAVING);
    expect(await use(key)).toBe(200);
    await apply(SUPPORT);
    expect(await use(key)).toBe("authentication_error");
    // With the limits that it had last.
    expect(await ask("/team/unblock", { team_id: "leaving" })).toMatchObject([
      200,
      { managed_by: "store", blocked: false, max_budget: 5, models: ["chat"] },
    ]);
    expect([await use(key), await use(key, "other")]).toEqual([200, "not_found_error"]);
  });

  it("leaves the store's own team of that id as it was", async () => {
    await ask("/team/new", { team_id: "both", models: ["other"] });
    const { key } = await createKey(gateway, { team_id: "both" });
    expect([await use(key), await use(key, "other")]).toEqual(["not_found_error", 200]);
    await apply(SUPPORT, "{ team_id: both, models: [chat] }");
    expect([await use(key), await use(key, "other")]).toEqual([200, "not_found_error"]);
    await apply(SUPPORT);
    expect([await use(key), await use(key, "other")]).toEqual(["not_found_error", 200]);
    expect(await ask("/team/info?team_id=both")).toMatchObject([
      200,
      { team_info: { managed_by: "store", models: ["other"] } },
    ]);
  });

  it("refuses a declared key that still names it", async () => {
    await apply(SUPPORT.replace("0.04", "1"));
    expect(await use(CI_KEY)).toBe(200);
    await apply();
    expect(await use(CI_KEY)).toBe("authentication_error");
    await apply(SUPPORT.replace("0.04", "1"));
    expect(await use(CI_KEY)).toBe(200);
  });
});

it("the command line shows the refusal", async () => {
  await apply(SUPPORT);
  const command = runCommand(
    ["teams", "update", "support", "--max-budget", "9"],
    workspace.folder,
    { CI_KEY, SLUICE_CONFIG: workspace.configPath, SLUICE_ADMIN_PORT: undefined },
  );
  expect(await command.ended).toMatchObject({ code: 1 });
  expect(command.stderr).toMatch(/declared in the configuration \(config\/gateway\.yaml:\d+\)/);
});
