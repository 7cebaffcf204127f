/**
 * `sluice check` and what only a plugin finds: as it is made, and a guardrail as it judges its own
 * sample.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

/**
 * A provider, a guardrail and a step that cannot be made, or not started, where their options say
 * so.
 */
const PLUGINS = `
import { defineGuardrail, defineProvider, defineStep, passOn } from "@sluice/kit";

const config = { type: "object", properties: { fails: { type: "string", default: "never", description: "When it fails." } } };
const make = ({ fails }, instance) => {
  if (fails === "create") throw new Error("the moon is not full");
  return { ...instance, start: async () => { if (fails === "start") throw new Error("the sun is up"); } };
};
const refuse = () => { throw new Error("it is never called"); };
const provider = { capabilities: { operations: ["chat"], streaming: false, tools: false }, encode: refuse, decode: refuse, stream: refuse, error: refuse };
const common = { name: "moody", stability: "experimental", summary: "Fails.", config };

export default [
  defineProvider({ ...common, create: (options) => make(options, provider) }),
  defineGuardrail({ ...common, sample: () => "x", create: (options) => {
    const forbidden = options.fails === "sample" ? "y" : "x";
    const check = (text) => text === forbidden ? { kind: "block", reason: "moody/x" } : { kind: "allow" };
    return make(options, { reach: Infinity, check });
  } }),
  defineStep({ ...common, create: (options) => make(options, { run: passOn }) }),
];
`;

let workspace: Workspace;

beforeEach(() => {
  workspace = createWorkspace();
  mkdirSync(join(workspace.folder, "my-plugins"));
  writeFileSync(join(workspace.folder, "my-plugins/moody.ts"), PLUGINS);
  edit(workspace.configPath, "plugins:\n", "plugins:\n  - ../my-plugins/moody.ts\n");
});
afterEach(() => workspace.remove());

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${path} has no ${JSON.stringify(from)}.`);
  writeFileSync(path, text.replace(from, to));
}

function guardrails(...entries: readonly string[]): void {
  edit(
    workspace.configPath,
    "models:\n",
    `guardrails:\n${entries.map((entry) => `  ${entry}\n`).join("")}models:\n`,
  );
}

async function check(): Promise<{ code: number | null; stdout: string }> {
  const command = runCommand(["check", "--config", workspace.configPath], workspace.folder);
  const { code } = await command.ended;
  return { code, stdout: command.stdout };
}

const PROVIDER = "  moon: { use: moody, fails: create }\n";
const GUARDRAIL = "guardrails:\n  moon: { use: moody, fails: create }\n";

/** The line of chat.yaml that a finding names; `undefined` for a place without such a line. */
function lineIn(stdout: string, place: RegExp): string | undefined {
  const [, number] = place.exec(stdout) ?? [];
  if (number === undefined) return undefined;
  const text = readFileSync(join(workspace.pipelinesFolder, "chat.yaml"), "utf8");
  return text.split("\n")[Number(number) - 1];
}

describe("sluice check makes every plugin", () => {
  it.each([
    [
      "provider",
      () => edit(workspace.configPath, "providers:\n", `providers:\n${PROVIDER}`),
      /^config\/gateway\.yaml:\d+:\d+ /m,
    ],
    [
      "guardrail",
      () => edit(workspace.configPath, "models:\n", `${GUARDRAIL}models:\n`),
      /^config\/gateway\.yaml:\d+:\d+ /m,
    ],
    [
      "step",
      () =>
        edit(
          join(workspace.pipelinesFolder, "chat.yaml"),
          "  - limits",
          "  - { use: moody, with: { fails: create } }\n  - limits",
        ),
      /^pipelines\/chat\.yaml:(\d+):\d+ /m,
    ],
  ])("and tells of a %s that cannot be made, where it stands", async (_kind, spoil, place) => {
    spoil();
    const { code, stdout } = await check();
    expect(stdout).toContain("the moon is not full");
    expect(stdout).toMatch(place);
    const line = lineIn(stdout, place);
    expect(line === undefined || line.includes("moody")).toBe(true);
    expect(stdout).not.toContain("ok:");
    expect(code).toBe(1);
  });

  it("and starts none where no guardrail is to be tested", async () => {
    edit(
      workspace.configPath,
      "providers:\n",
      "providers:\n  moon: { use: moody, fails: start }\n",
    );
    edit(
      join(workspace.pipelinesFolder, "chat.yaml"),
      "  - limits",
      "  - { use: moody, with: { fails: start } }\n  - limits",
    );
    expect(await check()).toEqual({ code: 0, stdout: expect.stringContaining("ok: ") as string });
  });

  it.each([
    ["lets its own sample through", "sample", "sample"],
    ["cannot start", "start", "the sun is up"],
  ])("and tells of a guardrail that %s", async (_what, fails, said) => {
    guardrails(`apart: { use: moody, isolation: worker }`, `moon: { use: moody, fails: ${fails} }`);
    const { code, stdout } = await check();
    expect(stdout).toMatch(/^config\/gateway\.yaml:\d+:\d+ /m);
    expect(stdout).toContain(said);
    expect(code).toBe(1);
  });

  it.each(["inline", "worker"])(
    "and tells of a guardrail that cannot judge streams as the pipeline says: %s",
    async (isolation) => {
      guardrails(`moon: { use: moody, isolation: ${isolation} }`);
      expect(await check()).toEqual({ code: 0, stdout: expect.stringContaining("ok: ") as string });
      const guarded = "  - { use: guardrails, with: { output: [moon], stream: window } }";
      edit(join(workspace.pipelinesFolder, "chat.yaml"), "  - guardrails ", `${guarded} `);
      const { code, stdout } = await check();
      expect(lineIn(stdout, /^pipelines\/chat\.yaml:(\d+):\d+ .*moon/m)).toContain(
        "output: [moon]",
      );
      expect(code).toBe(1);
    },
  );
});
