import { describe, expect, it } from "vitest";
import type { Identity, LedgerQuery, SpendRow } from "@sluice/spec";
import { fakeClient, fakeExchange, fakeHost, fakeIdentity } from "@sluice/kit/testing";
import { publicRow } from "./spend-row.ts";
import { spend } from "./spend.ts";

const row: SpendRow = {
  requestId: "r",
  attempt: 1,
  callType: "chat",
  keyId: "key-1",
  keyAlias: "ci",
  userId: "u",
  teamId: "t",
  endUser: null,
  model: "m",
  targetId: "openai/m",
  modelGroup: "m",
  provider: "openai",
  status: "success",
  errorCode: null,
  promptTokens: 1,
  completionTokens: 2,
  totalTokens: 3,
  cachedTokens: null,
  reasoningTokens: null,
  usageSource: "provider",
  costNanoUsd: 1_234_567,
  costStatus: "priced",
  cacheHit: false,
  startedAtMs: Date.UTC(2026, 0, 1),
  firstContentAtMs: null,
  endedAtMs: Date.UTC(2026, 0, 1, 0, 0, 1),
  generation: 1,
  tags: ["a"],
  metadata: { x: 1 },
  clientAddress: "127.0.0.1",
};

/** Asks, and returns the question that reached the ledger with the rows that came back. */
async function ask(query: string, identity: Identity | undefined = fakeIdentity()) {
  const asked: LedgerQuery[] = [];
  const ledger = { rows: async (question: LedgerQuery) => (asked.push(question), [row]) };
  const exchange = fakeExchange({ client: fakeClient({}, { query }), identity });
  await spend.create({}, fakeHost({ ledger })).run({ exchange }, async () => undefined);
  const reply = exchange.reply;
  return { question: asked[0], rows: reply?.kind === "whole" ? (JSON.parse(String(reply.document.bytes)) as unknown[]) : [] };
}

const master = fakeIdentity({ kind: "master", keyId: "master" });

describe("spend rows", () => {
  it("are a key's own", async () => {
    expect((await ask("")).question).toEqual({ keyId: "key-1", limit: 1_000 });
    expect((await ask("api_key=key-1")).question).toEqual({ keyId: "key-1", limit: 1_000 });
  });

  it("of another key are forbidden", async () => {
    await expect(ask("api_key=key-2")).rejects.toMatchObject({ code: "permission_denied", status: 403, param: "api_key" });
  });

  it("are narrowed by a filter, never widened", async () => {
    const { question } = await ask("user_id=other&request_id=r1&limit=5&cursor=r0%3A1");
    expect(question).toEqual({ keyId: "key-1", userId: "other", requestId: "r1", limit: 5, before: "r0:1" });
  });

  it("are all of them for the master key, or those of the key it names", async () => {
    expect((await ask("", master)).question).toEqual({ limit: 1_000 });
    expect((await ask("api_key=key-2", master)).question).toEqual({ limit: 1_000, keyId: "key-2" });
  });

  it.each(["0", "-1", "1.5", "1001", "many", ""])("are refused with the limit %j", async (limit) => {
    await expect(ask(`limit=${limit}`)).rejects.toMatchObject({ code: "invalid_field", param: "limit" });
  });

  it("are refused with a parameter that nobody knows", async () => {
    await expect(ask("api-key=key-2")).rejects.toMatchObject({ code: "invalid_field", param: "api-key" });
  });

  it("are refused without an identity", async () => {
    const exchange = fakeExchange();
    const step = spend.create({}, fakeHost());
    await expect(step.run({ exchange }, async () => undefined)).rejects.toMatchObject({ code: "permission_denied" });
  });
});

describe("the public row", () => {
  it("speaks the words of the interface", async () => {
    expect((await ask("")).rows).toMatchObject([
      {
        request_id: "r",
        api_key: "key-1",
        spend: 0.001234567,
        startTime: "2026-01-01T00:00:00.000Z",
        endTime: "2026-01-01T00:00:01.000Z",
        completionStartTime: null,
        model: "m",
        model_id: "openai/m",
        custom_llm_provider: "openai",
        user: "u",
        team_id: "t",
        request_tags: ["a"],
        status: "success",
        usage_source: "provider",
        cost_status: "priced",
      },
    ]);
  });

  it("has no spend, rather than none, when the price is unknown", () => {
    expect(publicRow({ ...row, costNanoUsd: null, costStatus: "unpriced" })).toMatchObject({
      spend: null,
      cost_status: "unpriced",
    });
  });
});
