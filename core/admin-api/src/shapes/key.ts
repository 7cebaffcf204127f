/** A key in bodies and answers. */

import {
  COUNT,
  FLAG,
  map,
  NUMBER,
  NUMBER_OR_NULL,
  COUNT_OR_NULL,
  object,
  TEXTS,
  TEXT,
  TEXT_OR_NULL,
  TIME_OR_NULL,
  words,
} from "../schema.ts";
import { LIMIT_FIELDS, LIMITS_VIEW, MANAGED_BY, MODEL_ALIASES, NAME, SWITCH } from "./limits.ts";

/** Fields of a new key and of a change. */
export const KEY_FIELDS = {
  key_alias: { ...NAME, description: "A display name, unique among the keys of an organization." },
  ...LIMIT_FIELDS,
  user_id: NAME,
  team_id: NAME,
  organization_id: NAME,
  customer_id: NAME,
  may_name_customers: SWITCH,
  model_aliases: MODEL_ALIASES,
  admin: { ...SWITCH, description: "The key opens the admin listener with its user's roles." },
  spend_scope: { type: ["string", "null"], enum: ["key", "user", "team", null] },
} as const;

/** Members of a key. The key itself is never among them. */
export const KEY_VIEW = {
  token_id: TEXT,
  key_name: { ...TEXT_OR_NULL, description: "sk-... and its last four characters." },
  key_alias: TEXT_OR_NULL,
  declared: FLAG,
  managed_by: MANAGED_BY,
  ...LIMITS_VIEW,
  user_id: TEXT_OR_NULL,
  team_id: TEXT_OR_NULL,
  organization_id: TEXT_OR_NULL,
  customer_id: TEXT_OR_NULL,
  may_name_customers: FLAG,
  model_aliases: map(TEXT),
  admin: FLAG,
  spend_scope: words("key", "user", "team"),
  made_with: { ...TEXT_OR_NULL, description: "The key that self-service made it with." },
  previous_key_until: TIME_OR_NULL,
  created_at: TIME_OR_NULL,
} as const;

/** A key. */
export const KEY = object(KEY_VIEW);

/** A key of a long list: short, with its use. */
export const LISTED_KEY = object({
  token_id: TEXT,
  key_name: TEXT_OR_NULL,
  key_alias: TEXT_OR_NULL,
  managed_by: MANAGED_BY,
  declared_in: { ...TEXT_OR_NULL, description: "The file and line that declare it." },
  status: words("active", "blocked", "expired"),
  user_id: TEXT_OR_NULL,
  team_id: TEXT_OR_NULL,
  organization_id: TEXT_OR_NULL,
  admin: FLAG,
  models: { ...TEXTS, description: "The first of them. Empty: every model." },
  models_total: COUNT,
  max_budget: NUMBER_OR_NULL,
  soft_budget: NUMBER_OR_NULL,
  budget_duration: TEXT_OR_NULL,
  budget_id: TEXT_OR_NULL,
  budget_reset_at: TIME_OR_NULL,
  spend: { ...NUMBER, description: "Since spend_since: the period of its budget, else the month." },
  spend_since: { ...TIME_OR_NULL, description: "Null: of all times." },
  rpm_limit: COUNT_OR_NULL,
  tpm_limit: COUNT_OR_NULL,
  max_parallel_requests: COUNT_OR_NULL,
  expires: TIME_OR_NULL,
  previous_key_until: TIME_OR_NULL,
  last_used_at: TIME_OR_NULL,
  created_at: TIME_OR_NULL,
});
