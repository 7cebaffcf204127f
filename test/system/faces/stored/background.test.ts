/**
 * Responses in the background: answered at once, read by state and by events, ended by their key.
 * Each holds on a bridge and on the native lane.
 */

import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createKey, spendRows } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { createScriptedModel, type ScriptedModel } from "../../support/faces/scripted-model.ts";
import { end, sdkOf, storedGateway } from "../../support/faces/stored-gateway.ts";
import type { GatewayProcess } from "../../support/gateway-process.ts";

const WORDS = "one two three four five six seven eight.";
/** `openai` has the API itself: its replies are relayed. */
const MODELS = ["openai", "anthropic"];

let model: ScriptedModel;
let gateway: GatewayProcess;
let sdk: OpenAI;
let open: (() => void)[] = [];

beforeAll(async () => {
  model = await createScriptedModel();
  gateway = await storedGateway(model.url, {
    provider: "responses: true",
    step: "{ max_background_per_key: 3, max_events: 4kb }",
  });
  sdk = sdkOf(gateway);
});
afterEach(() => {
  for (const each of open.splice(0)) each();
  model.says({ text: "Hello back." });
});
afterAll(async () => {
  await end(gateway);
  await model?.close();
});

/** The model stops after so many events until the returned function is called. */
function pausing(events: number): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  model.says({ text: WORDS, piece: 4, usage: [20, 5], pausedAfter: { events, until: promise } });
  open.push(resolve);
  return resolve;
}

/** The model says nothing until it is left. */
function silent(): void {
  model.says({ isSilent: true });
}

const ask = { input: "Count.", background: true } as const;
const create = (id: string, client = sdk) => client.responses.create({ model: id, ...ask });
const statusOf = async (id: string, client = sdk) => (await client.responses.retrieve(id)).status;
const ended = (id: string, client = sdk) =>
  eventually(`the end of ${id}`, async () => {
    const response = await client.responses.retrieve(id);
    return /queued|in_progress/.test(response.status ?? "") ? undefined : response;
  });

/** Reads events until one satisfies, then leaves. */
async function readUntil(
  events: AsyncIterable<ResponseStreamEvent>,
  isLast: (event: ResponseStreamEvent) => boolean = () => false,
): Promise<ResponseStreamEvent[]> {
  const read: ResponseStreamEvent[] = [];
  for await (const event of events) {
    read.push(event);
    if (isLast(event)) break;
  }
  return read;
}

const resume = (id: string, after: number, client = sdk) =>
  client.responses.retrieve(id, { stream: true, starting_after: after });

describe.each(MODELS)("a response in the background at %s", (id) => {
  // JSON has these characters as they are; regular expressions take them for the ends of lines.
  it("is kept with separators of lines and paragraphs in its text", async () => {
    const text = "one\u2028two\u2029three";
    model.says({ text });
    const begun = await create(id);
    expect(await ended(begun.id)).toMatchObject({ status: "completed", output_text: text });
    const [first, ...others] = await readUntil(
      await sdk.responses.create({ model: id, input: "Count.", stream: true }),
    );
    const shown = [first, others.at(-1)].map((event) => {
      if (event === undefined || !("response" in event)) return undefined;
      return { id: event.response.id, isStored: (event.response as { store?: boolean }).store };
    });
    expect(shown[1]).toEqual({ id: shown[0]?.id, isStored: true });
    const kept = await sdk.responses.retrieve(shown[0]?.id ?? "");
    expect(kept.output_text).toBe(text);
  });

  it("is answered at once, made without its client, and billed", async () => {
    const calls = model.requests.length;
    const isDone = Promise.withResolvers<void>();
    open.push(isDone.resolve);
    model.says({ text: WORDS, until: isDone.promise });
    const { data, response } = await create(id).withResponse();
    expect(data).toMatchObject({ status: "queued", background: true, store: true, output: [] });
    expect(response.headers.get("x-sluice-response-id")).toBe(data.id);
    await eventually("the call", () => model.requests.length > calls);
    expect(await statusOf(data.id)).toBe("in_progress");
    isDone.resolve();
    const last = await ended(data.id);
    expect(last).toMatchObject({
      id: data.id,
      status: "completed",
      background: true,
      store: true,
      output_text: WORDS,
      usage: { input_tokens: 20, output_tokens: 5 },
    });
    expect(model.lastBody()).not.toHaveProperty("background");
    const requestId = response.headers.get("x-request-id") ?? "";
    const [row] = await spendRows(gateway, { request_id: requestId });
    expect(row).toMatchObject({ status: "success", completion_tokens: 5 });
    const items = await sdk.responses.inputItems.list(data.id);
    expect(items.data).toMatchObject([{ role: "user" }]);
    model.says({ text: "And nine." });
    const more = { model: id, input: "More.", previous_response_id: data.id };
    expect(await sdk.responses.create(more)).toMatchObject({ output_text: "And nine." });
    expect(JSON.stringify(model.lastBody())).toContain(WORDS);
  });

  it("is left by a client that reads its events, and read on by another one", async () => {
    const resumeModel = pausing(6);
    const stream = await sdk.responses.create({ model: id, ...ask, stream: true });
    const first = await readUntil(stream, ({ type }) => type === "response.output_text.delta");
    const [begun] = first;
    if (begun?.type !== "response.created") throw new Error("The first event is another one.");
    const responseId = begun.response.id;
    const number = first.at(-1)?.sequence_number ?? -1;
    expect(await statusOf(responseId)).toBe("in_progress");
    const rest = resume(responseId, number);
    resumeModel();
    const later = await readUntil(await rest);
    const all = await readUntil(await resume(responseId, -1));
    expect([...first, ...later]).toEqual(all);
    expect(all.map(({ sequence_number: at }) => at)).toEqual(all.map((_, at) => at));
    expect(all.at(-1)).toMatchObject({
      type: "response.completed",
      response: { id: responseId, status: "completed", background: true, store: true },
    });
    expect(await readUntil(await resume(responseId, all.length - 3))).toEqual(all.slice(-2));
    expect(await readUntil(await resume(responseId, 9_999))).toEqual([]);
    expect(await ended(responseId)).toMatchObject({ output_text: WORDS });
  });

  it("is ended by its key, as often as it asks, and what has passed is billed", async () => {
    pausing(6);
    const closed = model.closed;
    const stream = await sdk.responses.create({ model: id, ...ask, stream: true });
    const first = await readUntil(stream, ({ type }) => type === "response.output_text.delta");
    const [begun] = first;
    if (begun?.type !== "response.created") throw new Error("The first event is another one.");
    const responseId = begun.response.id;
    const cancelled = { id: responseId, status: "cancelled", error: null };
    expect(await sdk.responses.cancel(responseId)).toMatchObject(cancelled);
    expect(await sdk.responses.cancel(responseId)).toMatchObject(cancelled);
    expect(await sdk.responses.retrieve(responseId)).toMatchObject(cancelled);
    await eventually("the upstream left", () => model.closed > closed);
    const events = await readUntil(await resume(responseId, -1));
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { id: responseId, status: "cancelled" },
    });
    const rows = await spendRows(gateway, {});
    expect(rows[0]).toMatchObject({ status: "partial" });
    await expect(
      sdk.responses.create({ model: id, input: "More.", previous_response_id: responseId }),
    ).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
  });

  it("that fails says why, by state and by events", async () => {
    model.says({ failure: { status: 400, message: "It is not to be." } });
    const { id: responseId } = await create(id);
    expect(await ended(responseId)).toMatchObject({
      status: "failed",
      error: { code: "invalid_prompt", message: expect.stringContaining("It is not to be.") },
      output: [],
    });
    const stream = await sdk.responses.create({ model: id, ...ask, stream: true });
    const events = await readUntil(stream);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.failed",
    ]);
    model.says({ text: WORDS, piece: 4, cutAfter: 6 });
    const cut = await readUntil(await sdk.responses.create({ model: id, ...ask, stream: true }));
    expect(cut.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
    const numbers = cut.map(({ sequence_number: at }) => at);
    expect(numbers).toEqual(cut.map((_, at) => at));
  });

  it("is deleted while it is made", async () => {
    silent();
    const [closed, calls] = [model.closed, model.requests.length];
    const { id: responseId } = await create(id);
    await eventually("the call", () => model.requests.length > calls);
    await sdk.responses.delete(responseId);
    await eventually("the upstream left", () => model.closed > closed);
    await expect(statusOf(responseId)).rejects.toMatchObject({ status: 404 });
  });

  it("whose events are too many is read by state, and a late reader of them is refused", async () => {
    const noise = Array.from({ length: 40 }, () => crypto.randomUUID()).join("");
    model.says({
      text: noise + noise.toUpperCase() + noise.split("").toReversed().join(""),
      piece: 9,
    });
    const stream = await sdk.responses.create({ model: id, ...ask, stream: true });
    const live = await readUntil(stream);
    expect(live.at(-1)).toMatchObject({ type: "response.completed" });
    const [begun] = live;
    if (begun?.type !== "response.created") throw new Error("The first event is another one.");
    expect(await ended(begun.response.id)).toMatchObject({ status: "completed" });
    await expect(readUntil(await resume(begun.response.id, -1))).rejects.toThrow(
      /Read the response without stream/,
    );
  });
});

describe("responses in the background", () => {
  it("belong to their key", async () => {
    silent();
    const [{ key: one }, { key: other }] = [
      await createKey(gateway, {}),
      await createKey(gateway, {}),
    ];
    const [mine, foreign] = [sdkOf(gateway, one), sdkOf(gateway, other)];
    const { id } = await create("openai", mine);
    const refusal = { status: 404, param: "response_id" };
    await expect(statusOf(id, foreign)).rejects.toMatchObject(refusal);
    await expect(foreign.responses.cancel(id)).rejects.toMatchObject(refusal);
    await expect(foreign.responses.delete(id)).rejects.toMatchObject(refusal);
    await expect(foreign.responses.inputItems.list(id)).rejects.toMatchObject(refusal);
    await expect(resume(id, -1, foreign)).rejects.toMatchObject(refusal);
    expect(await statusOf(id, mine)).toBe("in_progress");
    const isOther = id.toUpperCase().replace("RESP_", "resp_");
    await expect(statusOf(isOther, mine)).rejects.toMatchObject(refusal);
    expect(await mine.responses.cancel(id)).toMatchObject({ status: "cancelled" });
  });

  it("of a key are bounded, and those beyond call no upstream", async () => {
    silent();
    const { key } = await createKey(gateway, {});
    const client = sdkOf(gateway, key);
    const calls = model.requests.length + 3;
    const three = await Promise.all([1, 2, 3].map(() => create("anthropic", client)));
    await eventually("the calls", () => model.requests.length === calls);
    await expect(create("anthropic", client)).rejects.toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      message: expect.stringContaining("3 responses in the background"),
    });
    expect(model.requests.length).toBe(calls);
    await client.responses.cancel(three[0]?.id ?? "");
    const fourth = await create("anthropic", client);
    for (const { id } of [...three.slice(1), fourth]) await client.responses.cancel(id);
  });

  it("are refused at once by limits, budgets and for models that the key may not use", async () => {
    const calls = model.requests.length;
    const { key } = await createKey(gateway, { max_budget: 0, models: ["openai"] });
    const client = sdkOf(gateway, key);
    await expect(create("openai", client)).rejects.toMatchObject({ status: 429 });
    await expect(create("anthropic", client)).rejects.toMatchObject({ status: 404 });
    await expect(create("nothing")).rejects.toMatchObject({ status: 404 });
    await expect(
      sdk.responses.create({ model: "openai", ...ask, store: false }),
    ).rejects.toMatchObject({ status: 400, param: "background" });
    const { key: unstored } = await createKey(gateway, { metadata: { no_store: true } });
    await expect(create("openai", sdkOf(gateway, unstored))).rejects.toMatchObject({
      status: 400,
      param: "background",
    });
    expect(model.requests.length).toBe(calls);
  });

  it("are the only ones that can be ended, and that have events", async () => {
    const { id } = await sdk.responses.create({ model: "openai", input: "Hi." });
    const plain = { status: 400 };
    await expect(sdk.responses.cancel(id)).rejects.toMatchObject(plain);
    await expect(resume(id, -1)).rejects.toMatchObject({ ...plain, param: "stream" });
    const { id: whole } = await create("openai");
    await ended(whole);
    await expect(resume(whole, -1)).rejects.toMatchObject({ ...plain, param: "stream" });
    expect(await sdk.responses.cancel(whole)).toMatchObject({ status: "completed" });
  });
});
