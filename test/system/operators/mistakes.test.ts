/**
 * Slips of an operator's first hour, as `sluice check` and a running gateway answer them (journeys
 * A1 to A4, item 7).
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandHost, type Ran, startCommandHost } from "../support/command-host.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

let gateway: GatewayProcess;
let workspace: Workspace;
let host: CommandHost;

beforeAll(async () => {
  host = startCommandHost();
  workspace = createWorkspace();
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  host?.close();
  await gateway?.dispose();
  workspace?.remove();
});

/** The admin port comes from the environment, as it would on a server. */
const port = () => ({ SLUICE_ADMIN_PORT: new URL(gateway.adminUrl).port });
const CHAT = () => join(workspace.pipelinesFolder, "chat.yaml");

/**
 * Runs `sluice check` on other files than those that the gateway was started with, and puts these
 * back.
 */
async function check(
  edit: { gateway?: (text: string) => string; chat?: (text: string) => string },
  ...more: string[]
): Promise<Ran> {
  const before = [workspace.configPath, CHAT()].map(
    (path) => [path, readFileSync(path, "utf8")] as const,
  );
  const edits = [edit.gateway, edit.chat];
  before.forEach(([path, text], index) => writeFileSync(path, edits[index]?.(text) ?? text));
  try {
    return await host.run(
      ["check", "--config", workspace.configPath, ...more],
      workspace.folder,
      port(),
    );
  } finally {
    for (const [path, text] of before) writeFileSync(path, text);
  }
}

const guarded = (when: string) => (text: string) =>
  text.replace(/^ +- guardrails\b.*$/m, `  - { use: guardrails, when: { ${when} } }`);

describe("a name in `when`", () => {
  it("that is no model is a finding with the model that was meant", async () => {
    const { code, out } = await check({ chat: guarded("model: gpt-4o-mni") });
    expect(code).toBe(1);
    expect(out).toMatch(
      /^pipelines\/chat\.yaml:\d+:\d+ {2}Step guardrails has the condition `model: gpt-4o-mni`/m,
    );
    expect(out).toContain("did you mean `gpt-4o-mini`?");
    expect((await check({ chat: guarded('model: "gpt-4o*"') })).code).toBe(0);
    expect((await check({ chat: guarded("model: openai/gpt-5") })).code).toBe(0);
  });

  it("that is no team and no key of the running gateway is a warning, and the table shows the condition", async () => {
    const make = (path: string, body: object) =>
      fetch(`${gateway.adminUrl}${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
    expect((await make("/team/new", { team_id: "support" })).status).toBe(200);
    expect((await make("/key/generate", { key_alias: "ci" })).status).toBe(200);
    const wrong = await check({ chat: guarded("team: suport, key: cj") });
    expect(wrong.code).toBe(0);
    expect(wrong.out).toMatch(
      /^pipelines\/chat\.yaml:\d+:\d+ {2}warning: .*the team "suport", which exists neither/m,
    );
    expect(wrong.out).toMatch(
      /^pipelines\/chat\.yaml:\d+:\d+ {2}warning: .*the key "cj", which exists neither/m,
    );
    expect((await check({ chat: guarded("team: suport") }, "--strict")).code).toBe(1);
    const right = await check({ chat: guarded('team: support, key: "c*"') });
    expect(right.out).not.toContain("warning");
    const pii = (text: string) =>
      guarded("team: suport")(text).replace(
        "use: guardrails,",
        "use: guardrails, with: { input: [pii] },",
      );
    const withPii = (text: string) =>
      text.replace(/^plugins:/m, "guardrails: { pii: { use: pii } }\nplugins:");
    const table = await check({ chat: pii, gateway: withPii }, "--coverage");
    expect(table.out).toContain("pii (when team=suport) (no such name)");
  });

  it("is shown by the status of the gateway that runs it, and the shrink guard sees the new condition", async () => {
    const text = readFileSync(CHAT(), "utf8");
    writeFileSync(CHAT(), guarded("team: suport")(text));
    try {
      const refused = await host.run(
        ["reload", "--config", workspace.configPath],
        workspace.folder,
        port(),
      );
      expect(refused.out).toContain("would lose guardrails for some requests");
      const [, force = ""] = /--force ([0-9a-f]+)/.exec(refused.out) ?? [];
      await host.run(
        ["reload", "--config", workspace.configPath, "--force", force],
        workspace.folder,
        port(),
      );
      const status = await host.run(
        ["status", "--config", workspace.configPath],
        workspace.folder,
        port(),
      );
      expect(status.out).toMatch(
        /^warning: .*the team "suport", which exists neither in the files nor in the store/m,
      );
    } finally {
      writeFileSync(CHAT(), text);
    }
  });
});

describe("the team of a declared key", () => {
  const keyed = (text: string) =>
    text.replace(
      /^plugins:/m,
      'keys: [{ alias: ci, key: "${file:ci.key}", team_id: suport }]\nplugins:',
    );

  beforeAll(() => {
    const path = join(dirname(workspace.configPath), "ci.key");
    writeFileSync(path, "sk-key-of-the-tests-0123456789");
  });

  it("is a warning where no team has the id: no limit of a team would hold", async () => {
    const { code, out } = await check({ gateway: keyed });
    expect(code).toBe(0);
    expect(out).toContain(
      'The key ci belongs to the team "suport", which exists neither in the files nor in the store: no limit of a team holds for it.',
    );
    expect((await check({ gateway: keyed }, "--strict")).code).toBe(1);
  });

  it("is no warning where the files declare it", async () => {
    const both = (text: string) => `teams: [{ team_id: suport }]\n${keyed(text)}`;
    const { out } = await check({ gateway: both });
    expect(out).not.toContain("suport");
  });
});

describe("sluice check", () => {
  it("names the package of a plugin, once for all its uses", async () => {
    const { out } = await check({
      gateway: (text) => text.replace(/^ *- "?@sluice\/(?:standard|store-sqlite)[^\n]*\n/gm, ""),
    });
    expect(out.match(/add "@sluice\/standard@\^/g)).toHaveLength(1);
    expect(out.match(/add "@sluice\/store-sqlite@\^/g)).toHaveLength(1);
  });

  it("recognises a configuration of LiteLLM", async () => {
    const { code, out } = await check({
      gateway: () => "model_list:\n  - model_name: a\n    litellm_params: { model: openai/a }\n",
    });
    expect(code).toBe(1);
    expect(out.trim().split("\n")).toEqual([expect.stringContaining("sluice import litellm")]);
    expect(out).toMatch(/^config\/gateway\.yaml:1:1 {2}`model_list`/);
  });

  it("says where a key belongs, and how a section is written", async () => {
    const top = await check({
      gateway: (text) => `${text}\nfallbacks: { general: [a] }\n`,
    });
    expect(top.out).toContain("`fallbacks` belongs under an entry of `models`");
    const list = await check({
      gateway: (text) => text.replace("{ id: gpt-4o,", "{ id: gpt-4o, fallbacks: [echo],"),
    });
    expect(list.out).toContain("write `fallbacks: { general: [gpt-4o-mini] }`");
  });

  it.each<readonly [string, string, string, number, number]>([
    ["three blanks", "  - { id: echo", "   - { id: echo", 0, 4],
    ["no blank", "  - { id: echo", "- { id: echo", 0, 1],
    ["a tab", "  - { id: echo", "\t- { id: echo", 0, 1],
    ["three blanks before the first entry", "models:\n  -", "models:\n   -", 2, 3],
  ])(
    "has one finding for an indentation of %s, at its line",
    async (_what, from, to, below, at) => {
      const text = readFileSync(workspace.configPath, "utf8");
      const { code, out } = await check({ gateway: () => text.replace(from, to) });
      const line = text.slice(0, text.indexOf(from)).split("\n").length + below;
      expect([code, out.trim().split("\n")]).toEqual([
        1,
        [expect.stringMatching(new RegExp(`^config/gateway\\.yaml:${line}:${at} {2}.*indent`))],
      ]);
    },
  );

  it("says of a target without a price that a budget refuses it, and of a route what it lacks", async () => {
    const unpriced = "  - { id: new, targets: [{ provider: openai, model: nameless }] }";
    const { code, out } = await check({
      gateway: (text) => text.replace("models:\n", `models:\n${unpriced}\n`),
    });
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/warning: .*openai\/nameless.*refuses requests of keys with a budget/),
    ]);
    // Replies of embeddings have no text to judge.
    const guarded = await check({
      chat: (text) =>
        text.replace(
          /^ +- guardrails\b.*$/m,
          "  - { use: guardrails, with: { input: [pii], output: [pii] } }",
        ),
      gateway: (text) => text.replace("models:\n", "guardrails: { pii: { use: pii } }\nmodels:\n"),
    });
    const lacking = (what: string) =>
      [
        ...guarded.out.matchAll(new RegExp(`pipeline (\\S+) have no guardrail for ${what}`, "g")),
      ].map(([, name]) => name);
    expect(lacking("requests")).toEqual(["embeddings", "images", "passthrough"]);
    expect(lacking("replies")).toEqual(["images", "passthrough"]);
  });

  it("takes an address without a credential, and warns of a short declared key", async () => {
    const redis = (url: string) => (text: string) =>
      text
        .replace(/^shared:.*\n/m, "")
        .replace(/^plugins:/m, `shared: { use: redis, url: "${url}" }\nplugins:`)
        .replace(/^( *- )"@sluice\/standard[^\n]*/m, '$&\n$1"@sluice/shared-redis"');
    expect((await check({ gateway: redis("redis://127.0.0.1:6379/7") })).out).not.toContain(
      "credential",
    );
    expect((await check({ gateway: redis("redis://:password@127.0.0.1:6379/7") })).out).toContain(
      "looks like a credential",
    );
    const bare = await check({ gateway: redis("127.0.0.1:6379") });
    expect(bare.out).toContain("`shared.url` is not the address of a Redis  write `redis://");
    expect(bare.out).not.toContain("credential");
    const keys = (text: string) => `${text}\nkeys: [{ alias: short, key: "\${env:SHORT}" }]\n`;
    const before = [workspace.configPath, readFileSync(workspace.configPath, "utf8")] as const;
    writeFileSync(before[0], keys(before[1]));
    try {
      const { out } = await host.run(
        ["check", "--config", workspace.configPath],
        workspace.folder,
        { SHORT: "sk-short" },
      );
      expect(out).toMatch(
        /warning: The key short has 8 characters: an attacker can guess it\..*\(weak_key\)$/m,
      );
      expect(out).not.toContain("sk-short");
    } finally {
      writeFileSync(...before);
    }
  });

  it("ends with 1 under --strict for a provider whose variable is not set", async () => {
    const run = (...more: string[]) =>
      host.run(["check", "--config", workspace.configPath, ...more], workspace.folder, {
        OPENAI_API_KEY: undefined,
      });
    expect((await run()).code).toBe(0);
    expect((await run("--strict")).code).toBe(1);
    expect((await check({}, "--strict")).code).toBe(0);
  });
});

describe("a folder of one's own", () => {
  it("finds ./gateway.yaml and ./pipelines, and names SLUICE_CONFIG where there is none", async () => {
    const folder = join(workspace.folder, "far", "own");
    mkdirSync(folder, { recursive: true });
    const none = await host.run(["check"], folder);
    expect(none.out).toContain("--config or SLUICE_CONFIG");
    writeFileSync(join(folder, "gateway.yaml"), readFileSync(workspace.configPath, "utf8"));
    // Without a folder of pipelines the shipped ones serve.
    expect((await host.run(["check"], folder)).out).toMatch(/^ok: ([2-9]|\d\d) pipelines, /m);
    mkdirSync(join(folder, "pipelines"));
    writeFileSync(join(folder, "pipelines/chat.yaml"), readFileSync(CHAT(), "utf8"));
    const found = await host.run(["check"], folder);
    expect(found.out).toMatch(/^ok: 1 pipeline, \d+ routes, /m);
    expect(
      (await host.run(["check"], workspace.folder, { SLUICE_CONFIG: "far/own/gateway.yaml" })).out,
    ).toContain("ok: 1 pipeline,");
  });

  it("is examined by the doctor as far as its file can be read, and the rest is counted", async () => {
    const { out } = await host.run(["doctor", "--config", "nowhere.yaml"], workspace.folder);
    expect(out).toMatch(/^skip {2}store: the configuration has findings$/m);
    expect(out).toMatch(/, [89] not looked at$/m);
  });
});
