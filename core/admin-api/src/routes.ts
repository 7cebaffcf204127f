/** All routes of the admin listener whose form is described here. */

import { CONFIG_ROUTES } from "./routes/config.ts";
import { DEPLOYMENT_ROUTES, OVERVIEW_ROUTES } from "./routes/deployments.ts";
import { FLEET_ROUTES } from "./routes/fleet.ts";
import { GUARDRAIL_ROUTES } from "./routes/guardrails.ts";
import { KEY_ROUTES } from "./routes/keys.ts";
import { MODEL_ROUTES } from "./routes/models.ts";
import { PIPELINE_ROUTES } from "./routes/pipelines.ts";
import { PLAYGROUND_ROUTES } from "./routes/playground.ts";
import { REQUEST_ROUTES } from "./routes/requests.ts";
import { SESSION_ROUTES, SIGN_IN_ROUTES } from "./routes/sessions.ts";
import { SPEND_ROUTES } from "./routes/spend.ts";
import { SYSTEM_ROUTES } from "./routes/system.ts";
import { MEMBER_ROUTES, TEAM_ROUTES } from "./routes/teams.ts";
import {
  ACCESS_GROUP_ROUTES,
  BUDGET_ROUTES,
  CUSTOMER_ROUTES,
  ORGANIZATION_ROUTES,
  USER_ROUTES,
} from "./routes/tenants.ts";
import type { AnswerOf, BodyOf, QueryOf } from "./route.ts";

/**
 * The version of the admin API. A dashboard of another version shows which of its screens the
 * gateway does not have. Members may be added to answers within a version.
 */
export const ADMIN_API = 1;

/** The types of the routes. */
export type AdminRouteSchemas = typeof KEY_ROUTES &
  typeof TEAM_ROUTES &
  typeof MEMBER_ROUTES &
  typeof ORGANIZATION_ROUTES &
  typeof USER_ROUTES &
  typeof CUSTOMER_ROUTES &
  typeof BUDGET_ROUTES &
  typeof ACCESS_GROUP_ROUTES &
  typeof REQUEST_ROUTES &
  typeof CONFIG_ROUTES &
  typeof PIPELINE_ROUTES &
  typeof FLEET_ROUTES &
  typeof SIGN_IN_ROUTES &
  typeof SESSION_ROUTES &
  typeof DEPLOYMENT_ROUTES &
  typeof OVERVIEW_ROUTES &
  typeof MODEL_ROUTES &
  typeof PLAYGROUND_ROUTES &
  typeof GUARDRAIL_ROUTES &
  typeof SPEND_ROUTES &
  typeof SYSTEM_ROUTES;

/** The routes by `METHOD /path`. `:name` is a segment of the path, `*name` one or more. */
export const ADMIN_ROUTES: AdminRouteSchemas = {
  ...KEY_ROUTES,
  ...TEAM_ROUTES,
  ...MEMBER_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...USER_ROUTES,
  ...CUSTOMER_ROUTES,
  ...BUDGET_ROUTES,
  ...ACCESS_GROUP_ROUTES,
  ...REQUEST_ROUTES,
  ...CONFIG_ROUTES,
  ...PIPELINE_ROUTES,
  ...FLEET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...SESSION_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...OVERVIEW_ROUTES,
  ...MODEL_ROUTES,
  ...PLAYGROUND_ROUTES,
  ...GUARDRAIL_ROUTES,
  ...SPEND_ROUTES,
  ...SYSTEM_ROUTES,
};

/** `METHOD /path` of a route. */
export type AdminRouteName = keyof AdminRouteSchemas;

/** What a route answers, what body it takes, and what query parameters. */
export type AdminAnswer<Name extends AdminRouteName> = AnswerOf<AdminRouteSchemas[Name]>;
export type AdminBody<Name extends AdminRouteName> = BodyOf<AdminRouteSchemas[Name]>;
export type AdminQuery<Name extends AdminRouteName> = QueryOf<AdminRouteSchemas[Name]>;
