/** Records of a key and a team, for the tests of the store. */

import type { KeyRecord, TeamRecord } from "@sluice/contract";

/** A key of which nearly everything is said. */
export const key: KeyRecord = {
  id: "k1",
  digest: "ab".repeat(32),
  last4: "wxyz",
  previousDigest: "ef".repeat(32),
  previousUntilMs: 1_750_000_000_000,
  alias: "laptop",
  models: ["gpt-4o", "claude"],
  maxBudgetNanoUsd: 5_000_000_000,
  softBudgetNanoUsd: 4_000_000_000,
  budgetDuration: "30d",
  rpm: 10,
  tpm: null,
  maxParallelRequests: 2,
  expiresAtMs: 1_800_000_000_000,
  tags: ["a"],
  allowedTags: ["b"],
  metadata: { nested: { list: [1, null] } },
  guardrails: ["pii"],
  passthrough: true,
  spendScope: "user",
  userId: "u1",
  teamId: null,
  blocked: false,
  createdAtMs: 1_700_000_000_000,
};

/** A team of which little is said. */
export const team: TeamRecord = {
  id: "t1",
  alias: "research",
  models: [],
  maxBudgetNanoUsd: null,
  softBudgetNanoUsd: null,
  budgetDuration: null,
  rpm: null,
  tpm: 1_000,
  maxParallelRequests: null,
  tags: [],
  allowedTags: [],
  metadata: {},
  guardrails: ["toxicity"],
  passthrough: false,
  blocked: true,
  createdAtMs: 1_700_000_000_000,
};
