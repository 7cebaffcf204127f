import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES, rowsOf, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";
import {
  REDIS,
  redisAnswers,
  removeKeys,
  runPrefix,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";

type CacheRow = SpendRow & { readonly cache_hit: boolean };

const hasRedis = await redisAnswers();
if (!hasRedis)
  process.stdout.write(
    "cache: no Redis on 127.0.0.1:6379; the tests of the Redis driver are skipped by name.\n",
  );

const DRIVERS = [
  { driver: "memory", shared: "", isThere: true },
  {
    driver: "redis",
    shared: `shared: { use: redis, url: "\${env:REDIS_URL}", prefix: "${runPrefix()}" }\n`,
    isThere: hasRedis,
  },
];

let upstream: Upstream;
let gateway: GatewayProcess;
let serial = 0;

/** A prompt that no other test has. */
const prompt = () => [
  { role: "user", content: `Say something new, number ${(serial += 1)} of ${process.pid}.` },
];
const body = (parts: object = {}) => ({
  model: "gpt-4o-mini",
  messages: prompt(),
  caching: true,
  ...parts,
});

async function ask(sent: object, key?: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await chat(gateway, sent, {
    headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    headers: response.headers,
    cache: response.headers.get("x-sluice-cache"),
  };
}

const onlyRow = async (headers: Headers): Promise<CacheRow | undefined> =>
  (await rowsOf(gateway, headers.get("x-request-id")))[0] as CacheRow | undefined;

const events = (text: string) =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map(
      (event) =>
        JSON.parse(event.slice(6)) as {
          choices: { delta: { content?: string } }[];
          usage?: object | null;
        },
    );

const contentOf = (text: string): string =>
  events(text)
    .map(({ choices }) => choices[0]?.delta.content ?? "")
    .join("");

const wholeContent = (text: string): unknown =>
  (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

describe.each(DRIVERS)("the cache, driver $driver", ({ driver, shared, isThere }) => {
  beforeAll(async () => {
    if (!isThere) return;
    upstream = await createUpstream();
    const models = [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: embedder, mode: embedding, targets: [{ provider: openai, model: text-embedding-3-small }] }",
    ];
    const workspace = createWorkspace({ baseUrl: upstream.baseUrl, models });
    workspace.write(workspace.config({ baseUrl: upstream.baseUrl, models }) + shared);
    gateway = await startGateway(workspace, { REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9` });
  });
  beforeEach(() => upstream?.reset());
  afterAll(async () => {
    if (!isThere) return;
    await gateway.dispose();
    gateway.workspace.remove();
    await upstream.close();
    if (driver === "redis") await removeKeys();
  });

  it.skipIf(!isThere)("stores nothing by default", async () => {
    const sent = body({ caching: undefined });
    const first = await ask(sent);
    const second = await ask(sent);
    expect([first.cache, second.cache, upstream.requests.length]).toEqual(["bypass", "bypass", 2]);
  });

  it.skipIf(!isThere)(
    "answers again for nothing, whatever the order of the fields, with a row that keeps the tokens",
    async () => {
      const sent = body({ temperature: 0.5, user: "alice" });
      const first = await ask(sent);
      const reordered = Object.fromEntries(Object.entries({ ...sent, user: "bob" }).toReversed());
      const second = await ask(reordered);
      expect(upstream.requests).toHaveLength(1);
      expect([first.cache, second.cache]).toEqual(["miss", "hit"]);
      expect(second.text).toBe(first.text);
      const [paid, free] = [await onlyRow(first.headers), await onlyRow(second.headers)];
      expect(paid).toMatchObject({ attempt: 1, cache_hit: false });
      expect(paid?.spend).toBeGreaterThan(0);
      expect(free).toMatchObject({
        attempt: 0,
        cache_hit: true,
        spend: 0,
        status: "success",
        cost_status: "free",
        model: "gpt-4o-mini",
        total_tokens: paid?.total_tokens,
        model_id: paid?.model_id,
      });
      expect(second.headers.get("x-sluice-cost")).toBe("0");
    },
  );

  it.skipIf(!isThere)(
    "answers a whole request from a stored stream, and the other way round",
    async () => {
      const sent = body();
      const streamed = await ask({ ...sent, stream: true });
      const whole = await ask(sent);
      const again = await ask({ ...sent, stream: true, stream_options: { include_usage: true } });
      expect([streamed.cache, whole.cache, again.cache, upstream.requests.length]).toEqual([
        "miss",
        "hit",
        "hit",
        1,
      ]);
      expect(wholeContent(whole.text)).toBe(contentOf(streamed.text));
      expect(again.text.endsWith("data: [DONE]\n\n")).toBe(true);
      expect(contentOf(again.text)).toBe(contentOf(streamed.text));
      expect(events(streamed.text).some(({ usage }) => usage !== undefined && usage !== null)).toBe(
        false,
      );
      expect(events(again.text).at(-1)).toMatchObject({
        choices: [],
        usage: { prompt_tokens: expect.any(Number) as number },
      });
      const other = body();
      const first = await ask(other);
      const second = await ask({ ...other, stream: true });
      expect([second.cache, contentOf(second.text), upstream.requests.length]).toEqual([
        "hit",
        wholeContent(first.text),
        2,
      ]);
    },
  );

  it.skipIf(!isThere)("follows the controls of a request", async () => {
    const sent = body({ caching: undefined });
    const controlled = (cache: object) => ask({ ...sent, cache });
    expect((await controlled({ "no-store": true })).cache).toBe("miss");
    expect((await controlled({ ttl: 60 })).cache).toBe("miss");
    expect((await controlled({ ttl: 60 })).cache).toBe("hit");
    expect((await controlled({ "no-cache": true })).cache).toBe("miss");
    expect((await controlled({ namespace: "other" })).cache).toBe("miss");
    expect((await ask({ ...sent, cache: { ttl: 60 }, caching: false })).cache).toBe("bypass");
    expect(upstream.requests).toHaveLength(5);
    const { key } = await createKey(gateway, { metadata: { allowed_cache_controls: ["ttl"] } });
    expect((await ask({ ...sent, cache: { ttl: 60 } }, key)).status).toBe(200);
    expect((await ask({ ...sent, cache: { "no-cache": true } }, key)).status).toBe(403);
    const silent = await createKey(gateway, { metadata: { no_store: true } });
    expect((await ask({ ...sent, cache: { ttl: 60 } }, silent.key)).cache).toBe("bypass");
  });

  it.skipIf(!isThere)("stores no failure", async () => {
    const sent = body({ num_retries: 0 });
    upstream.script({ kind: "error", status: 400 });
    expect((await ask(sent)).status).toBe(400);
    upstream.script({ kind: "reply", fault: { kind: "reset", after: 3 } });
    const cut = await ask({ ...sent, stream: true });
    expect(cut.text).toContain('"error"');
    upstream.script({ kind: "reply" });
    expect((await ask(sent)).cache).toBe("miss");
  });

  it.skipIf(!isThere)("shows two tenants the same prompts and nothing of each other", async () => {
    const keys = await Promise.all(
      ["one", "two"].map((alias) => createKey(gateway, { key_alias: `${alias}-${driver}` })),
    );
    const bodies = Array.from({ length: 50 }, () => body());
    const seen: { ms: number; headers: string }[][] = [];
    for (const { key } of keys) {
      const answers: { ms: number; headers: string }[] = [];
      for (const sent of bodies) {
        const startedMs = performance.now();
        const { headers } = await ask(sent, key);
        const ms = performance.now() - startedMs;
        // Every reply of the upstream has an id of its own, some longer than others.
        const fixed = [...headers].filter(
          ([name]) =>
            !/^(x-request-id|x-upstream-request-id|date|content-length|x-sluice-overhead-ms)$/.test(
              name,
            ),
        );
        answers.push({ ms, headers: JSON.stringify(fixed) });
      }
      seen.push(answers);
    }
    expect(upstream.requests).toHaveLength(100);
    const [one = [], two = []] = seen;
    expect(two.map(({ headers }) => headers)).toEqual(one.map(({ headers }) => headers));
    const median = (list: { ms: number }[]) =>
      list
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b)[25]
        ?.toFixed(2);
    console.info(
      `cache, ${driver}: two tenants, 50 prompts: 100 calls; medians ${median(one)} ms and ${median(two)} ms`,
    );
  });

  it.skipIf(!isThere).each([false, true])(
    "makes one call of a hundred at once, streamed: %s",
    async (stream) => {
      upstream.script({ kind: "reply", delayMs: 250, eventDelayMs: 5 });
      const { key, token_id: id } = await createKey(gateway, {
        key_alias: `hundred-${driver}-${String(stream)}`,
      });
      const sent = body({ stream });
      const startedMs = performance.now();
      const replies = await Promise.all(Array.from({ length: 100 }, () => ask(sent, key)));
      const tookMs = performance.now() - startedMs;
      expect(upstream.requests).toHaveLength(1);
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
      const rows = (await eventually("a hundred rows", async () => {
        const found = await spendRows(gateway, { api_key: id, limit: "200" });
        return found.length === 100 && found;
      })) as CacheRow[];
      expect(rows.filter(({ cache_hit: isHit }) => !isHit)).toHaveLength(1);
      expect(rows.filter(({ spend }) => spend === 0)).toHaveLength(99);
      expect(
        new Set(rows.map(({ total_tokens: tokens, status }) => `${tokens} ${status}`)).size,
      ).toBe(1);
      console.info(
        `cache, ${driver}: 100 at once, ${stream ? "streamed" : "whole"}: 1 call, ${tookMs.toFixed(0)} ms`,
      );
    },
  );

  it.skipIf(!isThere).each([false, true])(
    "goes on for the others when the first client leaves, streamed: %s",
    async (stream) => {
      // The stream goes on for longer than a stream whose exchange was aborted may.
      upstream.script({ kind: "reply", delayMs: 150, eventDelayMs: 60 });
      const sent = body({ stream });
      const leaving = new AbortController();
      const first = chat(gateway, sent, { signal: leaving.signal });
      first.catch(() => undefined);
      await upstream.waitFor(() => true);
      const second = ask(sent);
      if (stream) await first;
      else await chat(gateway, body({ model: "no-such-model" }));
      leaving.abort();
      const { status, text, headers } = await second;
      expect([status, upstream.requests.length, upstream.requests[0]?.finished]).toEqual([
        200,
        1,
        true,
      ]);
      expect(text).toContain("dog");
      expect(await onlyRow(headers)).toMatchObject({
        cache_hit: true,
        spend: 0,
        status: "success",
      });
      const paid = (await eventually("the row of who left", async () => {
        const rows = (await spendRows(gateway, { limit: "5" })) as CacheRow[];
        return rows.find(({ cache_hit: isHit, attempt }) => !isHit && attempt === 1);
      })) as CacheRow;
      expect(paid).toMatchObject({ status: "success", usage_source: "provider" });
    },
  );

  it.skipIf(!isThere)("ends the call when all clients have left", async () => {
    upstream.script({ kind: "hang" });
    const sent = body();
    const leaving = new AbortController();
    const both = [0, 1].map(() =>
      chat(gateway, sent, { signal: leaving.signal }).catch(() => undefined),
    );
    const seen = await upstream.waitFor(() => true);
    leaving.abort();
    await Promise.all(both);
    await upstream.waitFor((request) => request.closedByPeerAtMs !== undefined);
    expect(seen.finished).toBe(false);
  });

  it.skipIf(!isThere)("stores embeddings by input, and requests only missing ones", async () => {
    const embed = async (input: readonly string[], format?: string) => {
      const response = await fetch(`${gateway.publicUrl}/v1/embeddings`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          model: "embedder",
          input,
          caching: true,
          ...(format !== undefined && { encoding_format: format }),
        }),
      });
      const reply = (await response.json()) as {
        data: { index: number; embedding: unknown }[];
        usage: { prompt_tokens: number };
      };
      return { ...reply, headers: response.headers, cache: response.headers.get("x-sluice-cache") };
    };
    const [a, b, c] = ["a", "b", "c"].map((name) => `text ${name} ${driver} ${process.pid}`) as [
      string,
      string,
      string,
    ];
    const truth = await embed([a, b, c]);
    upstream.reset();
    const d = `text d ${driver} ${process.pid}`;
    const mixed = await embed([c, d, a]);
    expect(upstream.requests.map(({ parsed }) => parsed?.["input"])).toEqual([[d]]);
    expect(mixed.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(mixed.data[0]?.embedding).toEqual(truth.data[2]?.embedding);
    expect(mixed.data[2]?.embedding).toEqual(truth.data[0]?.embedding);
    const all = await embed([a, b, c]);
    expect([all.cache, upstream.requests.length]).toEqual(["hit", 1]);
    expect(all.data).toEqual(truth.data);
    expect(all.usage.prompt_tokens).toBe(truth.usage.prompt_tokens);
    const base64 = await embed([a], "base64");
    expect([base64.cache, typeof base64.data[0]?.embedding]).toEqual(["hit", "string"]);
    const rows = (await rowsOf(gateway, mixed.headers.get("x-request-id"))) as CacheRow[];
    expect(rows.map(({ cache_hit: isHit }) => isHit).toSorted()).toEqual([false, true]);
    expect(rows.reduce((sum, { prompt_tokens: tokens }) => sum + (tokens ?? 0), 0)).toBe(
      mixed.usage.prompt_tokens,
    );
  });

  it.skipIf(!isThere).each([false, true])(
    "gives a repeat of an idempotency-key the first result, streamed: %s",
    async (stream) => {
      upstream.script({ kind: "reply", delayMs: 100 });
      const sent = { model: "gpt-4o-mini", messages: MESSAGES, stream };
      const named = { "idempotency-key": `repeat-${driver}-${String(stream)}-${process.pid}` };
      const [first, twin] = await Promise.all([
        ask(sent, undefined, named),
        ask(sent, undefined, named),
      ]);
      const later = await ask(sent, undefined, named);
      expect(upstream.requests).toHaveLength(1);
      expect([twin.text, later.text]).toEqual([first.text, first.text]);
      expect(later.headers.get("idempotent-replayed")).toBe("true");
      expect(await onlyRow(later.headers)).toMatchObject({
        attempt: 0,
        cache_hit: true,
        spend: 0,
        status: "success",
      });
      const other = await ask({ ...sent, temperature: 0 }, undefined, named);
      expect([other.status, upstream.requests.length]).toEqual([409, 1]);
    },
  );

  it.skipIf(!isThere)(
    "lets a failed request be repeated, and repeats native requests too",
    async () => {
      const named = { "idempotency-key": `failed-${driver}-${process.pid}` };
      const sent = { model: "gpt-4o-mini", messages: MESSAGES, num_retries: 0 };
      upstream.script({ kind: "error", status: 400 });
      expect((await ask(sent, undefined, named)).status).toBe(400);
      upstream.script({ kind: "reply" });
      expect((await ask(sent, undefined, named)).status).toBe(200);
      const native = () =>
        fetch(`${gateway.publicUrl}/openai/v1/chat/completions`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${gateway.masterKey}`,
            "content-type": "application/json",
            "idempotency-key": `native-${driver}-${process.pid}`,
          },
          body: JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES }),
        });
      const count = upstream.requests.length;
      const [first, second] = [await (await native()).text(), await (await native()).text()];
      expect([second, upstream.requests.length]).toEqual([first, count + 1]);
    },
  );
});
