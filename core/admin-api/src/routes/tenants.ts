/** Routes of organizations, users, customers, budgets and access groups: all have one form. */

import { list, object, TEXT, TEXT_OR_NULL, TEXTS, TIME_OR_NULL, words } from "../schema.ts";
import {
  LIMIT_FIELDS,
  LIMITS_VIEW,
  MANAGED_BY,
  NAME,
  NAMES,
  PERIOD_FIELDS,
  PERIOD_VIEW,
  REACHED_KEYS,
  SELF_SERVICE_FIELD,
  SELF_SERVICE_VIEW,
  SPENT_VIEW,
  WARNINGS,
  KEYS_OF_USER,
} from "../shapes/limits.ts";
import { NEXT_CURSOR, PAGE_QUERY, TENANT_FILTERS } from "../shapes/lists.ts";

const ID = { type: "string", "x-words": "a string of 1 to 256 characters on one line" } as const;
const IDS = { type: "array", "x-words": NAMES["x-words"] } as const;

const ORGANIZATION_FIELDS = {
  organization_alias: NAME,
  ...LIMIT_FIELDS,
  ...SELF_SERVICE_FIELD,
} as const;
const ORGANIZATION_VIEW = {
  organization_id: TEXT,
  organization_alias: TEXT_OR_NULL,
  managed_by: MANAGED_BY,
  ...LIMITS_VIEW,
  self_service: SELF_SERVICE_VIEW,
  created_at: TIME_OR_NULL,
} as const;
const ORGANIZATION = object(ORGANIZATION_VIEW);
const ORGANIZATION_ALONE = object({ organization_id: ID });

/** The routes of organizations. */
export const ORGANIZATION_ROUTES = {
  "POST /organization/new": {
    about: "Make an organization",
    body: object({}, { organization_id: NAME, ...ORGANIZATION_FIELDS }),
    answer: object(ORGANIZATION_VIEW, WARNINGS),
  },
  "POST /organization/update": {
    about: "Change fields of an organization",
    body: object({ organization_id: ID }, ORGANIZATION_FIELDS),
    answer: object(ORGANIZATION_VIEW, WARNINGS),
  },
  "POST /organization/block": {
    about: "Refuse the requests of an organization",
    body: ORGANIZATION_ALONE,
    answer: ORGANIZATION,
  },
  "POST /organization/unblock": {
    about: "Admit the requests of an organization again",
    body: ORGANIZATION_ALONE,
    answer: ORGANIZATION,
  },
  "POST /organization/delete": {
    about: "Delete organizations",
    body: object({ organization_ids: IDS }),
    answer: object({ deleted_organizations: TEXTS }, { in_use: TEXTS }),
  },
  "GET /organization/info": {
    about: "Read an organization",
    query: ORGANIZATION_ALONE,
    answer: object({
      organization_id: TEXT,
      organization_info: object({ ...ORGANIZATION_VIEW, ...SPENT_VIEW }),
    }),
  },
  "GET /organization/list": {
    about: "List organizations",
    query: object({}, { ...PAGE_QUERY, ...TENANT_FILTERS }),
    answer: object({ organizations: list(ORGANIZATION), ...NEXT_CURSOR }),
  },
} as const;

const USER_FIELDS = {
  user_alias: NAME,
  user_email: { type: ["string", "null"], "x-words": "an e-mail address" },
  kind: { type: ["string", "null"], enum: ["person", "service", null] },
  organizations: NAMES,
  roles: {
    type: ["array", "null"],
    description: 'Roles such as { "role": "keys", "at": "team", "team_id": "support" }.',
  },
  ...LIMIT_FIELDS,
} as const;
const ROLE = object(
  {
    role: words("viewer", "keys", "operator", "admin"),
    at: words("whole", "organization", "team"),
  },
  { organization_id: TEXT, team_id: TEXT },
);
const USER_VIEW = {
  user_id: TEXT,
  user_alias: TEXT_OR_NULL,
  user_email: TEXT_OR_NULL,
  kind: words("person", "service"),
  organizations: TEXTS,
  roles: list(ROLE),
  managed_by: MANAGED_BY,
  ...LIMITS_VIEW,
  created_at: TIME_OR_NULL,
} as const;
const USER = object(USER_VIEW);
const USER_ALONE = object({ user_id: ID });

/** The routes of users. */
export const USER_ROUTES = {
  "POST /user/new": {
    about: "Make a user",
    body: object({}, { user_id: NAME, ...USER_FIELDS }),
    answer: object(USER_VIEW, WARNINGS),
  },
  "POST /user/update": {
    about: "Change fields of a user",
    body: object({ user_id: ID }, USER_FIELDS),
    answer: object(USER_VIEW, { ...WARNINGS, ...REACHED_KEYS, left_teams: TEXTS }),
  },
  "POST /user/block": { about: "Refuse a user's requests", body: USER_ALONE, answer: USER },
  "POST /user/unblock": { about: "Admit a user's requests", body: USER_ALONE, answer: USER },
  "POST /user/delete": {
    about: "Delete users",
    body: object({ user_ids: IDS }, { keys: KEYS_OF_USER }),
    answer: object({ deleted_users: TEXTS }, { ...REACHED_KEYS, in_use: TEXTS }),
  },
  "GET /user/info": {
    about: "Read a user",
    query: USER_ALONE,
    answer: object({ user_id: TEXT, user_info: object({ ...USER_VIEW, ...SPENT_VIEW }) }),
  },
  "GET /user/list": {
    about: "List users",
    query: object({}, { ...PAGE_QUERY, ...TENANT_FILTERS }),
    answer: object({ users: list(USER), ...NEXT_CURSOR }),
  },
} as const;

const CUSTOMER_FIELDS = { customer_alias: NAME, ...LIMIT_FIELDS } as const;
const CUSTOMER_VIEW = {
  customer_id: TEXT,
  organization_id: TEXT_OR_NULL,
  customer_alias: TEXT_OR_NULL,
  managed_by: MANAGED_BY,
  ...LIMITS_VIEW,
  created_at: TIME_OR_NULL,
} as const;
const CUSTOMER = object(CUSTOMER_VIEW);
const ITS_ORGANIZATION = { organization_id: NAME } as const;
const CUSTOMER_ALONE = object({ customer_id: ID }, ITS_ORGANIZATION);

/** The routes of customers. Two organizations may each have a customer of one id. */
export const CUSTOMER_ROUTES = {
  "POST /customer/new": {
    about: "Make a customer",
    body: object({ customer_id: ID }, { ...ITS_ORGANIZATION, ...CUSTOMER_FIELDS }),
    answer: object(CUSTOMER_VIEW, WARNINGS),
  },
  "POST /customer/update": {
    about: "Change fields of a customer",
    body: object({ customer_id: ID }, { ...ITS_ORGANIZATION, ...CUSTOMER_FIELDS }),
    answer: object(CUSTOMER_VIEW, WARNINGS),
  },
  "POST /customer/block": {
    about: "Refuse a customer's requests",
    body: CUSTOMER_ALONE,
    answer: CUSTOMER,
  },
  "POST /customer/unblock": {
    about: "Admit a customer's requests",
    body: CUSTOMER_ALONE,
    answer: CUSTOMER,
  },
  "POST /customer/delete": {
    about: "Delete customers",
    body: object({ customer_ids: IDS }, ITS_ORGANIZATION),
    answer: object({ deleted_customers: TEXTS }, { in_use: TEXTS }),
  },
  "GET /customer/info": {
    about: "Read a customer",
    query: object({ customer_id: ID }, { organization_id: TEXT }),
    answer: object({ customer_id: TEXT, customer_info: object(CUSTOMER_VIEW, SPENT_VIEW) }),
  },
  "GET /customer/list": {
    about: "List customers",
    query: object(
      {},
      {
        ...PAGE_QUERY,
        organization_id: TENANT_FILTERS.organization_id,
        budget_id: TENANT_FILTERS.budget_id,
      },
    ),
    answer: object({ customers: list(CUSTOMER), ...NEXT_CURSOR }),
  },
} as const;

const OWNED_QUERY = object({}, { ...PAGE_QUERY, organization_id: TENANT_FILTERS.organization_id });
const BUDGET_VIEW = {
  budget_id: TEXT,
  organization_id: TEXT_OR_NULL,
  managed_by: MANAGED_BY,
  ...PERIOD_VIEW,
  created_at: TIME_OR_NULL,
} as const;
const BUDGET = object(BUDGET_VIEW);

/** The routes of budgets: named blocks of limits that others refer to. */
export const BUDGET_ROUTES = {
  "POST /budget/new": {
    about: "Make a budget",
    body: object({ budget_id: ID }, { ...ITS_ORGANIZATION, ...PERIOD_FIELDS }),
    answer: object(BUDGET_VIEW, WARNINGS),
  },
  "POST /budget/update": {
    about: "Change fields of a budget",
    body: object({ budget_id: ID }, PERIOD_FIELDS),
    answer: object(BUDGET_VIEW, WARNINGS),
  },
  "POST /budget/delete": {
    about: "Delete budgets",
    body: object({ budget_ids: IDS }),
    answer: object({ deleted_budgets: TEXTS }, { in_use: TEXTS }),
  },
  "GET /budget/info": {
    about: "Read a budget",
    query: object({ budget_id: ID }),
    answer: object({ budget_id: TEXT, budget_info: BUDGET }),
  },
  "GET /budget/list": {
    about: "List budgets",
    query: OWNED_QUERY,
    answer: object({ budgets: list(BUDGET), ...NEXT_CURSOR }),
  },
} as const;

const ACCESS_GROUP = object({
  access_group: TEXT,
  organization_id: TEXT_OR_NULL,
  managed_by: MANAGED_BY,
  models: TEXTS,
  created_at: TIME_OR_NULL,
});

/** The routes of access groups: lists of models under one name. */
export const ACCESS_GROUP_ROUTES = {
  "POST /access_group/new": {
    about: "Make an access group",
    body: object({ access_group: ID }, { ...ITS_ORGANIZATION, models: NAMES }),
    answer: ACCESS_GROUP,
  },
  "POST /access_group/update": {
    about: "Change the models of an access group",
    body: object({ access_group: ID }, { models: NAMES }),
    answer: ACCESS_GROUP,
  },
  "POST /access_group/delete": {
    about: "Delete access groups",
    body: object({ access_groups: IDS }),
    answer: object({ deleted_access_groups: TEXTS }, { in_use: TEXTS }),
  },
  "GET /access_group/info": {
    about: "Read an access group",
    query: object({ access_group: ID }),
    answer: object({ access_group: TEXT, access_group_info: ACCESS_GROUP }),
  },
  "GET /access_group/list": {
    about: "List access groups",
    query: OWNED_QUERY,
    answer: object({ access_groups: list(ACCESS_GROUP), ...NEXT_CURSOR }),
  },
} as const;
