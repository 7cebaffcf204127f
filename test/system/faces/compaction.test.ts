/**
 * Compaction through the native lane of responses, as Codex asks for it: an item at the end of
 * `input`. The compacted item is sealed for the key, and the upstream gets its own text back.
 */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { sdkOf } from "../support/faces/stored-gateway.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace } from "../support/workspace.ts";

const COMPACTED = "zqcompactedzq";
let upstream: NativeUpstream;
let gateway: GatewayProcess;
let sdk: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = createWorkspace({
    ...fourProviders(upstream.url),
    provider: "responses: true",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
  sdk = sdkOf(gateway);
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await upstream?.close();
});

const response = {
  id: "resp_0123456789abcdef0123",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "gpt-5-mini",
  output: [{ type: "compaction", id: "cmp_0123456789abcdef", encrypted_content: COMPACTED }],
  usage: {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 4,
  },
};
const events = [
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_item.done", output_index: 0, item: response.output[0] },
  { type: "response.completed", response },
]
  .map((event, at) => ({ sequence_number: at, ...event }))
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

const TRIGGER = { type: "compaction_trigger" } as unknown as OpenAI.Responses.ResponseInputItem;
const asked = (
  include: readonly OpenAI.Responses.ResponseIncludable[],
): OpenAI.Responses.ResponseCreateParams => ({
  model: "openai",
  store: false,
  include: [...include],
  input: [{ role: "user", content: "A long talk." }, TRIGGER],
});

async function compactedItems(stream: boolean, body: ReturnType<typeof asked>) {
  upstream.reply(
    200,
    stream ? "text/event-stream" : "application/json",
    stream ? events : JSON.stringify(response),
  );
  if (!stream) return (await sdk.responses.create({ ...body, stream: false })).output;
  const items: OpenAI.Responses.ResponseOutputItem[] = [];
  for await (const event of await sdk.responses.create({ ...body, stream: true }))
    if (event.type === "response.output_item.done") items.push(event.item);
  return items;
}

it.each([
  ["whole", false, []],
  ["whole, with reasoning", false, ["reasoning.encrypted_content" as const]],
  ["streamed", true, []],
  ["streamed, with reasoning", true, ["reasoning.encrypted_content" as const]],
] as const)("goes and comes back: %s", async (_how, stream, include) => {
  const items = await compactedItems(stream, asked(include));
  expect((upstream.lastBody() as { input: readonly unknown[] }).input.at(-1)).toEqual(TRIGGER);
  expect(items).toMatchObject([{ type: "compaction", encrypted_content: expect.any(String) }]);
  expect(JSON.stringify(items)).not.toContain(COMPACTED);
  upstream.reply(200, "application/json", JSON.stringify(response));
  await sdk.responses.create({
    model: "openai",
    store: false,
    input: [...(items as OpenAI.Responses.ResponseInput), { role: "user", content: "Go on." }],
  });
  expect((upstream.lastBody() as { input: readonly unknown[] }).input[0]).toMatchObject({
    type: "compaction",
    encrypted_content: COMPACTED,
  });
});

it("is refused by a model whose provider has no such items, with its place", async () => {
  await expect(sdk.responses.create({ ...asked([]), model: "anthropic" })).rejects.toMatchObject({
    status: 400,
    param: "input[1]",
  });
});
