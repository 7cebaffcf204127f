/**
 * The native lane of responses, through the unmodified SDK: the upstream gets the client's own
 * document and its reply is relayed. What belongs to the gateway stays with it: what is stored,
 * whose reasoning is whose, and which model answers after a failure.
 */

import OpenAI from "openai";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import { sdkOf } from "../support/faces/stored-gateway.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const SIGNATURE = "zqencryptedzq";
const KEY = 'api_key: "${env:NATIVE_KEY}"';
let model: ScriptedModel;
let gateway: GatewayProcess;
let sdk: OpenAI;

beforeAll(async () => {
  model = await createScriptedModel();
  const four = fourProviders(model.url);
  const target = (provider: string): string => `{ provider: ${provider}, model: gpt-5-mini }`;
  const workspace = createWorkspace({
    ...four,
    provider: "responses: true",
    providers: [
      ...(four.providers ?? []),
      `second: { use: openai, ${KEY}, base_url: ${model.url}/second/v1, responses: true }`,
      `azure: { use: azure, ${KEY}, endpoint: ${model.url}, responses: true }`,
      `local: { use: compatible, base_url: ${model.url}/local/v1, responses: true }`,
      `plain: { use: compatible, base_url: ${model.url}/plain/v1 }`,
    ],
    models: [
      ...four.models,
      ...["second", "azure", "local", "plain"].map(
        (name) => `{ id: ${name}, targets: [${target(name)}] }`,
      ),
      "{ id: audio, targets: [{ provider: openai, model: gpt-4o-audio-preview }] }",
      `{ id: chain, targets: [${target("openai")}], fallbacks: { general: [anthropic] } }`,
      `{ id: back, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }], fallbacks: { general: [openai] } }`,
    ],
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
  sdk = sdkOf(gateway);
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

type Sent = Readonly<Record<string, unknown>> & { readonly input: readonly unknown[] };
const sent = (): Sent => model.lastBody() as Sent;
const sentPath = (): string | undefined => model.requests.at(-1)?.url;

async function raw(body: object, key = gateway.masterKey) {
  const response = await fetch(`${gateway.publicUrl}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { response, said: await response.text() };
}

const lastEvent = (said: string): string => said.trimEnd().split("\n\n").at(-1) ?? "";

describe("a client of responses at a model whose provider has the API", () => {
  it("has its document forwarded: unknown members, items, parts and server tools", async () => {
    model.says({ text: "Hello." });
    const body = {
      model: "openai",
      store: false,
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Hi." },
            { type: "of_next_year", a: 1 },
          ],
        },
        { type: "item_of_next_year", value: [1, { a: 2 }] },
      ],
      tools: [{ type: "web_search" }, { type: "file_search", vector_store_ids: ["vs_1"] }],
      of_next_year: [{ a: 1 }],
      prompt_cache_key: "thread",
    };
    const { response, said } = await raw(body);
    expect(response.status).toBe(200);
    expect(sent()).toEqual({ ...body, model: "gpt-5-mini" });
    expect(sentPath()).toBe("/v1/responses");
    expect(response.headers.get("x-sluice-dropped-params")).toBeNull();
    const reply = JSON.parse(said) as Record<string, unknown>;
    expect(reply).toMatchObject({ object: "response", model: "openai", store: false });
  });

  it.each([
    ["azure", "/openai/v1/responses"],
    ["second", "/second/v1/responses"],
    ["local", "/local/v1/responses"],
    ["plain", "/plain/v1/chat/completions"],
    ["audio", "/v1/chat/completions"],
  ])("%s is called at %s", async (id, path) => {
    model.says({ text: "Hello." });
    const reply = await sdk.responses.create({ model: id, input: "Hi." });
    expect([reply.output_text, sentPath()]).toEqual(["Hello.", path]);
  });

  it("gets the upstream's stream, but for the name of the model", async () => {
    model.says({ thought: "Hm.", text: "One two three four five six.", piece: 4 });
    const calls = model.requests.length;
    const { said } = await raw({ model: "openai", input: "Hi.", stream: true, store: false });
    expect(model.requests).toHaveLength(calls + 1);
    const { RESPONSES } = await import("../support/faces/apis/responses.ts");
    const whole = RESPONSES.events({
      thought: "Hm.",
      text: "One two three four five six.",
      piece: 4,
    });
    const expected = whole
      .join("")
      .replaceAll('"model":"scripted"', '"model":"openai"')
      // The client did not ask for it.
      .replaceAll(/,"encrypted_content":"[^"]*"/g, "");
    expect(said).toBe(expected);
  });

  it("reads the name of a sealed member in a text as a text, behind thoughts and alone", async () => {
    const text = 'He wrote "encrypted_content":"x" and data: {"encrypted_content":"y"} in a text. ';
    for (const thought of [undefined, "Hm."]) {
      model.says({ text: text.repeat(9), piece: 5, ...(thought && { thought }) });
      for (const include of [[], ["reasoning.encrypted_content" as const]]) {
        const body = { model: "openai", input: "Hi.", store: false, include };
        // oxlint-disable-next-line no-await-in-loop -- the model says one thing at a time.
        const reply = await sdk.responses.stream(body).finalResponse();
        expect(reply.output_text).toBe(text.repeat(9));
        const sealed = reply.output.map((item) => "encrypted_content" in item);
        expect(sealed.includes(true)).toBe(thought !== undefined && include.length > 0);
      }
    }
  });

  it("reads its metadata in each event with the response, though none is stored", async () => {
    model.says({ text: "One two three.", piece: 4 });
    const metadata = { note: "à 上" };
    const body = { model: "openai", input: "Hi.", stream: true, metadata };
    for (const store of [false, true]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const { said } = await raw({ ...body, store });
      expect(said.match(/"metadata":\{"note":"à 上"\}/g)).toHaveLength(3);
      expect(said.includes('"store":true')).toBe(store);
    }
  });

  it.each([true, false])(
    "has the log probabilities of a reply that the cache gives in the other form, streamed first: %s",
    async (stream) => {
      model.says({ text: "One two three four.", piece: 4, hasLogprobs: true });
      const body = {
        model: "openai",
        input: `Likely? ${stream}`,
        store: false,
        include: ["message.output_text.logprobs"],
        cache: { "use-cache": true },
      };
      const first = await raw({ ...body, stream });
      const calls = model.requests.length;
      const second = await raw({ ...body, stream: !stream });
      expect(second.response.headers.get("x-sluice-cache")).toBe("hit");
      expect(model.requests).toHaveLength(calls);
      for (const { said } of [first, second]) {
        const whole = said.startsWith("{")
          ? said
          : (/^data: (.*)$/m.exec(lastEvent(said))?.[1] ?? "");
        const read = JSON.parse(whole) as { response?: OpenAI.Responses.Response };
        const { output } = read.response ?? (read as unknown as OpenAI.Responses.Response);
        const tokens = ["One ", "two ", "thre", "e fo", "ur."];
        const logprobs = tokens.map((token) => ({ token, logprob: -0.5 }));
        expect(output).toMatchObject([{ content: [{ text: "One two three four.", logprobs }] }]);
      }
    },
  );

  it("has its openai-beta header forwarded, and no other of its headers", async () => {
    model.says({ text: "Hello." });
    const headers = { "openai-beta": "of_next_year=v1", "openai-organization": "org-mine" };
    await sdk.responses.create({ model: "openai", input: "Hi." }, { headers });
    const { headers: got = {} } = model.requests.at(-1) ?? {};
    expect(got["openai-beta"]).toBe("of_next_year=v1");
    expect(got).not.toHaveProperty("openai-organization");
    await sdk.responses.create({ model: "anthropic", input: "Hi." }, { headers });
    expect(model.requests.at(-1)?.headers).not.toHaveProperty("openai-beta");
  });

  it("streams through the SDK, with calls", async () => {
    const calls = [
      { id: "call_a", name: "now", input: { zone: "ä€😀" } },
      { id: "call_b", name: "now", input: {} },
    ];
    model.says({ thought: "Hm.", text: "Wait.", calls, piece: 3 });
    const stream = sdk.responses.stream({ model: "openai", input: "Hi.", store: true });
    const reply = await stream.finalResponse();
    expect(reply).toMatchObject({ model: "openai", status: "completed", store: true });
    expect(reply.output.map(({ type }) => type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "function_call",
    ]);
    expect(reply.usage).toMatchObject({ input_tokens: 20, output_tokens: 5 });
  });

  it("has a row with the upstream's usage", async () => {
    const { key, token_id } = await createKey(gateway, {});
    model.says({ text: "Hi.", usage: [100, 7], parts: { cached: 40, reasoning: 3 } });
    await raw({ model: "openai", input: "Hi." }, key);
    await raw({ model: "openai", input: "Hi again.", stream: true }, key);
    const rows = await eventually("the rows", async () => {
      const found = await spendRows(gateway, { api_key: token_id });
      return found.length > 1 && found;
    });
    for (const row of rows)
      expect(row).toMatchObject({ prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 });
  });

  it("keeps metadata for the row, and the client reads it back", async () => {
    model.says({ text: "Hi." });
    const metadata = { note: "a", of: "b" };
    const reply = await sdk.responses.create({ model: "openai", input: "Hi.", metadata });
    expect(sent()).not.toHaveProperty("metadata");
    expect(reply.metadata).toEqual(metadata);
  });
});

describe("a stored conversation on the lane", () => {
  it("is the gateway's: read, listed, continued, deleted, by its key alone", async () => {
    model.says({ thought: "Hm.", text: "First.", signature: SIGNATURE });
    const first = await sdk.responses.create({ model: "openai", input: "One?" });
    expect(sent()).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(first).toMatchObject({ store: true, previous_response_id: null });
    expect(JSON.stringify(first)).not.toContain(SIGNATURE);
    expect(JSON.stringify(first)).not.toContain("encrypted_content");
    const read = await sdk.responses.retrieve(first.id);
    expect(read.output_text).toBe("First.");

    model.says({ text: "Second." });
    const second = await sdk.responses.create({
      model: "openai",
      input: "Two?",
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    expect(sent()).not.toHaveProperty("previous_response_id");
    expect(sent().input).toMatchObject([
      { role: "user", content: [{ text: "One?" }] },
      { type: "reasoning", encrypted_content: SIGNATURE },
      { type: "message", role: "assistant", content: [{ text: "First." }] },
      { role: "user", content: "Two?" },
    ]);
    const items = await sdk.responses.inputItems.list(second.id, { order: "asc" });
    expect(items.data).toHaveLength(4);

    const { key } = await createKey(gateway, {});
    const other = sdkOf(gateway, key);
    await expect(other.responses.retrieve(first.id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(
      other.responses.create({ model: "openai", input: "x", previous_response_id: first.id }),
    ).rejects.toThrow(OpenAI.BadRequestError);
    await sdk.responses.delete(first.id);
    await expect(sdk.responses.retrieve(first.id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  it("goes on at a model of another vendor, and comes back", async () => {
    model.says({ thought: "Hm.", text: "First.", signature: SIGNATURE });
    const first = await sdk.responses.stream({ model: "openai", input: "One?" }).finalResponse();
    model.says({ text: "Second." });
    const second = await sdk.responses.create({
      model: "anthropic",
      input: "Two?",
      previous_response_id: first.id,
    });
    expect(JSON.stringify(model.lastBody())).toContain("First.");
    expect(JSON.stringify(model.lastBody())).not.toContain(SIGNATURE);
    const third = await sdk.responses
      .stream({ model: "openai", input: "Three?", previous_response_id: second.id })
      .finalResponse();
    expect(third).toMatchObject({ store: true, previous_response_id: second.id });
    const { said } = await raw({
      model: "openai",
      input: "Four?",
      previous_response_id: third.id,
      stream: true,
    });
    // The beginning says it as well, twice, and the end.
    expect(said.match(new RegExp(`"previous_response_id":"${third.id}"`, "g"))).toHaveLength(3);
    await sdk.responses.create({ model: "openai", input: "x", previous_response_id: second.id });
    const texts = JSON.stringify(sent().input);
    for (const word of ["One?", "First.", "Two?", "Second."]) expect(texts).toContain(word);
    // No upstream knows the ids that the gateway gave.
    expect(texts).not.toMatch(/"id":"[a-z]+_(?:[0-9a-f]{32}\d{4}|[0-9a-f]+i\d{4})"/);
  });

  it("is referred to by the ids of its items", async () => {
    const calls = [{ id: "call_a", name: "now", input: {} }];
    model.says({ thought: "Hm.", text: "First.", calls, signature: SIGNATURE });
    const { output } = await sdk.responses.create({ model: "openai", input: "One?" });
    model.says({ text: "Noon." });
    const input: ResponseInputItem[] = [
      { role: "user", content: "One?" },
      ...output.map(({ id = "" }) => ({ type: "item_reference" as const, id: id ?? "" })),
      { type: "function_call_output", call_id: "call_a", output: "noon" },
    ];
    const { output_text: text } = await sdk.responses.create({ model: "openai", input });
    expect(text).toBe("Noon.");
    expect(sent().input).toMatchObject([
      { role: "user" },
      { type: "reasoning", encrypted_content: SIGNATURE },
      { type: "message" },
      { type: "function_call" },
      { type: "function_call_output" },
    ]);
    const { key } = await createKey(gateway, {});
    await expect(sdkOf(gateway, key).responses.create({ model: "openai", input })).rejects.toThrow(
      OpenAI.BadRequestError,
    );
  });
});

describe("encrypted reasoning of the lane", () => {
  const ask = (id: string, input: ResponseInputItem[], client = sdk, stream = false) => {
    const body = {
      model: id,
      input,
      store: false,
      include: ["reasoning.encrypted_content" as const],
    };
    return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const question: ResponseInputItem = { role: "user", content: "One?" };

  it.each([false, true])(
    "is sealed for its deployment and its key, streamed: %s",
    async (stream) => {
      const calls = [{ id: "call_a", name: "now", input: {} }];
      model.says({ thought: "Hm.", calls, signature: SIGNATURE });
      const { output } = await ask("openai", [question], sdk, stream);
      expect(JSON.stringify(output)).not.toContain(SIGNATURE);
      expect(output[0]).toMatchObject({ type: "reasoning" });
      const next = [
        question,
        ...(output as ResponseInputItem[]),
        { type: "function_call_output" as const, call_id: "call_a", output: "noon" },
      ];
      model.says({ text: "Noon." });
      await ask("openai", next, sdk, stream);
      expect(sent().input).toMatchObject([
        {},
        { type: "reasoning", encrypted_content: SIGNATURE },
        { type: "function_call", id: expect.any(String) },
        {},
      ]);
      // Another deployment thinks anew. What followed the thought has no id that refers to it.
      for (const id of ["second", "azure", "anthropic"]) {
        // oxlint-disable-next-line no-await-in-loop -- the model says one thing at a time.
        await ask(id, next, sdk, stream);
        expect(JSON.stringify(model.lastBody())).not.toContain(SIGNATURE);
        expect(JSON.stringify(model.lastBody())).not.toContain("sluice.");
      }
      await ask("second", next, sdk, stream);
      expect(sent().input).toHaveLength(3);
      expect(sent().input[1]).not.toHaveProperty("id");
      const { key } = await createKey(gateway, {});
      await ask("openai", next, sdkOf(gateway, key), stream);
      expect(JSON.stringify(sent())).not.toContain(SIGNATURE);
    },
  );

  it("of another origin does not reach the upstream", async () => {
    model.says({ text: "Hi." });
    const foreign = { type: "reasoning" as const, id: "rs_1", summary: [], encrypted_content: "x" };
    await ask("openai", [question, foreign, { role: "user", content: "Two?" }]);
    expect(sent().input).toHaveLength(2);
  });
});

describe("a failure on the lane", () => {
  const failsAt = (part: string, text = "Recovered.") =>
    model.saysTo(({ url }) =>
      url.includes(part) ? { failure: { status: 500 } } : { text, piece: 3 },
    );

  it.each([
    ["chain", "/responses", "chain"],
    // A relayed reply names the model that answered.
    ["back", "/v1/messages", "openai"],
  ])("%s goes on at the fallback, and the client sees one reply", async (id, part, shown) => {
    failsAt(part);
    const expected = { status: "completed", model: shown, output_text: "Recovered." };
    const reply = await sdk.responses.stream({ model: id, input: "Hi." }).finalResponse();
    expect(reply).toMatchObject(expected);
    expect(await sdk.responses.create({ model: id, input: "Hi." })).toMatchObject(expected);
  });

  it("before the first content is the fallback's, behind it one failed response", async () => {
    model.saysTo(({ url }) =>
      url.includes("/responses")
        ? { text: "Never seen.", cutAfter: 4 }
        : { text: "Recovered.", piece: 3 },
    );
    const early = await raw({ model: "chain", input: "Hi.", stream: true });
    expect(early.said).not.toContain("Never seen.");
    expect(early.said.match(/event: response\.created/g)).toHaveLength(1);
    expect(early.said).toContain('"text":"Recovered."');

    model.says({ text: "A text in many pieces that ends.", piece: 2, cutAfter: 12 });
    const late = await raw({ model: "chain", input: "Hi.", stream: true });
    const events = late.said
      .split("\n\n")
      .flatMap((each) => /^data: (.*)$/m.exec(each)?.[1] ?? [])
      .map((data) => JSON.parse(data) as Record<string, unknown>);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", model: "chain", error: { code: expect.any(String) } },
    });
    const stream = sdk.responses.stream({ model: "chain", input: "Hi." });
    expect(await stream.finalResponse()).toMatchObject({ status: "failed", store: false });
  });

  it("has the class of the SDK, and the provider's words", async () => {
    model.says({ failure: { status: 400, message: "Invalid value of a field." } });
    const asked = sdk.responses.create({ model: "openai", input: "Hi." });
    await expect(asked).rejects.toThrow(OpenAI.BadRequestError);
    await expect(asked).rejects.toThrow(/Invalid value of a field/);
    model.says({ failure: { status: 429, headers: { "retry-after": "1" } } });
    await expect(sdk.responses.create({ model: "openai", input: "Hi." })).rejects.toThrow(
      OpenAI.RateLimitError,
    );
  });

  it.each([
    // The credential is the gateway's: its refusal is no fault of the client's key.
    [401, OpenAI.InternalServerError, 502, null],
    [404, OpenAI.NotFoundError, 404, null],
    // The SDK tries both again.
    [409, OpenAI.InternalServerError, 502, "2"],
    [422, OpenAI.UnprocessableEntityError, 422, null],
    [429, OpenAI.RateLimitError, 429, "2"],
    [500, OpenAI.InternalServerError, 502, "2"],
    [503, OpenAI.InternalServerError, 503, "2"],
  ] as const)("of status %i has a class of the SDK, whole and streamed", async (...row) => {
    const [status, of, to, wait] = row;
    const headers = { "retry-after": "2" };
    model.says({ failure: { status, message: "Words of the provider.", headers } });
    for (const stream of [false, true]) {
      const asked = sdk.responses.create({ model: "openai", input: "Hi.", stream });
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const error = await asked.then(
        () => undefined,
        (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
      );
      expect(error).toBeInstanceOf(of);
      expect([error?.status, error?.headers?.get("retry-after")]).toEqual([to, wait]);
      expect([error?.type, error?.code]).toEqual([expect.any(String), expect.any(String)]);
    }
  });

  it.each(["conversation", "previous_response_id"])(
    "%s of the account is refused",
    async (name) => {
      const calls = model.requests.length;
      const value = "resp_0123456789abcdef0123456789abcdef";
      const { response, said } = await raw({ model: "openai", input: "Hi.", [name]: value });
      expect([response.status, JSON.parse(said)]).toMatchObject([400, { error: { param: name } }]);
      expect(model.requests).toHaveLength(calls);
    },
  );
});
