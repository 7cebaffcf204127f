/**
 * Streams that a guardrail cuts beside identical requests that share the call, and from entries of
 * the cache: whose row says what.
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, rowsOf, type SpendRow } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";

const TEXT =
  "A harmless beginning that is long enough to be released, an extra-word behind it, and some more.";

let upstream: Upstream;
let gateway: GatewayProcess;
let serial = 0;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = guardedWorkspace({
    baseUrl: upstream.baseUrl,
    guardrails: ["extra: { use: forbid, word: extra-word }"],
    step: "{}",
  });
  gateway = await startGateway(workspace);
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** A prompt that no other test has. */
const prompt = (): object => ({
  messages: [{ role: "user", content: `Number ${(serial += 1)}, please.` }],
});
const GUARDED = { guardrails: ["extra"] };

interface Answer {
  readonly text: string;
  readonly row: (SpendRow & { readonly cache_hit: boolean }) | undefined;
}

async function ask(sent: object, more: object = {}): Promise<Answer> {
  const response = await chat(gateway, {
    model: "gpt-4o-mini",
    stream: true,
    caching: true,
    ...sent,
    ...more,
  });
  const text = await response.text();
  const [row] = (await rowsOf(gateway, response.headers.get("x-request-id"))) as [Answer["row"]];
  return { text, row };
}

/** Two at once: the first one makes the call. */
async function both(first: object, second: object): Promise<readonly [Answer, Answer]> {
  upstream.script({ kind: "reply", text: TEXT, delayMs: 150, eventDelayMs: 10 });
  const sent = prompt();
  const leading = ask(sent, first);
  await upstream.waitFor(() => true);
  const answers = await Promise.all([leading, ask(sent, second)]);
  expect(upstream.requests).toHaveLength(1);
  return answers;
}

const CUT = { status: "partial", error_code: "guardrail_violation" };
const WHOLE = { status: "success", error_code: null };
const isCut = ({ text }: Answer): boolean =>
  text.includes("guardrail_violation") && !text.includes("[DONE]");
const isWhole = ({ text }: Answer): boolean =>
  text.includes("extra-word") && text.endsWith("data: [DONE]\n\n");

describe("a stream that a guardrail cuts", () => {
  it("is partial in the row of who made the call, at what all of it cost, while who waited beside it gets all", async () => {
    const [leader, twin] = await both(GUARDED, {});
    expect([isCut(leader), isWhole(twin)]).toEqual([true, true]);
    expect(leader.row).toMatchObject({
      ...CUT,
      attempt: 1,
      cache_hit: false,
      usage_source: "provider",
    });
    expect(leader.row?.spend).toBeGreaterThan(0);
    expect(twin.row).toMatchObject({ ...WHOLE, attempt: 0, cache_hit: true, spend: 0 });
    expect(twin.row?.total_tokens).toBe(leader.row?.total_tokens);
  });

  it("is partial in the row of who waited, and whole in that of who made the call", async () => {
    const [leader, twin] = await both({}, GUARDED);
    expect([isWhole(leader), isCut(twin)]).toEqual([true, true]);
    expect(leader.row).toMatchObject({ ...WHOLE, attempt: 1 });
    expect(twin.row).toMatchObject({ ...CUT, attempt: 0, cache_hit: true, spend: 0 });
  });

  it("is partial in both rows where both are cut", async () => {
    const [leader, twin] = await both(GUARDED, GUARDED);
    expect([isCut(leader), isCut(twin)]).toEqual([true, true]);
    expect([leader.row, twin.row]).toMatchObject([
      { ...CUT, attempt: 1 },
      { ...CUT, attempt: 0, spend: 0 },
    ]);
  });

  it("is partial where it came from an entry", async () => {
    const sent = prompt();
    upstream.script({ kind: "reply", text: TEXT });
    expect((await ask(sent)).row).toMatchObject(WHOLE);
    const hit = await ask(sent, GUARDED);
    expect(isCut(hit)).toBe(true);
    expect(hit.row).toMatchObject({ ...CUT, attempt: 0, cache_hit: true, spend: 0 });
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([true, false])(
    "is partial where the offence is the stream's last word; with the cache: %s",
    async (caching) => {
      upstream.script({
        kind: "reply",
        text: "A harmless beginning that is long enough to be released, and an extra-word",
      });
      const answer = await ask(prompt(), { ...GUARDED, caching });
      expect(isCut(answer)).toBe(true);
      expect(answer.row).toMatchObject({ ...CUT, attempt: 1 });
    },
  );
});
