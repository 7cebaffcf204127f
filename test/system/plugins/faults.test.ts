/**
 * Faults of a plugin's own code (journeys B1): the file, the line and the message, in `sluice
 * check` and in the log.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const guardrail = (
  name: string,
  create: string,
  sample = '() => "TICKET-1"',
  stability = "experimental",
): string => `
import { defineGuardrail } from "@sluice/kit";

export default defineGuardrail({
  name: "${name}",
  stability: "${stability}",
  summary: "A test.",
  config: { type: "object", properties: {} },
  sample: ${sample},
  create: () => ${create},
});
`;

const check = (body: string): string => `({ reach: Infinity, check(text) {\n    ${body}\n  } })`;
const BLOCK =
  'return text.includes("TICKET-") ? { kind: "block", reason: "ticket" } : { kind: "allow" };';

const FILES: Readonly<Record<string, string>> = {
  "types.ts":
    'import { defineStep } from "@sluice/kit";\n\nexport default {\n  name: "types",,\n};\n',
  "script.mjs": "const first = 1;\n\nexport default { first,, };\n",
  "twice.ts": "const one: number = 1;\nconst one: number = 2;\nexport default one;\n",
  "imports.ts": 'import "./part.mjs";\nexport default {};\n',
  "part.mjs": "export const part = (;\n",
  "throws.ts": '\nthrow new Error("no licence");\n',
  "exp.ts": guardrail("exp", check(BLOCK), undefined, "exp"),
  "create.ts": guardrail("create", '{\n    throw new Error("boom at create");\n  }'),
  "sample.ts": guardrail("sample", check('throw new Error("boom at the sample");')),
  "making.ts": guardrail(
    "making",
    check(BLOCK),
    '() => {\n    throw new Error("boom at making");\n  }',
  ),
  "reason.ts": guardrail(
    "reason",
    check('return text.includes("TICKET-") ? { kind: "block" } : { kind: "allow" };'),
  ),
  "nothing.ts": guardrail("nothing", "undefined"),
  "promise.ts": guardrail("promise", `Promise.resolve(${check(BLOCK)})`),
  "checkless.ts": guardrail("checkless", "({ reach: Infinity })"),
  "verdict.ts": guardrail("verdict", check('return { kind: "blok" };')),
  "loop.ts": guardrail("loop", check("for (;;) if (text.length < 0) break;")),
  "run.ts": guardrail(
    "run",
    check(`if (text.includes("SECRET")) throw new Error("cannot read " + text);\n    ${BLOCK}`),
  ),
};

/** A plugin is named after ten seconds. */
const HELD_WAIT_MS = 90_000;

const places: Workspace[] = [];

/** A workspace that lists plugins, and uses those that are guardrails. */
function workspaceOf(files: readonly string[], guardrails: readonly string[] = []): Workspace {
  const workspace = createWorkspace();
  places.push(workspace);
  const folder = join(workspace.folder, "my-plugins");
  mkdirSync(folder);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const plugins = files.map((name) => `../my-plugins/${name}`);
  const listed = plugins.map((name) => `  - "${name}"\n`).join("");
  const used =
    guardrails.length === 0
      ? ""
      : `guardrails:\n${guardrails.map((entry) => `  ${entry}\n`).join("")}`;
  const text = readFileSync(workspace.configPath, "utf8").replace(
    "plugins:\n",
    `plugins:\n${listed}`,
  );
  workspace.write(text.replace("models:\n", `${used}models:\n`));
  return workspace;
}

/** A workspace that uses a guardrail of a package which loops at its sample. */
function workspaceWithPackage(): Workspace {
  const workspace = workspaceOf([]);
  const folder = join(workspace.folder, "my-package");
  mkdirSync(folder);
  const manifest = {
    name: "@acme/loops",
    version: "1.0.0",
    type: "module",
    peerDependencies: { "@sluice/kit": "*" },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "index.js"), FILES["loop.ts"] ?? "");
  const text = readFileSync(workspace.configPath, "utf8").replace(
    "plugins:\n",
    'plugins:\n  - "../my-package/index.js"\n',
  );
  workspace.write(text.replace("models:\n", "guardrails:\n  own: { use: loop }\nmodels:\n"));
  return workspace;
}

async function checked(
  workspace: Workspace,
  ...args: string[]
): Promise<{ code: number | null; lines: readonly string[] }> {
  const command = runCommand(
    ["check", "--config", workspace.configPath, ...args],
    workspace.folder,
  );
  const { code } = await command.ended;
  return { code, lines: command.stdout.trim().split("\n") };
}

afterAll(() => {
  for (const workspace of places) workspace.remove();
});

describe("sluice check, of a plugin that cannot be loaded", () => {
  it("names the file, the line and the column of each, and no consequence of it", async () => {
    const files = ["types.ts", "script.mjs", "twice.ts", "imports.ts", "throws.ts", "exp.ts"];
    const workspace = workspaceOf(files, ["exp: { use: exp }"]);
    const { code, lines } = await checked(workspace);
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(
        /Plugin \.\.\/my-plugins\/types\.ts cannot be loaded: .*Correct .*my-plugins\/types\.ts:4:17\.$/,
      ),
      expect.stringMatching(
        /Plugin \.\.\/my-plugins\/script\.mjs cannot be loaded: .*Correct .*script\.mjs:3:24\.$/,
      ),
      expect.stringMatching(
        /Plugin \.\.\/my-plugins\/twice\.ts cannot be loaded: .*Correct .*twice\.ts:2:7\.$/,
      ),
      expect.stringMatching(
        /Plugin \.\.\/my-plugins\/imports\.ts cannot be loaded: .*Correct .*part\.mjs:1:22\.$/,
      ),
      expect.stringMatching(/throws\.ts cannot be loaded: no licence  Correct .*throws\.ts:2:7\.$/),
      expect.stringMatching(
        /`stability` of guardrail exp in plugin .*exp\.ts is "exp"\.  Write stable, beta, experimental\.$/,
      ),
    ]);
  });
});

describe("sluice check, of an installed package of TypeScript", () => {
  it("says that it must be compiled (journeys B4)", async () => {
    const workspace = workspaceOf([]);
    const folder = join(workspace.folder, "node_modules/@acme/typed");
    mkdirSync(folder, { recursive: true });
    const manifest = {
      name: "@acme/typed",
      version: "1.0.0",
      type: "module",
      exports: "./index.ts",
    };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "index.ts"), FILES["create.ts"] ?? "");
    const text = readFileSync(workspace.configPath, "utf8");
    workspace.write(text.replace("plugins:\n", 'plugins:\n  - "@acme/typed@^1.0.0"\n'));
    const { code, lines } = await checked(workspace);
    expect([code, lines]).toEqual([
      1,
      [
        expect.stringMatching(
          /Plugin @acme\/typed@\^1\.0\.0 cannot be loaded: .* {2}Compile the package to JavaScript and install the result \(npm run build, npm pack\)/,
        ),
      ],
    ]);
  });
});

describe("sluice check, of a guardrail", () => {
  it("that cannot be made names the place and the message", async () => {
    const { code, lines } = await checked(workspaceOf(["create.ts"], ["own: { use: create }"]));
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(/could not be made: boom at create \(.*my-plugins\/create\.ts:11:11\)/),
    ]);
    expect(lines[0]).toMatch(/^config\/gateway\.yaml:\d+:\d+ /);
  });

  it.each([
    ["nothing", /is nothing: `create` returns no object\./],
    ["promise", /is a promise: `create` must return the object itself\./],
    ["checkless", /has no check: `create` returns no `check\(text, …\)`\./],
    ["verdict", /invalid verdict: its kind is blok, and can be allow, block or edit\. /],
  ])("that returns no guardrail, or no verdict, is named with that: %s", async (name, said) => {
    const { code, lines } = await checked(workspaceOf([`${name}.ts`], [`own: { use: ${name} }`]));
    expect([code, lines]).toEqual([1, [expect.stringMatching(said)]]);
    expect(lines[0]).toMatch(/^config\/gateway\.yaml:\d+:\d+ {2}The guardrail own /);
  });

  it("that fails at its sample names the place and the message", async () => {
    const names = ["sample", "making", "reason"];
    const entries = names.map((name) => `${name}: { use: ${name} }`);
    const { lines } = await checked(
      workspaceOf(
        names.map((name) => `${name}.ts`),
        entries,
      ),
    );
    expect(lines).toEqual([
      expect.stringMatching(/it threw: boom at the sample \(.*my-plugins\/sample\.ts:11:11\)/),
      expect.stringMatching(
        /has no sample: making it failed: boom at making \(.*my-plugins\/making\.ts:10:11\)/,
      ),
      expect.stringMatching(/blocks its own sample without a `reason`/),
    ]);
  });

  it("that loops at its own sample ends with a finding", async () => {
    const { code, lines } = await checked(
      workspaceOf(["loop.ts"], ["own: { use: loop }"]),
      "--plugin-timeout",
      "1s",
    );
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(
        /my-plugins\/loop\.ts:11:1 {2}The code of the plugin my-plugins\/loop\.ts \(check\) ran for 1 s without/,
      ),
    ]);
  });

  it("that loops is named with its package, where it has one", async () => {
    const { lines } = await checked(workspaceWithPackage(), "--plugin-timeout", "1s");
    expect(lines).toEqual([
      expect.stringMatching(
        /^my-package\/index\.js:11:1 {2}The code of the plugin @acme\/loops \(check\) ran for 1 s without a pause\./,
      ),
    ]);
  });
});

describe("a plugin that loops", () => {
  const held = (stderr: string): object | undefined => {
    const line = stderr.split("\n").find((text) => text.includes("a plugin holds up the start"));
    return line === undefined ? undefined : (JSON.parse(line) as object);
  };

  it("during a start is named with its package and its file", async () => {
    const { configPath, folder } = workspaceWithPackage();
    const command = runCommand(["serve", "--config", configPath], folder);
    try {
      const line = await eventually("the line", () => held(command.stderr), HELD_WAIT_MS);
      expect(line).toMatchObject({
        plugin: "@acme/loops",
        at: expect.stringMatching(/^check \(file:\/\/.*my-package\/index\.js:11\)$/),
      });
    } finally {
      command.signal("SIGKILL");
      await command.ended;
    }
  });

  it("during a restart is named with its file, the workers of before go on, and it ends with its supervisor", async () => {
    const workspace = workspaceOf([]);
    const text = readFileSync(workspace.configPath, "utf8").replace(
      "server: {",
      "server: { workers: 2,",
    );
    workspace.write(text);
    const gateway = await startGateway(workspace);
    try {
      const listed = text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/loop.ts"\n');
      workspace.write(listed.replace("models:\n", "guardrails:\n  own: { use: loop }\nmodels:\n"));
      // The answer comes when the new worker is given up, after a minute.
      void admin(gateway, "/restart", {}).catch(() => undefined);
      const line = await eventually("the line", () => held(gateway.stderr), HELD_WAIT_MS);
      expect(line).toMatchObject({
        plugin: "my-plugins/loop.ts",
        at: expect.stringMatching(/^check \(.*loop\.ts:11\)$/),
      });
      expect(
        (await chat(gateway, { model: "echo", messages: [{ role: "user", content: "Hi" }] }))
          .status,
      ).toBe(200);
    } finally {
      await gateway.dispose();
    }
  });
});

describe("a guardrail that throws while it serves", () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    const workspace = workspaceOf(
      ["run.ts"],
      ["own: { use: run }", "apart: { use: run, isolation: worker }"],
    );
    const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
    const guarded = "  - { use: guardrails, with: { input: [apart, own] } }";
    writeFileSync(pipeline, readFileSync(pipeline, "utf8").replace("  - guardrails", guarded));
    gateway = await startGateway(workspace);
  });
  afterAll(() => gateway?.dispose());

  it("is in the log with the file and the line, without the text", async () => {
    const response = await chat(gateway, {
      model: "echo",
      messages: [{ role: "user", content: "My SECRET\n    at /etc/passwd" }],
    });
    expect(response.status).not.toBe(200);
    const said = (name: string) =>
      gateway.stderr
        .split("\n")
        .find((line) => line.includes("a guardrail failed") && line.includes(`"${name}"`));
    const line = JSON.parse(await eventually("the line", () => said("own"))) as { at: string[] };
    expect(line.at[0]).toMatch(/my-plugins\/run\.ts:11:\d+$/);
    expect(gateway.stderr).not.toContain("SECRET");
    expect(gateway.stderr).not.toContain("/etc/passwd");
  });
});
