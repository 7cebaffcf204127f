/**
 * Names and ids of calls at the face Messages. Names are as long as Anthropic's API takes them, and
 * ids are unique in a conversation, whatever the upstream sends.
 */

import type Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anthropicClient } from "../../support/faces/face-clients.ts";
import {
  fourProviders,
  PROVIDER_ENVIRONMENT,
  PROVIDERS,
} from "../../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../../support/faces/scripted-model.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";
import { createWorkspace } from "../../support/workspace.ts";

let model: ScriptedModel;
let upstream: NativeUpstream;
let gateway: GatewayProcess;
const client = () => anthropicClient({ publicUrl: gateway.publicUrl, key: gateway.masterKey });

beforeAll(async () => {
  model = await createScriptedModel();
  upstream = await createNativeUpstream();
  const { models, providers, ...rest } = fourProviders(model.url);
  const workspace = createWorkspace({
    ...rest,
    providers: [
      ...(providers ?? []),
      `raw: { use: openai, api_key: "\${env:NATIVE_KEY}", base_url: ${upstream.url}/v1 }`,
    ],
    models: [...models, "{ id: raw, targets: [{ provider: raw, model: m }] }"],
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await model?.close();
  await upstream?.close();
});

/** As long as a name of an MCP tool may be: server and tool are in it. */
const NAME = `mcp__${"server".repeat(10)}__${"tool".repeat(15)}`;
const TOOL = { name: NAME, input_schema: { type: "object" as const } };

describe.each(PROVIDERS)("a tool with a long name for %s", (provider) => {
  it.each([false, true])("is called, and its call is returned, streamed: %s", async (stream) => {
    let offered: string[] = [];
    model.saysTo(({ body }) => {
      offered = [...body.toString().matchAll(/"name":"(mcp__[\w-]+)"/g)].map(([, each]) => each!);
      return { text: "", calls: [{ id: "call_1", name: offered[0] ?? "", input: { a: "b" } }] };
    });
    const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
      const choice = { type: "tool" as const, name: NAME };
      const body = { model: provider, max_tokens: 100, tools: [TOOL], tool_choice: choice };
      return stream
        ? client()
            .messages.stream({ ...body, messages })
            .finalMessage()
        : client().messages.create({ ...body, messages });
    };
    const first = await ask([{ role: "user", content: "x" }]);
    const call = first.content.find(({ type }) => type === "tool_use");
    expect(call).toMatchObject({ name: NAME, input: { a: "b" } });
    const id = call?.type === "tool_use" ? call.id : "";
    const result = { type: "tool_result" as const, tool_use_id: id, content: "ok" };
    await ask([
      { role: "user", content: "x" },
      { role: "assistant", content: first.content },
      { role: "user", content: [result] },
    ]);
    // The tool, the choice and the earlier call have one name.
    expect([new Set(offered).size, offered.length > 1]).toEqual([1, true]);
  });
});

it.each([
  ["left out", [undefined, undefined]],
  ["repeated", ["call_1", "call_1"]],
])("ids of calls that are %s are unique", async (_how, ids) => {
  const calls = ids.map((id, index) => ({
    index,
    ...(id === undefined ? {} : { id }),
    type: "function",
    function: { name: "f", arguments: "{}" },
  }));
  const said = { role: "assistant", content: null, tool_calls: calls };
  const head = { id: "c", created: 1, model: "m" };
  const whole = {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: said, finish_reason: "tool_calls" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const chunk = {
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: said, finish_reason: "tool_calls" }],
  };
  const body = {
    model: "raw",
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "x" }],
    tools: [{ name: "f", input_schema: { type: "object" as const } }],
  };
  const seen: string[] = [];
  for (const stream of [false, false, true, true]) {
    if (stream)
      upstream.reply(
        200,
        "text/event-stream",
        `data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify({ ...chunk, choices: [], usage: whole.usage })}\n\ndata: [DONE]\n\n`,
      );
    else upstream.reply(200, "application/json", JSON.stringify(whole));
    const message = stream
      ? // oxlint-disable-next-line no-await-in-loop -- one after the other.
        await client().messages.stream(body).finalMessage()
      : // oxlint-disable-next-line no-await-in-loop -- one after the other.
        await client().messages.create(body);
    const own = message.content.flatMap((each) => (each.type === "tool_use" ? [each.id] : []));
    expect(new Set(own).size).toBe(2);
    seen.push(...own.filter((id) => id.startsWith("toolu_")));
  }
  expect(new Set(seen).size).toBe(seen.length);
});
