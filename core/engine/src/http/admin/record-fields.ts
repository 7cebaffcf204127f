/** The fields of records, with LiteLLM's names. */

import {
  type Amounts,
  EMPTY_AMOUNTS,
  isGatewayError,
  type JsonObject,
  type JsonValue,
  type MemberDefaults,
  normalTenantId,
  OWN_TAG,
  type SelfService,
} from "@sluice/contract";
import {
  type Changes,
  type Field,
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
  refuseUnknown,
} from "./fields.ts";

/** Amounts that bound spending and traffic. */
export const AMOUNT_FIELDS: Fields = {
  max_budget: { member: "maxBudgetNanoUsd", read: readDollars, cleared: null },
  soft_budget: { member: "softBudgetNanoUsd", read: readDollars, cleared: null },
  budget_duration: { member: "budgetDuration", read: readSpan, cleared: null },
  rpm: { member: "rpm", read: readCount, cleared: null },
  rpm_limit: { member: "rpm", read: readCount, cleared: null },
  tpm: { member: "tpm", read: readCount, cleared: null },
  tpm_limit: { member: "tpm", read: readCount, cleared: null },
  max_parallel_requests: { member: "maxParallelRequests", read: readCount, cleared: null },
  max_parallel: { member: "maxParallelRequests", read: readCount, cleared: null },
};

/** Amounts with what a budget has besides them. */
export const PERIOD_FIELDS: Fields = {
  ...AMOUNT_FIELDS,
  budget_anchor: { member: "budgetAnchor", read: readAnchor, cleared: "calendar" },
  anchor: { member: "budgetAnchor", read: readAnchor, cleared: "calendar" },
  per_model: { member: "perModel", read: readPerModel, cleared: {} },
};

/** The block of limits, without the alias. */
export const BLOCK_FIELDS: Fields = {
  models: { member: "models", read: readNames, cleared: [] },
  ...PERIOD_FIELDS,
  budget_id: { member: "budgetId", read: readText, cleared: null },
  budget_share: { member: "budgetShare", read: readShare, cleared: "each" },
  tags: { member: "tags", read: readTags, cleared: [] },
  allowed_tags: { member: "allowedTags", read: readTags, cleared: [] },
  metadata: { member: "metadata", read: readNotes, cleared: {} },
  guardrails: { member: "guardrails", read: readNames, cleared: [] },
  passthrough: { member: "passthrough", read: readFlag, cleared: false },
  blocked: { member: "blocked", read: readFlag, cleared: false },
  duration: { member: "expiresAtMs", read: readLife, cleared: null },
  expires: { member: "expiresAtMs", read: readTime, cleared: null },
};

/** The fields of a key in a body. */
export const KEY_FIELDS: Fields = {
  key_alias: { member: "alias", read: readText, cleared: null },
  ...BLOCK_FIELDS,
  user_id: { member: "userId", read: readId, cleared: null },
  team_id: { member: "teamId", read: readId, cleared: null },
  organization_id: { member: "organizationId", read: readId, cleared: null },
  customer_id: { member: "customerId", read: readText, cleared: null },
  may_name_customers: { member: "mayNameCustomers", read: readFlag, cleared: true },
  model_aliases: { member: "modelAliases", read: readAliases, cleared: {} },
  admin: { member: "admin", read: readFlag, cleared: false },
  spend_scope: { member: "spendScope", read: readScope, cleared: "key" },
};

/** What members of a place may make for themselves. */
export const SELF_SERVICE_FIELD: Fields = {
  self_service: { member: "selfService", read: readSelfService, cleared: null },
};

/** The fields of a team in a body. */
export const TEAM_FIELDS: Fields = {
  team_alias: { member: "alias", read: readText, cleared: null },
  ...BLOCK_FIELDS,
  organization_id: { member: "organizationId", read: readId, cleared: null },
  model_aliases: { member: "modelAliases", read: readAliases, cleared: {} },
  user_budgets: { member: "userBudgets", read: readUserBudgets, cleared: "count" },
  member_defaults: { member: "memberDefaults", read: readBound, cleared: {} },
  ...SELF_SERVICE_FIELD,
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

/** Reads one of some words. */
export function readWord(words: readonly string[]): Field["read"] {
  return (value, name) => {
    if (typeof value === "string" && words.includes(value)) return value;
    throw invalid(name, `The field ${name} must be one of: ${words.join(", ")}.`);
  };
}

/** Tags that records may have: not those by which the gateway marks rows. */
function readTags(value: JsonValue, name: string): readonly string[] {
  const tags = readNames(value, name);
  const own = tags.find((tag) => tag.startsWith(OWN_TAG));
  if (own === undefined) return tags;
  throw invalid(
    name,
    `The field ${name} names ${JSON.stringify(own)}: tags that begin with ${OWN_TAG} are the gateway's own.`,
  );
}

function readScope(value: JsonValue, name: string, nowMs: number): unknown {
  return readWord(["key", "user", "team"])(value, name, nowMs);
}

function readAnchor(value: JsonValue, name: string, nowMs: number): unknown {
  return readWord(["calendar", "creation"])(value, name, nowMs);
}

function readShare(value: JsonValue, name: string, nowMs: number): unknown {
  return readWord(["each", "pool"])(value, name, nowMs);
}

function readUserBudgets(value: JsonValue, name: string, nowMs: number): unknown {
  return readWord(["count", "ignore"])(value, name, nowMs);
}

/** An id in Unicode NFC, as the store keeps ids. */
export function readId(value: JsonValue, name: string): string {
  return normalTenantId(readText(value, name));
}

/** Amounts alone; those that are not given are not members of the result. */
export function readAmounts(value: JsonValue, name: string, nowMs: number): Partial<Amounts> {
  return readInside(name, () => {
    const { members } = readRecordChanges(readNotes(value, name), AMOUNT_FIELDS, [], nowMs);
    return members as Partial<Amounts>;
  });
}

/** Amounts and models alone, as `readAmounts`. */
function readBound(value: JsonValue, name: string, nowMs: number): MemberDefaults {
  return readInside(name, () => {
    const { members } = readRecordChanges(readNotes(value, name), BOUND_FIELDS, [], nowMs);
    return members as MemberDefaults;
  });
}

const MAX_MODELS = 1_000;

function readPerModel(value: JsonValue, name: string, nowMs: number): unknown {
  const entries = Object.entries(readNotes(value, name));
  if (entries.length > MAX_MODELS)
    throw invalid(name, `The field ${name} may name ${MAX_MODELS} models at most.`);
  return Object.fromEntries(
    entries.map(([model, amounts]) => {
      const place = `${name}.${readText(model, name)}`;
      return [model, { ...EMPTY_AMOUNTS, ...readAmounts(amounts ?? null, place, nowMs) }];
    }),
  );
}

function readAliases(value: JsonValue, name: string): unknown {
  const entries = Object.entries(readNotes(value, name));
  if (entries.length > MAX_MODELS)
    throw invalid(name, `The field ${name} may have ${MAX_MODELS} aliases at most.`);
  return Object.fromEntries(
    entries.map(([alias, model]) => [
      readText(alias, name),
      readText(model ?? null, `${name}.${alias}`),
    ]),
  );
}

const BOUND_FIELDS: Fields = {
  ...AMOUNT_FIELDS,
  models: { member: "models", read: readNames, cleared: [] },
};

function readSelfService(value: JsonValue, name: string, nowMs: number): SelfService {
  const rule = readNotes(value, name);
  return readInside(name, () => {
    refuseUnknown(Object.keys(rule), ["max_keys", "upper_bounds", "defaults"], "field");
    const bounds = readNotes(rule["upper_bounds"] ?? {}, "upper_bounds");
    return {
      maxKeys: readCount(rule["max_keys"] ?? 0, "max_keys"),
      upperBounds: readInside("upper_bounds", () =>
        readRecordChanges(bounds, BOUND_FIELDS, [], nowMs),
      ).members,
      defaults: readAmounts(rule["defaults"] ?? {}, "defaults", nowMs),
    };
  });
}

/** Reads what is inside of a field: a refusal names the place. */
function readInside<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isGatewayError(error) || error.param === undefined || error.param === name) throw error;
    throw invalid(`${name}.${error.param}`, `In ${name}: ${error.message}`);
  }
}
