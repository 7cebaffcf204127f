/**
 * Embeddings that take several upstream calls, with what is kept of them: tokens and money of all
 * calls, in rows, budgets and replies.
 */

import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { admin, createKey, rowsOf, type SpendRow } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../support/native-upstream.ts";

type CacheRow = SpendRow & { readonly cache_hit: boolean };

/** A thousandth of a dollar for each token. */
const PRICE = "price: { input: 1000, output: 0 }";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let key: string;
let keyId: string;

/** Titan takes one text a call. A token for each character. */
const tokensOf = ({ body }: NativeRequest): number =>
  (JSON.parse(body.toString()) as { inputText: string }).inputText.length;

function reply(response: ServerResponse, tokens: number, more: object): void {
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ embedding: [tokens, 0.5], ...more }));
}

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: [
        `bedrock: { use: bedrock, region: us-east-1, api_key: "\${env:AWS_BEARER_TOKEN_BEDROCK}", base_url: ${upstream.url} }`,
      ],
      models: [
        `{ id: titan, mode: embedding, targets: [{ provider: bedrock, model: "amazon.titan-embed-text-v2:0", ${PRICE} }] }`,
      ],
    },
    { AWS_BEARER_TOKEN_BEDROCK: "bedrock-credential-of-the-tests-0123456789" },
  );
});
beforeEach(async () => {
  upstream.answer((response, request) =>
    reply(response, tokensOf(request), { inputTextTokenCount: tokensOf(request) }),
  );
  const made = await createKey(gateway, { max_budget: 1_000 });
  key = made.key;
  keyId = made.token_id;
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function embed(
  input: readonly string[],
  headers: Readonly<Record<string, string>> = {},
  caching = true,
) {
  const before = upstream.requests.length;
  const response = await fetch(`${gateway.publicUrl}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "titan", input, caching }),
  });
  const body = (await response.json()) as {
    data: { embedding: number[] }[];
    usage?: { prompt_tokens: number };
  };
  const rows = (await rowsOf(gateway, response.headers.get("x-request-id"))) as CacheRow[];
  return {
    status: response.status,
    lengths: body.data?.map(({ embedding }) => embedding[0]),
    tokens: body.usage?.prompt_tokens,
    calls: upstream.requests.length - before,
    paid: rows.filter(({ cache_hit: isHit }) => !isHit).map(tokensAndSpend),
    served: rows.filter(({ cache_hit: isHit }) => isHit).map(tokensAndSpend),
  };
}

function tokensAndSpend({
  prompt_tokens: tokens,
  spend,
}: SpendRow): readonly [tokens: number | null, spend: number | null] {
  return [tokens, spend];
}

async function spent(): Promise<unknown> {
  const { info } = (await (await admin(gateway, `/key/info?key=${keyId}`)).json()) as {
    info: { spend: number };
  };
  return info.spend;
}

describe("embeddings of several calls", () => {
  it("have the tokens of all calls in the reply, a row and money for each, and keep a share of them for each input", async () => {
    const first = await embed(["one", "three"]);
    expect(first).toMatchObject({ status: 200, tokens: 8, calls: 2, served: [] });
    expect(first.paid.toSorted()).toEqual([
      [3, 0.003],
      [5, 0.005],
    ]);

    const mixed = await embed(["three", "eleven", "at", "one", "fifteen"]);
    expect(mixed).toMatchObject({
      lengths: [5, 6, 2, 3, 7],
      tokens: 23,
      calls: 3,
      served: [[8, 0]],
    });
    expect(mixed.paid.toSorted()).toEqual([
      [2, 0.002],
      [6, 0.006],
      [7, 0.007],
    ]);
    expect(await spent()).toBe(0.023);

    const kept = await embed(["at", "eleven", "fifteen"]);
    expect(kept).toMatchObject({
      lengths: [2, 6, 7],
      tokens: 15,
      calls: 0,
      paid: [],
      served: [[15, 0]],
    });
    expect(await spent()).toBe(0.023);
  });

  it("give one who waits beside them, and one who repeats them, a row with the tokens of all calls", async () => {
    upstream.answer((response, request) => {
      const tokens = tokensOf(request);
      setTimeout(() => reply(response, tokens, { inputTextTokenCount: tokens }), 100);
    });
    const twins = await Promise.all([embed(["twin", "twins"]), embed(["twin", "twins"])]);
    expect(twins.map(({ tokens }) => tokens)).toEqual([9, 9]);
    expect(twins.map(({ paid, served }) => [paid.length, served]).toSorted()).toEqual([
      [0, [[9, 0]]],
      [2, []],
    ]);
    const named = { "idempotency-key": `parts-${process.pid}` };
    await embed(["again", "and"], named, false);
    expect(await embed(["again", "and"], named, false)).toMatchObject({
      calls: 0,
      tokens: 8,
      paid: [],
      served: [[8, 0]],
    });
  });

  it("count, when a call fails and all are made again, only the calls that came to the reply", async () => {
    let calls = 0;
    upstream.answer((response, request) => {
      calls += 1;
      if (calls === 2)
        response.writeHead(500, { "content-type": "application/json" }).end('{"message":"broken"}');
      else reply(response, tokensOf(request), { inputTextTokenCount: tokensOf(request) });
    });
    const asked = ["tried", "tried again", "and again"];
    const tokens = asked.join("").length;
    const first = await embed(asked);
    expect([first.status, first.tokens]).toEqual([200, tokens]);
    const sum = first.paid.reduce((all, [each]) => all + (each ?? 0), 0);
    expect(sum).toBeGreaterThan(tokens);
    expect(await embed(asked)).toMatchObject({ calls: 0, tokens, served: [[tokens, 0]] });
  });

  it("are estimated call by call where the upstream tells nothing: each row has its own input's tokens", async () => {
    upstream.answer((response, request) => reply(response, tokensOf(request), {}));
    await embed(["kept before"]);
    const long = "word ".repeat(400);
    const { paid, served } = await embed(["short", long, "kept before", "brief"]);
    const tokens = paid.map(([each]) => each ?? 0).toSorted((a, b) => a - b);
    expect(tokens).toHaveLength(3);
    expect(tokens[1]).toBeLessThan(20);
    expect(tokens[2]).toBeGreaterThan(300);
    expect(served).toHaveLength(1);
  });
});
