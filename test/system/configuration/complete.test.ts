/** Completions and help, asked of a running gateway with the shipped plugins. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AdminAnswer } from "@sluice/admin-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin } from "../support/client.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  startGateway,
  UPSTREAM_KEY,
} from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

type Completed = AdminAnswer<"POST /config/complete">;

const CHAT = "pipelines/chat.yaml";
const GATEWAY = "config/gateway.yaml";

let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  workspace = createWorkspace({ sections: ["guardrails: { people: { use: pii } }"] });
  gateway = await startGateway(workspace);
});
afterAll(() => gateway?.dispose());

const textOf = (name: string): string => readFileSync(join(workspace.folder, name), "utf8");

/** Completes where `|` stands, in the place of the first match of a pattern. */
async function ask(path: string, pattern: RegExp, marked: string): Promise<Completed> {
  const text = textOf(path).replace(pattern, () => marked);
  const offset = text.indexOf("|");
  const files = { [path]: text.replace("|", "") };
  const answer = await admin(gateway, "/config/complete", { files, path, offset });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Completed;
}

const labels = ({ completions }: Completed): readonly string[] =>
  completions.map(({ label }) => label);

describe("a place of a file", () => {
  it("is completed with the steps and the options of the loaded plugins", async () => {
    const steps = await ask(CHAT, /^ {2}- guardrails.*$/m, "  - gua|");
    expect(steps.completions[0]).toMatchObject({ label: "guardrails", insert: "guardrails" });
    expect(steps.completions[0]?.about?.length).toBeGreaterThan(10);
    const options = await ask(
      CHAT,
      /^ {2}- guardrails.*$/m,
      "  - { use: guardrails, with: { | } }",
    );
    expect(labels(options)).toEqual(expect.arrayContaining(["input", "output", "stream"]));
  });

  it("is completed with what the files name", async () => {
    const named = await ask(
      CHAT,
      /^ {2}- guardrails.*$/m,
      "  - { use: guardrails, with: { input: [|] } }",
    );
    expect(labels(named)).toEqual(["people"]);
    const providers = await ask(
      GATEWAY,
      /\{ provider: openai, model: gpt-4o-mini \}/,
      "{ provider: | }",
    );
    expect(labels(providers)).toEqual(["openai", "echo"]);
    const models = await ask(
      CHAT,
      /^ {2}- guardrails.*$/m,
      "  - { use: limits, when: { model: gpt|",
    );
    expect(labels(models)).toEqual(["gpt-4o-mini", "gpt-4o"]);
  });

  it("is completed with references by name, and no value of one", async () => {
    const answer = await ask(GATEWAY, /"\$\{env:OPENAI_API_KEY\}"/, '"${e|"');
    expect(answer.completions).toEqual([]);
    const other = await ask(GATEWAY, /base_url: [^ ]+/, 'base_url: "${e|"');
    expect(other.completions).toMatchObject([
      { insert: "${env:OPENAI_API_KEY}", kind: "reference", detail: "set" },
    ]);
    expect(JSON.stringify(other)).not.toContain(UPSTREAM_KEY);
    expect(JSON.stringify(other)).not.toContain(MASTER_KEY);
  });

  it("says what a word means, also by line and column", async () => {
    const text = textOf(CHAT);
    const line = text.slice(0, text.indexOf("deadline:")).split("\n").length;
    const answer = await admin(gateway, "/config/complete", { path: CHAT, line, column: 3 });
    expect((await answer.json()) as Completed).toMatchObject({
      help: { title: "deadline", preset: '"600s"' },
    });
  });

  it("must be in a file of the configuration", async () => {
    for (const body of [{ path: "other.yaml", offset: 0 }, { path: CHAT }, { offset: 0 }])
      expect((await admin(gateway, "/config/complete", body)).status).toBe(400);
  });
});
