/** The fields of keys and of teams, with LiteLLM's names. */

import type { JsonObject } from "@sluice/contract";
import {
  type Changes,
  type Fields,
  invalid,
  readChanges,
  readCount,
  readDollars,
  readFlag,
  readLife,
  readNames,
  readNotes,
  readSpan,
  readText,
  readTime,
} from "./fields.ts";

const SHARED: Fields = {
  models: { member: "models", read: readNames, cleared: [] },
  max_budget: { member: "maxBudgetNanoUsd", read: readDollars, cleared: null },
  soft_budget: { member: "softBudgetNanoUsd", read: readDollars, cleared: null },
  budget_duration: { member: "budgetDuration", read: readSpan, cleared: null },
  rpm: { member: "rpm", read: readCount, cleared: null },
  rpm_limit: { member: "rpm", read: readCount, cleared: null },
  tpm: { member: "tpm", read: readCount, cleared: null },
  tpm_limit: { member: "tpm", read: readCount, cleared: null },
  max_parallel_requests: { member: "maxParallelRequests", read: readCount, cleared: null },
  max_parallel: { member: "maxParallelRequests", read: readCount, cleared: null },
  tags: { member: "tags", read: readNames, cleared: [] },
  allowed_tags: { member: "allowedTags", read: readNames, cleared: [] },
  metadata: { member: "metadata", read: readNotes, cleared: {} },
  guardrails: { member: "guardrails", read: readNames, cleared: [] },
  passthrough: { member: "passthrough", read: readFlag, cleared: false },
  blocked: { member: "blocked", read: readFlag, cleared: false },
};

/** The fields of a key in a body. */
export const KEY_FIELDS: Fields = {
  key_alias: { member: "alias", read: readText, cleared: null },
  ...SHARED,
  duration: { member: "expiresAtMs", read: readLife, cleared: null },
  expires: { member: "expiresAtMs", read: readTime, cleared: null },
  user_id: { member: "userId", read: readText, cleared: null },
  team_id: { member: "teamId", read: readText, cleared: null },
  spend_scope: { member: "spendScope", read: readScope, cleared: "key" },
};

/** The fields of a team in a body. */
export const TEAM_FIELDS: Fields = {
  team_alias: { member: "alias", read: readText, cleared: null },
  ...SHARED,
};

/**
 * Reads the changes of a body, as `readChanges` does. It also refuses a soft budget above the
 * budget of the same body, because the warning would never appear. It does not compare with the
 * stored budget.
 */
export function readRecordChanges(
  body: JsonObject,
  fields: Fields,
  others: readonly string[],
  nowMs: number,
): Changes {
  const changes = readChanges(body, fields, others, nowMs);
  const { maxBudgetNanoUsd: max, softBudgetNanoUsd: soft } = changes.members;
  if (typeof max !== "number" || typeof soft !== "number" || soft <= max) return changes;
  throw invalid(
    "soft_budget",
    "The field soft_budget exceeds max_budget: the warning would never appear. Send a smaller amount.",
  );
}

const SCOPES = ["key", "user", "team"];

function readScope(value: unknown, name: string): unknown {
  if (typeof value === "string" && SCOPES.includes(value)) return value;
  throw invalid(name, `The field ${name} must be one of: ${SCOPES.join(", ")}.`);
}
