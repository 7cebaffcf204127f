/** Spend rows for tests. */

import type { SpendRow } from "@sluice/contract";

/** A successful row of an ordinary chat request. */
export function makeRow(requestId: string, changes: Partial<SpendRow> = {}): SpendRow {
  return {
    requestId,
    attempt: 1,
    callType: "acompletion",
    keyId: "key-1",
    keyAlias: "tests",
    userId: "user-1",
    teamId: null,
    organizationId: null,
    endUser: null,
    model: "gpt-4o-mini",
    targetId: "openai/gpt-4o-mini",
    modelGroup: "gpt-4o-mini",
    provider: "openai",
    status: "success",
    errorCode: null,
    promptTokens: 12,
    completionTokens: 34,
    totalTokens: 46,
    cachedTokens: 0,
    reasoningTokens: null,
    usageSource: "provider",
    costNanoUsd: 22_200,
    costStatus: "priced",
    cacheHit: false,
    startedAtMs: 1_700_000_000_000,
    firstContentAtMs: 1_700_000_000_400,
    endedAtMs: 1_700_000_001_000,
    generation: 1,
    tags: ["team-a"],
    metadata: {},
    clientAddress: "127.0.0.1",
    upstreamRequestId: null,
    completionId: null,
    ...changes,
  };
}
