/**
 * Thoughts between texts and calls of Claude on Bedrock, for a client of Messages: they arrive in
 * their order, and go back in it.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { anthropicClient } from "../../support/faces/face-clients.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";
import { createWorkspace } from "../../support/workspace.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(createWorkspace(fourProviders(upstream.url)), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const thought = (text: string): object => ({
  reasoningContent: { reasoningText: { text, signature: `signed ${text}` } },
});
const call = (id: string): object => ({ toolUse: { toolUseId: id, name: "f", input: { id } } });

it.each([
  ["thoughts between", [thought("a"), { text: "one" }, call("c1"), thought("b"), call("c2")]],
  ["texts between", [thought("a"), call("c1"), { text: "one" }, call("c2"), { text: "two" }]],
  ["the usual order", [thought("a"), { text: "one" }, call("c1"), call("c2")]],
])("%s", async (_what, content) => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const reply = {
    output: { message: { role: "assistant", content } },
    stopReason: "tool_use",
    usage,
  };
  upstream.reply(200, "application/json", JSON.stringify(reply));
  const client = anthropicClient({ publicUrl: gateway.publicUrl, key: gateway.masterKey });
  const asked = {
    model: "bedrock",
    max_tokens: 2_000,
    thinking: { type: "enabled" as const, budget_tokens: 1_024 },
    tools: [{ name: "f", input_schema: { type: "object" as const } }],
  };
  const question = { role: "user" as const, content: "x" };
  const first = await client.messages.create({ ...asked, messages: [question] });
  const results = ["c1", "c2"].map((id) => ({
    type: "tool_result" as const,
    tool_use_id: id,
    content: "ok",
  }));
  await client.messages.create({
    ...asked,
    messages: [
      question,
      { role: "assistant", content: first.content },
      { role: "user", content: results },
    ],
  });
  const sent = upstream.lastBody() as { readonly messages: readonly { content: unknown }[] };
  expect(sent.messages[1]?.content).toEqual(content);
});
