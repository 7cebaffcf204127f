/** Routes of teams and of their members. */

import {
  COUNT,
  FLAG,
  list,
  map,
  object,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  TIME_OR_NULL,
  words,
} from "../schema.ts";
import { KEY } from "../shapes/key.ts";
import {
  BOUND_VIEW,
  KEYS_OF_USER,
  LIMIT_FIELDS,
  LIMITS_VIEW,
  MANAGED_BY,
  MODEL_ALIASES,
  NAME,
  NAMES,
  NOTES,
  REACHED_KEYS,
  SELF_SERVICE_FIELD,
  SELF_SERVICE_VIEW,
  SPENT_VIEW,
  USED_VIEW,
  WARNINGS,
} from "../shapes/limits.ts";
import { NEXT_CURSOR, PAGE_QUERY, TENANT_FILTERS } from "../shapes/lists.ts";

const TEAM_ID = { type: "string", description: "The id of a team." } as const;
const TEAM_ALONE = object({ team_id: TEAM_ID });
const IDS = {
  team_id: TEAM_ID,
  user_id: { type: "string", description: "The id of a user." },
} as const;

/** Fields of a team in a body. */
export const TEAM_FIELDS = {
  team_alias: NAME,
  ...LIMIT_FIELDS,
  organization_id: NAME,
  model_aliases: MODEL_ALIASES,
  user_budgets: { type: ["string", "null"], enum: ["count", "ignore", null] },
  member_defaults: {
    ...NOTES,
    description: "Limits and models of members that have none of their own.",
  },
  ...SELF_SERVICE_FIELD,
} as const;

/** Members of a team in an answer. */
export const TEAM_VIEW = {
  team_id: TEXT,
  team_alias: TEXT_OR_NULL,
  declared: FLAG,
  managed_by: MANAGED_BY,
  ...LIMITS_VIEW,
  organization_id: TEXT_OR_NULL,
  model_aliases: map(TEXT),
  user_budgets: words("count", "ignore"),
  member_defaults: BOUND_VIEW,
  self_service: SELF_SERVICE_VIEW,
  created_at: TIME_OR_NULL,
} as const;

/** Fields of a member in a body. */
export const MEMBER_FIELDS = {
  role: { type: ["string", "null"], enum: ["member", "admin", null] },
  member_alias: NAME,
  ...LIMIT_FIELDS,
} as const;

const MEMBER_VIEW = {
  team_id: TEXT,
  user_id: TEXT,
  role: words("member", "admin"),
  member_alias: TEXT_OR_NULL,
  managed_by: MANAGED_BY,
  ...LIMITS_VIEW,
  created_at: TIME_OR_NULL,
} as const;
const TEAM = object(TEAM_VIEW);
const MEMBER = object(MEMBER_VIEW);

/** The routes of teams. */
export const TEAM_ROUTES = {
  "POST /team/new": {
    about: "Make a team",
    body: object({}, { team_id: NAME, ...TEAM_FIELDS }),
    answer: object(TEAM_VIEW, WARNINGS),
  },
  "POST /team/update": {
    about: "Change fields of a team",
    body: object({ team_id: TEAM_ID }, TEAM_FIELDS),
    answer: object({ team_id: TEXT, data: TEAM }, WARNINGS),
  },
  "POST /team/block": { about: "Refuse the requests of a team", body: TEAM_ALONE, answer: TEAM },
  "POST /team/unblock": { about: "Admit them again", body: TEAM_ALONE, answer: TEAM },
  "POST /team/delete": {
    about: "Delete teams",
    body: object(
      { team_ids: { ...NAMES, type: "array" } },
      {
        keys: { ...TEXT, description: "What becomes of their keys: block, delete or move:<team>." },
      },
    ),
    answer: object({ deleted_teams: TEXTS }, REACHED_KEYS),
  },
  "GET /team/info": {
    about: "Read a team, its members and its first 100 keys",
    query: TEAM_ALONE,
    answer: object(
      {
        team_id: TEXT,
        team_info: object({ ...TEAM_VIEW, ...SPENT_VIEW, ...USED_VIEW }),
        keys: list(KEY),
        total_keys: COUNT,
      },
      { members: list(MEMBER) },
    ),
  },
  "GET /team/list": {
    about: "List teams",
    query: object(
      {},
      {
        ...PAGE_QUERY,
        organization_id: TENANT_FILTERS.organization_id,
        user_id: TENANT_FILTERS.user_id,
        budget_id: TENANT_FILTERS.budget_id,
      },
    ),
    answer: { anyOf: [object({ teams: list(TEAM), ...NEXT_CURSOR }), list(TEAM)] },
  },
} as const;

/** The routes of members. */
export const MEMBER_ROUTES = {
  "POST /team/member_add": {
    about: "Add a user to a team",
    body: object(IDS, MEMBER_FIELDS),
    answer: object(MEMBER_VIEW, WARNINGS),
  },
  "POST /team/member_update": {
    about: "Change fields of a member",
    body: object(IDS, MEMBER_FIELDS),
    answer: object(MEMBER_VIEW, WARNINGS),
  },
  "POST /team/member_delete": {
    about: "Remove a user from a team",
    body: object(IDS, { keys: KEYS_OF_USER }),
    answer: object({ team_id: TEXT, user_id: TEXT }, REACHED_KEYS),
  },
  "GET /team/member_info": {
    about: "Read a member",
    query: object(IDS),
    answer: object({
      team_id: TEXT,
      user_id: TEXT,
      member_info: object({ ...MEMBER_VIEW, ...SPENT_VIEW }),
    }),
  },
  "GET /team/member_list": {
    about: "List members",
    query: object({}, { ...PAGE_QUERY, ...TENANT_FILTERS }),
    answer: object({ members: list(MEMBER), ...NEXT_CURSOR }),
  },
} as const;
