/** Rows of a ledger for replays. */

import type { SpendRow } from "@sluice/contract";
import type { ReplaySources } from "./ledger-requests.ts";

let lastId = 0;

/** A row of a successful chat call by the key `k1`, in a request of its own. */
export function rowOf(parts: Partial<SpendRow>): SpendRow {
  lastId += 1;
  return {
    requestId: `r${String(lastId).padStart(6, "0")}`,
    attempt: 1,
    callType: "chat",
    keyId: "k1",
    keyAlias: null,
    userId: null,
    teamId: null,
    organizationId: null,
    endUser: null,
    model: "gpt",
    targetId: "openai/gpt",
    modelGroup: null,
    provider: "openai",
    status: "success",
    errorCode: null,
    promptTokens: null,
    completionTokens: null,
    totalTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    usageSource: null,
    costNanoUsd: null,
    costStatus: "unpriced",
    cacheHit: false,
    startedAtMs: lastId,
    firstContentAtMs: null,
    endedAtMs: lastId,
    generation: 1,
    tags: [],
    metadata: {},
    clientAddress: null,
    upstreamRequestId: null,
    completionId: null,
    ...parts,
  };
}

/** A ledger with these rows, oldest first, and a store with these lists of keys and teams. */
export function sourcesOf(
  rows: readonly SpendRow[],
  models: Readonly<Record<string, readonly string[]>> = {},
): ReplaySources {
  const find = async (id: string) =>
    models[id] === undefined ? undefined : ({ id, models: models[id] } as never);
  return {
    ledger: {
      async rows({ limit, before }) {
        const newest = rows.toReversed();
        const start =
          before === undefined
            ? 0
            : newest.findIndex((row) => `${row.requestId}:${row.attempt}` === before) + 1;
        return newest.slice(start, start + limit);
      },
    },
    keys: { find },
    teams: { find },
  };
}
