/** Records of a key and a team, for the tests of the store. */

import {
  EMPTY_AMOUNTS,
  EMPTY_KEY,
  EMPTY_TEAM,
  type KeyRecord,
  type TeamRecord,
} from "@sluice/contract";

/** A key of which nearly everything is said. */
export const key: KeyRecord = {
  ...EMPTY_KEY,
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
  budgetAnchor: "creation",
  perModel: { "gpt-4o": { ...EMPTY_AMOUNTS, rpm: 5 } },
  customerId: "c1",
  mayNameCustomers: false,
  modelAliases: { smart: "gpt-4o" },
  admin: true,
  createdAtMs: 1_700_000_000_000,
};

/** A team of which little is said. */
export const team: TeamRecord = {
  ...EMPTY_TEAM,
  id: "t1",
  alias: "research",
  tpm: 1_000,
  guardrails: ["toxicity"],
  modelAliases: { fast: "gpt-4o-mini" },
  userBudgets: "ignore",
  memberDefaults: { rpm: 3 },
  selfService: { maxKeys: 2, upperBounds: { rpm: 9, models: ["gpt-4o"] }, defaults: { tpm: 4 } },
  blocked: true,
  createdAtMs: 1_700_000_000_000,
};
