/**
 * Tests in pipelines: an edit, a start and a command are refused by one that fails, and nothing of
 * a test is seen outside.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, configStatus, MESSAGES, rowsOf, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const PROMISE = `  - name: the house rule holds
    request: { model: gpt-4o-mini, num_retries: 0, messages: [{ role: user, content: Hello }] }
    upstream: [{ status: 500 }, { reply: saved }]
    expect: { status: 200, text: saved, targets: [openai/gpt-4o-mini, openai/gpt-4o] }
end_of_config: true
`;
const FALLBACK =
  "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }], fallbacks: { general: [gpt-4o] } }";
const OTHERS = [
  "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }] }",
  "{ id: echo, targets: [{ provider: echo, model: echo }] }",
];

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let pipeline: string;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl, models: [FALLBACK, ...OTHERS] });
  pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(pipeline, readFileSync(pipeline, "utf8").replace("end_of_config: true\n", PROMISE));
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const lineOf = (part: string): number => {
  const text = readFileSync(pipeline, "utf8");
  return text.slice(0, text.lastIndexOf(part)).split("\n").length;
};

describe("a test that fails", () => {
  it("keeps an edit out that breaks what it promises, at its line, and the old configuration goes on", async () => {
    const good = readFileSync(workspace.configPath, "utf8");
    workspace.write(good.replace("general: [gpt-4o]", "general: [echo]"));
    const refused = await eventually("the edit to be refused", async () => {
      const { last_attempt: last } = await configStatus(gateway);
      return last?.outcome === "refused" ? last : undefined;
    });
    const [finding] = refused.findings;
    expect(finding).toMatchObject({ file: "pipelines/chat.yaml", line: lineOf("    expect:") });
    expect(finding?.message).toContain('The test "the house rule holds" fails: expected');
    expect(await configStatus(gateway)).toMatchObject({ live: { generation: 1 } });
    const command = runCommand(
      ["test", "--config", workspace.configPath, pipeline],
      workspace.folder,
    );
    expect(await command.ended).toMatchObject({ code: 1 });
    expect(command.stdout).toContain("FAILED  chat: the house rule holds");
    expect(command.stdout).toMatch(/^failed: 5 of 6 tests, \d+ ms$/m);
    workspace.write(good);
    await eventually(
      "the files to be what runs",
      async () => (await configStatus(gateway)).last_attempt?.outcome === "unchanged",
    );
  });

  it("keeps a start from happening, unless the last good configuration may be taken", async () => {
    const other = createWorkspace({ baseUrl: upstream.baseUrl });
    const path = join(other.pipelinesFolder, "chat.yaml");
    await (await startGateway(other)).stop();
    writeFileSync(path, readFileSync(path, "utf8").replace("status: 401", "status: 200"));
    const command = runCommand(["serve", "--config", other.configPath], other.folder);
    expect(await command.ended).toMatchObject({ code: 3 });
    expect(command.stderr).toMatch(
      /^pipelines\/chat\.yaml:\d+:\d+ {2}The test "without a key nothing is called" fails: .* but 401/m,
    );
    expect(command.stderr).toContain(
      "Generation 1 ran here last: sluice serve --last-good starts with it",
    );
    const started = await startGateway(other, {}, "warn", ["--last-good"]);
    expect(await configStatus(started)).toMatchObject({
      live: { generation: 1 },
      drift: { files_differ: true },
    });
    await started.dispose();
  });
});

it("nothing of the tests is seen outside: no call, no row, no window, no deployment", async () => {
  expect(upstream.requests).toEqual([]);
  const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
    readonly deployments: readonly object[];
  };
  expect(deployments.length).toBeGreaterThan(0);
  expect(JSON.stringify(deployments)).not.toContain("sluice-test");
  for (const deployment of deployments)
    expect(deployment).toMatchObject({ attempts: { total: 0 }, ejections: 0 });
  upstream.script({ kind: "reply", text: "real" });
  const reply = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
  expect(reply.status).toBe(200);
  expect(upstream.requests).toHaveLength(1);
  await rowsOf(gateway, reply.headers.get("x-request-id"));
  expect(await spendRows(gateway, {})).toHaveLength(1);
  const missing = await chat(gateway, { model: "sluice-test/a", messages: MESSAGES });
  expect(missing.status).toBe(404);
});
