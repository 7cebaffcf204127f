/**
 * A plugin of the user's own: one file outside the repository, without an install and without a
 * build.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const SHOUT = `
import { defineProvider } from "@sluice/kit";
import { createChatTranslator, decodeChat, readErrorReply } from "@sluice/kit/openai";
import type { ProviderRequest } from "@sluice/contract";

interface ShoutConfig { readonly mark: string }

export default defineProvider<ShoutConfig>({
  name: "shout",
  stability: "experimental",
  summary: "Shouts the last message back.",
  config: { type: "object", properties: { mark: { type: "string", default: "!", description: "What a shout ends with." } } },
  create: ({ mark }) => ({
    capabilities: { operations: ["chat"], streaming: false, tools: false },
    encode(request: ProviderRequest) {
      const messages = request.document.value.messages as { content: string }[];
      const content = messages.at(-1)!.content.toUpperCase() + mark;
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const body = [JSON.stringify({ id: request.replyId, object: "chat.completion", created: request.createdSeconds, model: "x", choices, usage })];
      return { kind: "local", status: 200, headers: { "content-type": "application/json" }, body };
    },
    decode: (body, request) => decodeChat(body, request.replyModel),
    stream: (request) => createChatTranslator(request.replyModel),
    error: readErrorReply,
  }),
});
`;

let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  workspace = createWorkspace({
    providers: ['shout: { use: shout, mark: "?!" }'],
    models: ["{ id: loud, targets: [{ provider: shout, model: x }] }"],
  });
  mkdirSync(join(workspace.folder, "my-plugins"));
  writeFileSync(join(workspace.folder, "my-plugins/shout.ts"), SHOUT);
  addPlugin("../my-plugins/shout.ts");
  gateway = await startGateway(workspace);
});
afterAll(() => gateway?.dispose());

function addPlugin(path: string): void {
  const text = readFileSync(workspace.configPath, "utf8");
  workspace.write(text.replace("plugins:\n", `plugins:\n  - "${path}"\n`));
}

describe("a provider in one file", () => {
  it("serves, with the options that the configuration gives it", async () => {
    const response = await chat(gateway, { model: "loud", messages: MESSAGES });
    expect(await response.json()).toMatchObject({
      model: "loud",
      choices: [{ message: { content: "SAY SOMETHING, PLEASE.?!" } }],
    });
  });

  it("is not asked for what it says it cannot do", async () => {
    const response = await chat(gateway, { model: "loud", messages: MESSAGES, stream: true });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "stream", code: 400 } });
  });
});
