/**
 * `sluice keys` and `sluice teams`, beside a running gateway: all in one process of their own, but
 * for those that show how one starts.
 */

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, MESSAGES } from "../support/client.ts";
import { type CommandHost, type Ran, startCommandHost } from "../support/command-host.ts";
import {
  type GatewayProcess,
  type ProcessEnvironment,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let gateway: GatewayProcess;
let host: CommandHost;

beforeAll(async () => {
  host = startCommandHost();
  gateway = await startGateway();
});
afterAll(async () => {
  host?.close();
  await gateway?.dispose();
});

/**
 * Runs a command in the gateway's folder; the admin port comes from the environment, as it would on
 * a server.
 */
function sluice(args: readonly string[], environment: ProcessEnvironment = {}): Promise<Ran> {
  const { port } = new URL(gateway.adminUrl);
  const place = ["--config", gateway.configPath];
  return host.run([...args, ...place], gateway.workspace.folder, {
    SLUICE_ADMIN_PORT: port,
    ...environment,
  });
}

/** Runs a command that must work, and reads what it prints with `--json`. */
async function answer(...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, error } = await sluice([...args, "--json"]);
  expect([code, error]).toEqual([0, ""]);
  return JSON.parse(out) as Record<string, unknown>;
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

describe("sluice keys", () => {
  it("makes a key with the value of a file, and refuses one that can be guessed", async () => {
    const key = `sk-${randomBytes(24).toString("base64url")}`;
    const file = join(gateway.workspace.folder, "given.key");
    writeFileSync(file, `${key}\n`);
    expect(await answer("keys", "create", "--key-file", file)).toMatchObject({ key });
    expect(await use(key)).toBe(200);
    writeFileSync(file, "sk-1234\n");
    const refused = await sluice(["keys", "create", "--key-file", file]);
    expect([refused.code, refused.error]).toEqual([1, expect.stringMatching(/7 characters/)]);
    expect((await sluice(["keys", "create", "--key-file", `${file}.none`])).code).toBe(2);
  });

  it("makes, shows, lists, changes, blocks, rotates and revokes a key", async () => {
    const made = await sluice([
      "keys",
      "create",
      "--alias",
      "laptop",
      "--models",
      "echo, large",
      "--duration",
      "30d",
    ]);
    expect([made.code, made.error]).toEqual([0, ""]);
    const [, id = "", key = ""] =
      /^Key (key_\S+), shown this once:\n\n {2}(sk-\S+)\n/.exec(made.out) ?? [];
    expect(await use(key)).toBe(200);

    const info = await sluice(["keys", "info", id]);
    expect(info.out).toMatch(/^key_alias +laptop$/m);
    expect(info.out).toMatch(/^models +echo, large$/m);
    expect(info.out).not.toContain(key);

    const list = await sluice(["keys", "list", "--alias", "laptop"]);
    expect(list.out).toMatch(/^ID +ALIAS +KEY +USER +TEAM +MODELS +LIMITS +EXPIRES +STATE\n/);
    expect(list.out).toContain(id);

    const update = [
      "--max-budget",
      "0.25",
      "--soft-budget",
      "0.2",
      "--rpm",
      "60",
      "--metadata",
      '{"a":[1]}',
      "--clear",
      "expires,models",
    ];
    expect(await answer("keys", "update", id, ...update)).toMatchObject({
      token_id: id,
      key_alias: "laptop",
      max_budget: 0.25,
      soft_budget: 0.2,
      rpm_limit: 60,
      metadata: { a: [1] },
      expires: null,
      models: [],
    });

    expect(await sluice(["keys", "block", id])).toEqual({
      code: 0,
      out: `${id} is blocked.\n`,
      error: "",
    });
    expect(await use(key)).toBe(401);
    expect((await sluice(["keys", "list", "--alias", "laptop"])).out).toMatch(/ blocked$/m);
    expect(await sluice(["keys", "unblock", id])).toEqual({
      code: 0,
      out: `${id} works again.\n`,
      error: "",
    });
    expect(await use(key)).toBe(200);

    const rotated = await sluice(["keys", "rotate", id, "--grace", "10m"]);
    const [, next = ""] = /^ {2}(sk-\S+)$/m.exec(rotated.out) ?? [];
    expect(rotated.out).toMatch(/^The old one works until \d{4}-/m);
    expect([await use(key), await use(next)]).toEqual([200, 200]);
    const last = await answer("keys", "rotate", id);
    expect([await use(key), await use(next), await use(String(last["key"]))]).toEqual([
      401, 401, 200,
    ]);

    expect(await sluice(["keys", "revoke", id])).toEqual({
      code: 0,
      out: `${id} is gone.\n`,
      error: "",
    });
    expect(await use(String(last["key"]))).toBe(401);
  });

  it("gives every field of a key", async () => {
    await answer("teams", "create", "every-field");
    const options = {
      "--alias": "every field",
      "--user": "u",
      "--team": "every-field",
      "--spend-scope": "team",
      "--expires": "2090-01-01",
      "--budget-duration": "1mo",
      "--tpm": "5",
      "--max-parallel": "0",
      "--tags": "a,b",
      "--guardrails": "pii",
    };
    expect(
      await answer("keys", "create", "--blocked", ...Object.entries(options).flat()),
    ).toMatchObject({
      key_alias: "every field",
      user_id: "u",
      team_id: "every-field",
      spend_scope: "team",
      expires: "2090-01-01T00:00:00.000Z",
      budget_duration: "1mo",
      tpm_limit: 5,
      max_parallel_requests: 0,
      tags: ["a", "b"],
      guardrails: ["pii"],
      blocked: true,
    });
  });
});

describe("sluice teams", () => {
  it("makes, shows, lists, changes, blocks and deletes a team", async () => {
    await answer("teams", "create", "platform", "--alias", "The platform", "--models", "echo");
    const made = await answer("keys", "create", "--team", "platform");
    const key = String(made["key"]);
    expect([await use(key), await use(key, "gpt-4o")]).toEqual([200, 404]);
    expect((await sluice(["teams", "list"])).out).toMatch(/^platform +The platform +echo$/m);
    expect((await sluice(["teams", "info", "platform"])).out).toContain(
      `keys: ${String(made["token_id"])}\n`,
    );
    expect(
      await answer("teams", "update", "platform", "--rpm", "5", "--clear", "team_alias"),
    ).toMatchObject({
      rpm_limit: 5,
      team_alias: null,
      models: ["echo"],
    });
    expect((await sluice(["teams", "block", "platform"])).out).toBe(
      "platform is blocked, with all its keys.\n",
    );
    expect(await use(key)).toBe(401);
    expect((await sluice(["teams", "unblock", "platform"])).out).toBe("platform works again.\n");
    expect(await use(key)).toBe(200);
    expect((await sluice(["teams", "delete", "platform"])).error).toMatch(
      /The team "platform" has 1 key\. Say what becomes of them/,
    );
    expect((await sluice(["teams", "delete", "platform", "--keys", "delete"])).out).toBe(
      "platform is gone.\n1 key is deleted.\n",
    );
    expect(await use(key)).toBe(401);
  });
});

describe("a command that fails", () => {
  const ONE_LINE = /^[^\n]+\n$/;

  it.each([
    [["keys", "info", "key_none"], 1, /No key has this id/],
    [["keys", "revoke", "key_none"], 1, /None of the keys exists/],
    [["keys", "create", "--team", "nowhere"], 1, /team "nowhere" does not exist/],
    [["keys", "create", "--max-budget", "-1"], 1, /max_budget/],
    [
      ["keys", "create", "--max-budget", "1", "--soft-budget", "2"],
      1,
      /soft_budget exceeds max_budget/,
    ],
    [["keys", "update", "key_none", "--clear", "max_budgets"], 1, /did you mean max_budget\?/],
    [["teams", "info", "nowhere"], 1, /This team does not exist/],
    [["keys", "create", "--rpm", "many"], 2, /--rpm/],
    [["keys", "create", "--metadata", "{"], 2, /not valid JSON/],
    [["keys", "create", "--metadata", "[]"], 2, /not a JSON object/],
    [["keys", "list", "--admin-url", "localhost:4001"], 2, /--admin-url/],
    [["keys", "create", "--moddels", "x"], 2, /--moddels/],
    [["keys", "info"], 2, /missing required argument/],
  ])("%j ends with %i and says why", async (args, code, message) => {
    const ran = await sluice(args);
    expect([ran.code, ran.out]).toEqual([code, ""]);
    expect(ran.error).toMatch(message);
    expect(ran.error.trim().split("\n").length).toBeLessThanOrEqual(2);
  });

  it("ends with 3 where no gateway runs, and says what to do", async () => {
    const ran = await sluice(["keys", "list", "--admin-url", "http://127.0.0.1:9"]);
    expect([ran.code, ran.error]).toEqual([3, expect.stringMatching(ONE_LINE)]);
    expect(ran.error).toMatch(
      /No gateway answers at http:\/\/127\.0\.0\.1:9 \(.+\): start it with sluice serve/,
    );
  });

  it("ends with 3 without a master key, and works with the one of the data folder", async () => {
    const without = { SLUICE_MASTER_KEY: undefined };
    const ran = await sluice(["keys", "list"], without);
    expect([ran.code, ran.error]).toEqual([
      3,
      expect.stringMatching(/^No master key: set SLUICE_MASTER_KEY.*master\.key can be read\.\n$/),
    ]);
    writeFileSync(join(gateway.workspace.dataDirectory, "master.key"), `${gateway.masterKey}\n`);
    expect((await sluice(["keys", "list"], without)).code).toBe(0);
  });

  it("ends with 3 where the data folder is gone, and says so", async () => {
    const workspace = createWorkspace();
    try {
      const place = ["--config", workspace.configPath];
      expect(
        await host.run(["keys", "list", ...place], workspace.folder, {
          SLUICE_ADMIN_PORT: new URL(gateway.adminUrl).port,
          SLUICE_MASTER_KEY: undefined,
        }),
      ).toEqual({
        code: 3,
        out: "",
        error: `There is no data folder ${workspace.dataDirectory}: it was moved or removed, or no gateway has started here. Put it back, or set SLUICE_MASTER_KEY.\n`,
      });
    } finally {
      workspace.remove();
    }
  });

  it("ends with 1 for another master key, and never prints either", async () => {
    const other = "sk-another-master-key-than-the-gateway's";
    const ran = await sluice(["keys", "list"], { SLUICE_MASTER_KEY: other });
    expect([ran.code, ran.error]).toEqual([
      1,
      expect.stringMatching(/has another master key: set SLUICE_MASTER_KEY/),
    ]);
    expect(ran.error + ran.out).not.toContain(other);
  });

  it("ends with 2 when the port of the configuration is any, or the configuration is not there", async () => {
    expect(await sluice(["keys", "list"], { SLUICE_ADMIN_PORT: "0" })).toMatchObject({
      code: 2,
      error: expect.stringMatching(/--admin-url/),
    });
    const lost = runCommand(["keys", "list", "--config", "nowhere.yaml"], gateway.workspace.folder);
    expect([(await lost.ended).code, lost.stderr]).toEqual([
      2,
      expect.stringMatching(/nowhere\.yaml.*--config/),
    ]);
    const named = ["keys", "list", "--config", "nowhere.yaml", "--admin-url", gateway.adminUrl];
    expect((await runCommand(named, gateway.workspace.folder).ended).code).toBe(0);
  });

  it("ends with 3 at the public listener, and at something else that answers", async () => {
    const atPublic = await sluice(["keys", "list", "--admin-url", gateway.publicUrl]);
    expect(atPublic.code).not.toBe(0);
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.url);
      response
        .writeHead(request.url === "/moved" ? 200 : 302, { location: "/moved" })
        .end("<html>");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const ran = await sluice(["keys", "list", "--admin-url", `http://127.0.0.1:${port}`]);
    other.close();
    expect([ran.code, ran.error]).toEqual([3, expect.stringMatching(ONE_LINE)]);
    // The master key follows no redirect.
    expect(seen).not.toContain("/moved");
  });
});

it("names commands, and the budget or organization that is missing", async () => {
  expect((await sluice(["keys", "revoke", "absent"])).error).toContain(
    "None of the keys exists. `sluice keys list` lists the keys.",
  );
  expect((await sluice(["explain", "absent"])).error).toContain("`sluice requests` lists");
  expect((await sluice(["deployments", "reset", "absent"])).error).toContain(
    "`sluice deployments` lists",
  );
  expect((await sluice(["keys", "create", "--team", "absent"])).error).toContain(
    "Make it with `sluice teams create`.",
  );
  expect((await sluice(["keys", "create", "--budget", "5"])).error).toBe(
    'The budget "5" does not exist. An amount of money is max_budget.\n',
  );
  expect((await sluice(["keys", "create", "--organization", "absent"])).error).toContain(
    'The organization "absent" does not exist.',
  );
});
