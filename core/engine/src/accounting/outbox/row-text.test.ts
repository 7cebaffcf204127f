import { expect, test } from "vitest";
import type { SpendRow } from "@sluice/contract";
import { rowOfText, rowTexts } from "./row-text.ts";

/** Every member, each with a value of its own: a new member without a place fails here. */
const ROW: Required<SpendRow> = {
  requestId: "request",
  attempt: 2,
  callType: "chat",
  keyId: "key",
  keyAlias: "alias",
  userId: "user",
  teamId: "team",
  organizationId: "organization",
  endUser: "end user",
  model: "model",
  targetId: "target",
  modelGroup: "group",
  provider: "provider",
  status: "partial",
  errorCode: "code",
  promptTokens: 3,
  completionTokens: 4,
  totalTokens: 7,
  cachedTokens: 1,
  reasoningTokens: 5,
  usageSource: "provider",
  costNanoUsd: 6,
  costStatus: "priced",
  cacheHit: true,
  startedAtMs: 8,
  firstContentAtMs: 9,
  endedAtMs: 10,
  generation: 11,
  tags: ["tag"],
  metadata: { name: null },
  clientAddress: "127.0.0.1",
  upstreamRequestId: "upstream",
  completionId: "completion",
  requests: 12,
  judged: [
    {
      route: "POST /v1/chat/completions",
      guardrail: "pii",
      direction: "input",
      verdict: "block",
      mode: "shadow",
      requests: 1,
    },
  ],
};

const read = (text: string): unknown[] => (JSON.parse(`[${text}]`) as unknown[]).map(rowOfText);

test("gives back every member of a row", () => {
  const { requests, ...once } = ROW;
  expect(requests).toBe(12);
  expect(read(rowTexts([ROW, once]))).toStrictEqual([ROW, once]);
});

test("reads rows that have their names, and short ones", () => {
  expect(read(JSON.stringify(ROW))).toStrictEqual([ROW]);
  expect(rowOfText(["request", 1])).toMatchObject({ requestId: "request", completionId: null });
});
