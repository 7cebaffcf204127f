/**
 * Requests that are asked twice on every face: from the cache, by an idempotency key, and at the
 * same time; and the headers by which the gateway explains a reply.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKey, rowsOf, type SpendRow } from "../support/client.ts";
import {
  fourProviders,
  openCompletions,
  PROVIDER_ENVIRONMENT,
} from "../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import {
  askWire,
  FACE_WIRES,
  sendWire,
  steadyText,
  type WireInit,
  type WireQuestion,
  type WireReply,
  WIRES,
} from "../support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const CASES = WIRES.flatMap((wire) =>
  ["openai", "anthropic"].flatMap((provider) =>
    [false, true].map((stream) => [wire, provider, stream] as const),
  ),
);

let model: ScriptedModel;
let gateway: GatewayProcess;
let serial = 0;
/** A text that no other test has. */
const unique = (): string => `Say something new, number ${(serial += 1)}.`;

beforeAll(async () => {
  model = await createScriptedModel();
  const workspace = createWorkspace(fourProviders(model.url, "price: { input: 1, output: 10 }"));
  openCompletions(workspace);
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
beforeEach(() =>
  model.says({ thought: "Hm, hm.", text: "All the words of it.", piece: 5, usage: [20, 7] }),
);
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

const onlyRow = async ({ headers }: WireReply): Promise<SpendRow | undefined> =>
  (await rowsOf(gateway, headers.get("x-request-id")))[0];
const cacheOf = ({ headers }: WireReply): string | null => headers.get("x-sluice-cache");

describe.each(CASES)("%s for %s, streamed: %s", (wire, provider, stream) => {
  const ask = (more: Partial<WireQuestion>, init: WireInit = {}): Promise<WireReply> =>
    askWire(gateway, wire, { model: provider, stream, ...more }, init);

  it("a stored reply has the same form, costs nothing, and keeps its tokens", async () => {
    const question = { prompt: unique(), more: { caching: true } };
    const calls = model.requests.length;
    const first = await ask(question);
    const second = await ask(question);
    expect([cacheOf(first), cacheOf(second), model.requests.length - calls]).toEqual([
      "miss",
      "hit",
      1,
    ]);
    expect(steadyText(second.raw)).toBe(steadyText(first.raw));
    expect([second.end, second.text, second.usage]).toEqual(["whole", first.text, first.usage]);
    const [paid, free] = [await onlyRow(first), await onlyRow(second)];
    expect(paid).toMatchObject({ attempt: 1, cache_hit: false, cost_status: "priced" });
    expect(paid?.spend).toBeGreaterThan(0);
    expect(free).toMatchObject({
      attempt: 0,
      cache_hit: true,
      spend: 0,
      cost_status: "free",
      status: "success",
      prompt_tokens: 20,
      completion_tokens: 7,
      model_id: paid?.model_id,
    });
  });

  it("a stored reply answers the other form, whole or streamed", async () => {
    const question = { prompt: unique(), more: { caching: true } };
    const calls = model.requests.length;
    const first = await ask(question);
    const other = await ask({ ...question, stream: !stream });
    const direct = await ask({ prompt: question.prompt, stream: !stream });
    expect([cacheOf(other), model.requests.length - calls]).toEqual(["hit", 2]);
    expect([other.end, other.text, other.usage]).toEqual(["whole", first.text, direct.usage]);
  });

  it("nothing is stored by default, and the directives hold", async () => {
    const prompt = unique();
    const replies: (string | null)[] = [];
    for (const more of [{}, { cache: { "no-store": true } }, { cache: {} }, { cache: {} }])
      // oxlint-disable-next-line no-await-in-loop -- each asks what the one before has stored.
      replies.push(cacheOf(await ask({ prompt, more })));
    expect(replies).toEqual(["bypass", "miss", "miss", "hit"]);
  });

  it("a repeat of an idempotency key is the first reply, byte for byte", async () => {
    const headers = { "idempotency-key": `repeat-${(serial += 1)}` };
    const question = { prompt: unique() };
    const calls = model.requests.length;
    const [first, twin] = await Promise.all([
      ask(question, { headers }),
      ask(question, { headers }),
    ]);
    const later = await ask(question, { headers });
    expect(model.requests.length - calls).toBe(1);
    expect([twin.raw, later.raw]).toEqual([first.raw, first.raw]);
    expect(later.headers.get("idempotent-replayed")).toBe("true");
    expect(await onlyRow(later)).toMatchObject({ attempt: 0, cache_hit: true, spend: 0 });
    const conflict = await ask({ prompt: unique() }, { headers });
    expect([conflict.status, model.requests.length - calls]).toEqual([409, 1]);
    expect(conflict.error?.message).toContain("idempotency-key");
  });

  it("a failed request releases its idempotency key", async () => {
    const headers = { "idempotency-key": `failed-${(serial += 1)}` };
    const question = { prompt: unique() };
    model.says({ failure: { status: 400 } });
    expect((await ask(question, { headers })).status).toBe(400);
    model.says({ text: "Fine." });
    expect((await ask(question, { headers })).text).toBe("Fine.");
  });

  it("ten at once make one call", async () => {
    const { key } = await createKey(gateway, {});
    const question = { prompt: unique(), more: { caching: true } };
    const calls = model.requests.length;
    model.says({ text: "Some words.", piece: 5, delayMs: 250 });
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask(question, { key })));
    expect(model.requests.length - calls).toBe(1);
    expect(new Set(replies.map(({ raw }) => steadyText(raw))).size).toBe(1);
    const rows = await Promise.all(replies.map(onlyRow));
    expect(rows.filter((row) => (row?.spend ?? 0) > 0)).toHaveLength(1);
  });

  it("explains itself by the headers of a chat request", async () => {
    const chat = await askWire(gateway, "chat", { model: provider, stream });
    const reply = await ask({ more: { tags: ["a"] } });
    const names = ({ headers }: WireReply): readonly string[] =>
      [...headers.keys()].filter((name) => /^x-(sluice|request|ratelimit)/.test(name)).toSorted();
    const bare = (list: readonly string[]): readonly string[] =>
      list.filter((name) => name !== "x-sluice-dropped-params");
    expect(bare(names(reply))).toEqual(bare(names(chat)));
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "x-sluice-model": provider,
      "x-sluice-provider": provider,
      "x-sluice-attempts": "1",
      "x-sluice-fallbacks": "0",
    });
    expect((await onlyRow(reply))?.request_tags).toContain("a");
  });
});

describe("documents that only their own provider understands", () => {
  const ask = (service_tier: string, more: object, init: WireInit = {}): Promise<WireReply> =>
    askWire(
      gateway,
      "messages",
      { model: "anthropic", prompt: "The same.", more: { ...more, service_tier } },
      init,
    );

  it("are another request where the lane sends what the translation lacks", async () => {
    const tier = (): unknown =>
      (JSON.parse(model.requests.at(-1)?.body.toString() ?? "") as { service_tier?: string })
        .service_tier;
    expect([cacheOf(await ask("auto", { caching: true })), tier()]).toEqual(["miss", "auto"]);
    expect([cacheOf(await ask("standard_only", { caching: true })), tier()]).toEqual([
      "miss",
      "standard_only",
    ]);
    const headers = { "idempotency-key": "lane" };
    expect((await ask("auto", {}, { headers })).status).toBe(200);
    expect((await ask("standard_only", {}, { headers })).status).toBe(409);
    expect((await ask("auto", {}, { headers })).headers.get("idempotent-replayed")).toBe("true");
  });

  it("are another request with other headers of their dialect", async () => {
    const prompt = unique();
    const beta = (value: string): Promise<WireReply> =>
      askWire(
        gateway,
        "messages",
        { model: "anthropic", prompt, more: { caching: true } },
        { headers: { "anthropic-beta": value } },
      );
    const replies = [
      await beta("a-2026-01-01"),
      await beta("b-2026-01-01"),
      await beta("a-2026-01-01"),
    ];
    expect(replies.map(cacheOf)).toEqual(["miss", "miss", "hit"]);
  });
});

describe("a stored reply of another face", () => {
  it.each(FACE_WIRES)("is whole through %s", async (wire) => {
    const prompt = unique();
    const more = { caching: true };
    await askWire(gateway, "chat", { model: "openai", prompt, maxTokens: 400, more });
    const reply = await askWire(gateway, wire, { model: "openai", prompt, maxTokens: 400, more });
    const direct = await askWire(gateway, wire, { model: "openai", prompt, maxTokens: 400 });
    expect([reply.end, steadyText(reply.raw)]).toEqual(["whole", steadyText(direct.raw)]);
  });
});

it("a stream that its client leaves is not stored for its key", async () => {
  const headers = { "idempotency-key": "left" };
  model.says({ text: "sun, two, six, zip.", piece: 5, silentBefore: "zip." });
  const leaving = new AbortController();
  const question = { model: "anthropic", prompt: unique(), stream: true };
  const response = await sendWire(gateway, "messages", question, {
    headers,
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  model.says({ text: "Fine." });
  expect((await askWire(gateway, "messages", question, { headers })).text).toBe("Fine.");
});
