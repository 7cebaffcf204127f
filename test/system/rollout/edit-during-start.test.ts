/**
 * Edits that are saved while a gateway starts, after it has read its files and before it watches
 * them.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, DEFAULT_MODELS, type Workspace } from "../support/workspace.ts";

const ADDED = "{ id: added, targets: [{ provider: echo, model: echo }] }";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess | undefined;

beforeEach(async () => {
  upstream = await createUpstream();
});
afterEach(async () => {
  await gateway?.kill();
  gateway = undefined;
  workspace?.remove();
  await upstream?.close();
});

/**
 * A workspace whose plugin, which is loaded after the files were read, saves files in place the
 * first time that it is loaded.
 */
function prepare(config: (text: string) => string = (text) => text): string {
  workspace = createWorkspace({ baseUrl: upstream.baseUrl });
  mkdirSync(join(workspace.folder, "my-plugins"));
  mkdirSync(join(workspace.folder, "config/secrets"));
  writeFileSync(join(workspace.folder, "config/secrets/key"), "sk-first-secret-of-the-tests");
  const withPlugin = (text: string): string =>
    text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/saves.ts"\n');
  const shipped = workspace.config({ baseUrl: upstream.baseUrl });
  workspace.write(withPlugin(config(shipped)));
  writePlugin({});
  return withPlugin(
    config(workspace.config({ baseUrl: upstream.baseUrl, models: [...DEFAULT_MODELS, ADDED] })),
  );
}

function writePlugin(saves: Readonly<Record<string, string>>): void {
  writeFileSync(
    join(workspace.folder, "my-plugins/saves.ts"),
    `
import { existsSync, writeFileSync } from "node:fs";
import { defineStep, passOn } from "@sluice/kit";
const saves = ${JSON.stringify(saves)};
const mark = ${JSON.stringify(join(workspace.folder, "saved"))};
if (Object.keys(saves).length > 0 && !existsSync(mark)) {
  writeFileSync(mark, "");
  for (const [path, text] of Object.entries(saves)) writeFileSync(path, text);
}
export default defineStep({
  name: "saves", stability: "experimental", summary: "Does nothing.", operations: ["chat"],
  config: { type: "object", additionalProperties: false, properties: {} },
  create: () => ({ run: passOn }),
});
`,
  );
}

async function modelsOf(running: GatewayProcess): Promise<string> {
  return (
    await fetch(`${running.publicUrl}/v1/models`, {
      headers: { authorization: `Bearer ${running.masterKey}` },
    })
  ).text();
}

const isAdded = (running: GatewayProcess): Promise<unknown> =>
  eventually("the added model", async () => (await modelsOf(running)).includes('"added"'));

it.each([1, 2])("an edit of the gateway file is applied: %i workers", async (workers) => {
  const edited = prepare((text) => text.replace("server: { ", `server: { workers: ${workers}, `));
  writePlugin({ [workspace.configPath]: edited });
  gateway = await startGateway(workspace);
  await isAdded(gateway);
  expect(await modelsOf(gateway)).toContain('"added"');
});

it("a new secret is used", async () => {
  prepare((text) => text.replace("${env:OPENAI_API_KEY}", "${file:secrets/key}"));
  writePlugin({ [join(workspace.folder, "config/secrets/key")]: "sk-second-secret-of-the-tests" });
  const running = (gateway = await startGateway(workspace));
  const secretInUse = async (): Promise<unknown> => {
    await (await chat(running, { model: "gpt-4o-mini", messages: MESSAGES })).text();
    return upstream.requests.at(-1)?.headers["authorization"];
  };
  const second = "Bearer sk-second-secret-of-the-tests";
  await eventually("a call with the new secret", async () => (await secretInUse()) === second);
  expect(await secretInUse()).toBe(second);
});

it("a pipeline in a new file is applied", async () => {
  prepare();
  const chatFile = readFileSync(join(workspace.pipelinesFolder, "chat.yaml"), "utf8");
  // It serves what another pipeline serves: the status says so.
  writePlugin({ [join(workspace.pipelinesFolder, "again.yaml")]: chatFile });
  const running = (gateway = await startGateway(workspace));
  const status = async (): Promise<string> => (await admin(running, "/config/status")).text();
  await eventually("the finding of the new file", async () =>
    (await status()).includes("again.yaml"),
  );
  expect(await status()).toContain("again.yaml");
});

it("the corrected file is applied where the last good configuration was started with", async () => {
  const edited = prepare();
  gateway = await startGateway(workspace);
  await gateway.stop();
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace("version: 1", "version: 1\nmodles: []"),
  );
  writePlugin({ [workspace.configPath]: edited });
  gateway = await startGateway(workspace, {}, "warn", ["--last-good"]);
  await isAdded(gateway);
  expect(await modelsOf(gateway)).toContain('"added"');
});
