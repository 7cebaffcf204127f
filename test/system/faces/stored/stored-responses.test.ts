/**
 * Stored responses through the unmodified SDK, with the memory and the Redis driver: what is read
 * back, what a next request refers to, and for whom. The model is scripted.
 */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  redisAnswers,
  removeKeys,
  runPrefix,
} from "../../../../plugins/shared-redis/src/redis.fixture.ts";
import { createKey } from "../../support/client.ts";
import { createScriptedModel, type ScriptedModel } from "../../support/faces/scripted-model.ts";
import { end, redisSection, sdkOf, storedGateway } from "../../support/faces/stored-gateway.ts";
import type { GatewayProcess } from "../../support/gateway-process.ts";

const hasRedis = await redisAnswers();
if (!hasRedis)
  process.stdout.write(
    "stored responses: no Redis on 127.0.0.1:6379; the tests of the Redis driver are skipped by name.\n",
  );

let model: ScriptedModel;

beforeAll(async () => {
  model = await createScriptedModel();
});
afterAll(async () => {
  await model?.close();
  if (hasRedis) await removeKeys();
});

/** What a request to the upstream holds beside its own parameters: role and text of each message. */
function sentMessages(): readonly (readonly [unknown, string])[] {
  const { messages, system } = model.lastBody() as {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly system?: unknown;
  };
  const list = messages.map(({ role, content }) => [role, textOf(content)] as const);
  return system === undefined ? list : [["system", textOf(system)], ...list];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: string }) => part.text ?? "").join("");
}

const DRIVERS = [
  { driver: "memory", sections: "", isThere: true },
  { driver: "redis", sections: redisSection(runPrefix()), isThere: hasRedis },
];

const TOOL: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "now",
  description: "The time.",
  strict: true,
  parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
};

describe.each(DRIVERS)("stored responses: $driver", ({ sections, isThere }) => {
  let gateway: GatewayProcess;
  let sdk: OpenAI;

  beforeAll(async () => {
    if (!isThere) return;
    gateway = await storedGateway(model.url, { sections });
    sdk = sdkOf(gateway);
  });
  afterAll(() => end(gateway));

  it.skipIf(!isThere)("are read, listed, continued and deleted", async () => {
    model.says({ text: "Hello back." });
    const first = await sdk.responses.create({
      model: "openai",
      instructions: "Be brief.",
      input: "Hello.",
    });
    expect(first).toMatchObject({ status: "completed", store: true, previous_response_id: null });
    const read = await sdk.responses.retrieve(first.id);
    // The SDK adds the joined text to what it creates.
    expect(read).toEqual({ ...first, output_text: read.output_text });
    const items = await sdk.responses.inputItems.list(first.id);
    expect(items.data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] },
    ]);

    model.says({ text: "Still here." });
    const second = await sdk.responses.create({
      model: "openai",
      input: "Are you there?",
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    // Instructions belong to one request.
    expect(sentMessages()).toEqual([
      ["user", "Hello."],
      ["assistant", "Hello back."],
      ["user", "Are you there?"],
    ]);
    const all = await sdk.responses.inputItems.list(second.id, { order: "asc" });
    expect(all.data.map((item) => item.id)).toEqual([
      items.data[0]?.id,
      first.output[0]?.id,
      expect.stringMatching(/^msg_/),
    ]);

    await expect(sdk.responses.cancel(first.id)).rejects.toMatchObject({ status: 400 });
    await expect(
      sdk.responses
        .retrieve(first.id, { stream: true })
        .then((stream) => stream.toReadableStream()),
    ).rejects.toMatchObject({ status: 400, param: "stream" });
    const counted = (more: object) =>
      sdk.responses.inputTokens.count({ model: "openai", input: "And?", ...more });
    const [alone, whole] = [await counted({}), await counted({ previous_response_id: second.id })];
    expect(whole.input_tokens).toBeGreaterThan(alone.input_tokens);

    await sdk.responses.delete(first.id);
    await expect(sdk.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    const calls = model.requests.length;
    await expect(
      sdk.responses.create({ model: "openai", input: "Again?", previous_response_id: first.id }),
    ).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
    expect(model.requests.length).toBe(calls);
    // A later response has the whole conversation.
    expect((await sdk.responses.retrieve(second.id)).output_text).toBe("Still here.");
  });

  it.skipIf(!isThere)("of streams are stored before their last event", async () => {
    model.says({ text: "One two three.", piece: 4 });
    const stream = await sdk.responses.create({
      model: "anthropic",
      input: "Count.",
      stream: true,
    });
    const seen: (boolean | null | undefined)[] = [];
    let last: OpenAI.Responses.Response | undefined;
    for await (const event of stream) {
      if (!("response" in event)) continue;
      seen.push((event.response as { readonly store?: boolean }).store);
      if (event.type !== "response.completed") continue;
      last = event.response;
      // The next request may follow at once.
      const read = await sdk.responses.retrieve(event.response.id);
      expect(read.output_text).toBe("One two three.");
    }
    // Before the end it is not known whether the response can be stored.
    expect(seen).toEqual([false, false, true]);
    const helped = sdk.responses.stream({
      model: "anthropic",
      input: "And then?",
      previous_response_id: last?.id ?? "",
    });
    const final = await helped.finalResponse();
    expect(await sdk.responses.retrieve(final.id)).toMatchObject({
      id: final.id,
      previous_response_id: last?.id,
      store: true,
    });
    expect(sentMessages()).toEqual([
      ["user", "Count."],
      ["assistant", "One two three."],
      ["user", "And then?"],
    ]);
  });

  it.skipIf(!isThere)("hold calls and thoughts over the turns of a tool", async () => {
    model.says(
      { thought: "I need the time.", calls: [{ id: "call_1", name: "now", input: {} }] },
      { text: "It is noon." },
    );
    const asked = { model: "anthropic", tools: [TOOL], reasoning: { effort: "low" as const } };
    const first = await sdk.responses.create({ ...asked, input: "What time is it?" });
    const call = first.output.find((item) => item.type === "function_call");
    const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "" };
    const second = await sdk.responses.create({
      ...asked,
      input: [{ ...output, output: "12:00" }],
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe("It is noon.");
    const { messages } = model.lastBody() as {
      readonly messages: readonly { readonly content: readonly { readonly type: string }[] }[];
    };
    expect(messages[1]?.content).toMatchObject([
      { type: "thinking", thinking: "I need the time.", signature: expect.any(String) },
      { type: "tool_use", id: "call_1" },
    ]);
    expect(messages[2]?.content).toMatchObject([{ type: "tool_result", tool_use_id: "call_1" }]);
    // Without the response before it, the result has no call.
    await expect(
      sdk.responses.create({ ...asked, input: [{ ...output, output: "12:00" }] }),
    ).rejects.toMatchObject({ status: 400, param: "input[0].call_id" });
    // A fault of the client's own item has the client's index.
    await expect(
      sdk.responses.create({
        ...asked,
        input: [{ ...output, call_id: "call_9", output: "12:00" }],
        previous_response_id: first.id,
      }),
    ).rejects.toMatchObject({ status: 400, param: "input[0].call_id" });
  });

  it.skipIf(!isThere)("give their items to item_reference", async () => {
    model.says({ text: "Hello back." });
    const first = await sdk.responses.create({ model: "openai", input: "Hello." });
    const { data } = await sdk.responses.inputItems.list(first.id);
    const refer = (id: string | undefined) => ({ type: "item_reference" as const, id: id ?? "" });
    await sdk.responses.create({
      model: "openai",
      input: [refer(data[0]?.id), refer(first.output[0]?.id), { role: "user", content: "More." }],
    });
    expect(sentMessages()).toEqual([
      ["user", "Hello."],
      ["assistant", "Hello back."],
      ["user", "More."],
    ]);
    await expect(
      sdk.responses.create({
        model: "openai",
        input: [{ role: "user", content: "x" }, refer(`msg_${"0".repeat(36)}`)],
      }),
    ).rejects.toMatchObject({ status: 400, param: "input[1].id" });
  });

  it.skipIf(!isThere)("belong to the key that asked", async () => {
    model.says({ text: "A secret." });
    const [mine, other] = await Promise.all(
      [{}, {}].map(async (fields) => sdkOf(gateway, (await createKey(gateway, fields)).key)),
    );
    const { id, output } = await mine!.responses.create({ model: "openai", input: "Tell me." });
    expect((await mine!.responses.retrieve(id)).output_text).toBe("A secret.");
    const unknown = `resp_${"0".repeat(32)}`;
    for (const act of ["retrieve", "delete", "cancel"] as const) {
      const [foreign, missing] = await Promise.all(
        [id, unknown].map((each) =>
          other!.responses[act](each).catch((error: unknown) => error as Error),
        ),
      );
      expect(foreign).toMatchObject({ status: 404, code: "not_found" });
      expect(String((foreign as Error).message).replace(id, unknown)).toBe(
        (missing as Error).message,
      );
    }
    await expect(other!.responses.inputItems.list(id)).rejects.toMatchObject({ status: 404 });
    await expect(
      other!.responses.create({ model: "openai", input: "Go on.", previous_response_id: id }),
    ).rejects.toMatchObject({ code: "previous_response_not_found" });
    await expect(
      other!.responses.create({
        model: "openai",
        input: [{ type: "item_reference", id: output[0]?.id ?? "" }],
      }),
    ).rejects.toMatchObject({ status: 400, param: "input[0].id" });
    expect((await mine!.responses.retrieve(id)).output_text).toBe("A secret.");
  });

  it.skipIf(!isThere)("list their input in pages, forwards and backwards", async () => {
    model.says({ text: "So many." });
    const texts = Array.from({ length: 45 }, (_, at) => `Item ${at}.`);
    const { id } = await sdk.responses.create({
      model: "openai",
      input: texts.map((content) => ({ role: "user" as const, content })),
    });
    const listed = async (query: OpenAI.Responses.InputItemListParams): Promise<string[]> => {
      const found: string[] = [];
      for await (const item of sdk.responses.inputItems.list(id, query))
        if (item.type === "message") found.push(textOf(item.content));
      return found;
    };
    expect(await listed({})).toEqual(texts.toReversed());
    expect(await listed({ order: "asc", limit: 7 })).toEqual(texts);
    const twice = { id: "msg_mine", type: "message", role: "user", content: "Twice." } as const;
    const { id: repeated } = await sdk.responses.create({
      model: "openai",
      input: [twice, twice, twice],
    });
    let count = 0;
    for await (const _ of sdk.responses.inputItems.list(repeated, { limit: 1 })) count++;
    expect(count).toBe(3);
    const page = await sdk.responses.inputItems.list(id, { limit: 2 });
    expect([page.data.length, page.has_more]).toEqual([2, true]);
    for (const query of [{ limit: 101 }, { limit: 0 }, { after: "msg_none" }])
      await expect(sdk.responses.inputItems.list(id, query)).rejects.toMatchObject({ status: 400 });
  });

  it.skipIf(!isThere)("are not made of failed, cut and refused requests", async () => {
    const ids: string[] = [];
    const failed: OpenAI.Responses.Response[] = [];
    model.says({ text: "One two three four.", piece: 2, cutAfter: 6 });
    const stream = await sdk.responses.create({ model: "openai", input: "Count.", stream: true });
    for await (const event of stream) {
      if (event.type === "response.created") ids.push(event.response.id);
      if (event.type === "response.failed") failed.push(event.response);
    }
    expect(failed).toMatchObject([{ store: false, error: { code: "server_error" } }]);
    model.says({ text: "One two three four.", piece: 2, silentAfter: 6 });
    const left = await sdk.responses.create({ model: "openai", input: "Count.", stream: true });
    for await (const event of left) {
      if (event.type === "response.created") ids.push(event.response.id);
      if (event.type === "response.output_text.delta") break;
    }
    expect(ids).toHaveLength(2);
    for (const id of ids)
      await expect(sdk.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it.skipIf(!isThere)("are not made where the client says store: false", async () => {
    model.says({ text: "Gone." });
    const response = await sdk.responses.create({ model: "openai", input: "Hi.", store: false });
    expect(response).toMatchObject({ store: false });
    await expect(sdk.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
  });
});
