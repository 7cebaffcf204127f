/** `sluice check` and what only a plugin's `create` finds. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./gateway-process.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

/** A provider, a guardrail and a step that cannot be made, or not started, where their options say so. */
const PLUGINS = `
import { defineGuardrail, defineProvider, defineStep, passOn } from "@sluice/kit";

const config = { type: "object", properties: { fails: { type: "string", default: "never", description: "When it fails." } } };
const make = ({ fails }, instance) => {
  if (fails === "create") throw new Error("the moon is not full");
  return { ...instance, start: async () => { throw new Error("nobody may start this"); } };
};
const common = { name: "moody", stability: "experimental", summary: "Fails.", config };

export default [
  defineProvider({ ...common, create: (options) => make(options, { capabilities: { operations: ["chat"], streaming: false, tools: false } }) }),
  defineGuardrail({ ...common, sample: () => "x", create: (options) => make(options, { reach: Infinity, check: () => ({ kind: "allow" }) }) }),
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

async function check(): Promise<{ code: number | null; stdout: string }> {
  const command = runCommand(["check", "--config", workspace.configPath], workspace.folder);
  const { code } = await command.ended;
  return { code, stdout: command.stdout };
}

const PROVIDER = "  moon: { use: moody, fails: create }\n";
const GUARDRAIL = "guardrails:\n  moon: { use: moody, fails: create }\n";

describe("sluice check makes every plugin", () => {
  it.each([
    ["provider", () => edit(workspace.configPath, "providers:\n", `providers:\n${PROVIDER}`), /^config\/gateway\.yaml:\d+:\d+ /m],
    ["guardrail", () => edit(workspace.configPath, "models:\n", `${GUARDRAIL}models:\n`), /^config\/gateway\.yaml:\d+:\d+ /m],
    [
      "step",
      () =>
        edit(
          join(workspace.pipelinesFolder, "chat.yaml"),
          "  - limits",
          "  - { use: moody, with: { fails: create } }\n  - limits",
        ),
      /^pipelines\/chat\.yaml:14:\d+ /m,
    ],
  ])("and tells of a %s that cannot be made, where it stands", async (_kind, spoil, place) => {
    spoil();
    const { code, stdout } = await check();
    expect(stdout).toContain("the moon is not full");
    expect(stdout).toMatch(place);
    expect(stdout).not.toContain("ok:");
    expect(code).toBe(1);
  });

  it("and starts none", async () => {
    edit(workspace.configPath, "providers:\n", "providers:\n  moon: { use: moody }\n");
    edit(
      workspace.configPath,
      "models:\n",
      "guardrails:\n  moon: { use: moody }\n  apart: { use: moody, isolation: worker }\nmodels:\n",
    );
    edit(join(workspace.pipelinesFolder, "chat.yaml"), "  - limits", "  - moody\n  - limits");
    expect(await check()).toEqual({ code: 0, stdout: expect.stringContaining("ok: ") as string });
  });

  it("and tells of a guardrail that cannot judge streams as the pipeline says, but not of one whose reach nobody knows yet", async () => {
    edit(
      workspace.configPath,
      "models:\n",
      "guardrails:\n  moon: { use: moody }\n  apart: { use: moody, isolation: worker }\nmodels:\n",
    );
    const guarded = (name: string): string => `  - { use: guardrails, with: { output: [${name}], stream: window } }`;
    edit(join(workspace.pipelinesFolder, "chat.yaml"), "  - guardrails ", `${guarded("apart")} `);
    expect((await check()).code).toBe(0);
    edit(join(workspace.pipelinesFolder, "chat.yaml"), guarded("apart"), guarded("moon"));
    const { code, stdout } = await check();
    expect(stdout).toMatch(/^pipelines\/chat\.yaml:16:\d+ .*moon/m);
    expect(code).toBe(1);
  });
});
