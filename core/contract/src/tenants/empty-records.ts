/** Records with defaults alone: what a field that is not given means. */

import type { KeyRecord, TeamRecord } from "../store.ts";
import type { Amounts, LimitBlock, TeamExtras } from "./records.ts";

/** No limit at all. */
export const EMPTY_AMOUNTS: Amounts = Object.freeze({
  maxBudgetNanoUsd: null,
  softBudgetNanoUsd: null,
  budgetDuration: null,
  rpm: null,
  tpm: null,
  maxParallelRequests: null,
});

/** A block of limits that limits nothing. */
export const EMPTY_LIMITS: LimitBlock = Object.freeze({
  ...EMPTY_AMOUNTS,
  alias: null,
  models: [],
  budgetAnchor: "calendar",
  perModel: {},
  budgetId: null,
  budgetShare: "each",
  tags: [],
  allowedTags: [],
  metadata: {},
  guardrails: [],
  passthrough: false,
  blocked: false,
  expiresAtMs: null,
});

const EMPTY_TEAM_EXTRAS: TeamExtras = Object.freeze({
  organizationId: null,
  modelAliases: {},
  userBudgets: "count",
  memberDefaults: {},
  selfService: null,
});

/** A team with defaults alone. */
export const EMPTY_TEAM: Omit<TeamRecord, "id" | "createdAtMs"> = Object.freeze({
  ...EMPTY_LIMITS,
  ...EMPTY_TEAM_EXTRAS,
});

/** A key with defaults alone. */
export const EMPTY_KEY: Omit<KeyRecord, "id" | "digest" | "last4" | "createdAtMs"> = Object.freeze({
  ...EMPTY_LIMITS,
  previousDigest: null,
  previousUntilMs: null,
  spendScope: "key",
  userId: null,
  teamId: null,
  organizationId: null,
  customerId: null,
  mayNameCustomers: true,
  modelAliases: {},
  admin: false,
  issuedBy: null,
  madeWith: null,
});
