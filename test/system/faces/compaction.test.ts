/**
 * Compaction through the native lane of responses, as Codex asks for it: an item at the end of
 * `input`, or an endpoint of its own. The compacted item is sealed for the key, and the upstream
 * gets its own text back.
 */

import type { ServerResponse } from "node:http";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { createKey, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
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
  const four = fourProviders(upstream.url, "price: { input: 0, output: 0, request: 0.01 }");
  const options = {
    ...four,
    provider: "responses: true",
    providers: [
      ...(four.providers ?? []),
      `azure: { use: azure, api_key: "\${env:NATIVE_KEY}", endpoint: ${upstream.url}, api_version: preview, responses: true }`,
    ],
    models: [...four.models, "{ id: azure, targets: [{ provider: azure, model: gpt-5-mini }] }"],
  };
  const workspace = createWorkspace(options);
  workspace.write(
    `${workspace.config(options)}guardrails: { words: { use: words, lists: [{ name: a, words: [zqbannedzq] }] } }\n`,
  );
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

const compacted = {
  id: "resp_0123456789abcdef0123",
  object: "response.compaction",
  created_at: 1,
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: "A long talk." }],
    },
    response.output[0],
  ],
  usage: response.usage,
};

it.each([
  ["openai", "/v1/responses/compact"],
  ["azure", "/openai/v1/responses/compact?api-version=preview"],
])("has an endpoint of its own: %s", async (model, url) => {
  upstream.reply(200, "application/json", JSON.stringify(response));
  const first = await sdk.responses.create({ model, input: "A long talk." });
  upstream.reply(200, "application/json", JSON.stringify(compacted));
  const { data, response: head } = await sdk.responses
    .compact({
      model,
      instructions: "Be brief.",
      previous_response_id: first.id,
      input: [{ role: "user", content: "And more." }],
    })
    .withResponse();
  const body = upstream.lastBody() as Record<string, unknown>;
  expect(upstream.requests.at(-1)?.url).toBe(url);
  expect(Object.keys(body).toSorted()).toEqual(["input", "instructions", "model"]);
  expect(body.input).toMatchObject([
    { content: [{ text: "A long talk." }] },
    { type: "compaction" },
    { content: "And more." },
  ]);
  expect(data).toEqual({
    ...compacted,
    output: [compacted.output[0], { ...response.output[0], encrypted_content: expect.any(String) }],
  });
  expect(JSON.stringify(data)).not.toContain(COMPACTED);
  const requestId = head.headers.get("x-request-id") ?? "";
  const [row] = await spendRows(gateway, { request_id: requestId });
  expect(row).toMatchObject({ status: "success", prompt_tokens: 3, completion_tokens: 1 });
  upstream.reply(200, "application/json", JSON.stringify(response));
  const input = data.output as OpenAI.Responses.ResponseInput;
  await sdk.responses.create({ model, input: [...input, { role: "user", content: "Go on." }] });
  expect((upstream.lastBody() as { input: unknown }).input).toMatchObject([
    { role: "user" },
    { type: "compaction", encrypted_content: COMPACTED },
    { role: "user" },
  ]);
});

it("is cached apart from responses", async () => {
  const caching = { caching: true } as object;
  const body = { model: "openai", input: "Cached." };
  upstream.reply(200, "application/json", JSON.stringify(compacted));
  const first = await sdk.responses.compact({ ...body, ...caching });
  upstream.reply(200, "application/json", JSON.stringify(response));
  expect(await sdk.responses.create({ ...body, ...caching, store: false })).toMatchObject({
    object: "response",
  });
  expect(await sdk.responses.compact({ ...body, ...caching })).toEqual(first);
});

it.each([
  ["a provider without the API", { model: "anthropic" }, "model"],
  ["a guarded request", { model: "openai", guardrails: ["words"] }, "model"],
  ["a stream", { model: "openai", stream: true }, "stream"],
  ["the background", { model: "openai", background: true }, "background"],
])("has no endpoint for %s", async (_what, more, param) => {
  const calls = upstream.requests.length;
  await expect(
    sdk.responses.compact({
      input: "A long talk.",
      ...more,
    } as OpenAI.Responses.ResponseCompactParams),
  ).rejects.toMatchObject({ status: 400, param });
  expect(upstream.requests.length).toBe(calls);
});

describe("limits of a key", () => {
  const keyed = async (fields: object): Promise<OpenAI> =>
    sdkOf(gateway, (await createKey(gateway, fields)).key);
  const compact = (client: OpenAI, options?: { readonly signal: AbortSignal }) =>
    client.responses.compact({ model: "openai", input: "A long talk." }, options);

  it.each([
    [{ rpm_limit: 1 }, 429, "rate_limit_exceeded"],
    [{ max_budget: 0.01 }, 429, "insufficient_quota"],
  ])("%o hold for the endpoint", async (fields, status, code) => {
    const client = await keyed(fields);
    upstream.reply(200, "application/json", JSON.stringify(compacted));
    const calls = upstream.requests.length;
    await compact(client);
    await expect(compact(client)).rejects.toMatchObject({ status, code });
    expect(upstream.requests.length).toBe(calls + 1);
  });

  it("hide a model that it may not use", async () => {
    const calls = upstream.requests.length;
    const refusal = { status: 404, code: "model_not_found" };
    await expect(compact(await keyed({ models: ["azure"] }))).rejects.toMatchObject(refusal);
    expect(upstream.requests.length).toBe(calls);
  });

  it("give its slot back when the client leaves, with a row", async () => {
    const client = await keyed({ max_parallel_requests: 1 });
    const held: ServerResponse[] = [];
    upstream.answer((reply) => void held.push(reply));
    const leaving = new AbortController();
    const left = compact(client, { signal: leaving.signal }).catch(() => undefined);
    await eventually("the call", () => held.length > 0);
    const [before] = await spendRows(gateway, {});
    await expect(compact(client)).rejects.toMatchObject({ status: 429 });
    leaving.abort();
    await left;
    await eventually("the call is left", () => held[0]?.destroyed === true);
    upstream.reply(200, "application/json", JSON.stringify(compacted));
    await eventually("a free slot", () =>
      compact(client).then(
        () => true,
        () => false,
      ),
    );
    const rows = await spendRows(gateway, {});
    const since = rows.slice(
      0,
      rows.findIndex(({ request_id }) => request_id === before?.request_id),
    );
    expect(since.map(({ error_code }) => error_code)).toContain("client_closed");
  });
});
