/** Every route of the extension. */

import type { ExtensionRoute, Host } from "@sluice/contract";
import type { LitellmConfig } from "../config.ts";
import { ACCESS_GROUP_ROUTES } from "../administration/access-groups.ts";
import { BUDGET_ROUTES } from "../administration/budgets.ts";
import { CUSTOMER_ROUTES } from "../administration/customers.ts";
import { KEY_ROUTES, PLAIN_KEY_ROUTES } from "../administration/keys.ts";
import { MEMBER_ROUTES } from "../administration/members.ts";
import { ORGANIZATION_ROUTES } from "../administration/organizations.ts";
import { PERMISSION_ROUTES } from "../administration/permissions.ts";
import { PLAIN_TEAM_ROUTES, TEAM_ROUTES } from "../administration/teams.ts";
import { USER_ROUTES } from "../administration/users.ts";
import { HEALTH_ROUTES } from "./health.ts";
import { missingRoutes } from "./missing.ts";
import { MODEL_ROUTES } from "./models.ts";
import { SPEND_ROUTES } from "../reports/spend.ts";
import { UNWRITABLE_ROUTES } from "./unwritable.ts";

/** Routes of administration stand on the admin listener, and on both where the operator says so. */
export function routesOf(
  { administration }: LitellmConfig,
  host: Pick<Host, "providers">,
): readonly ExtensionRoute[] {
  const ours = [
    ...UNWRITABLE_ROUTES,
    ...KEY_ROUTES,
    ...TEAM_ROUTES,
    ...MEMBER_ROUTES,
    ...PERMISSION_ROUTES,
    ...USER_ROUTES,
    ...ORGANIZATION_ROUTES,
    ...BUDGET_ROUTES,
    ...ACCESS_GROUP_ROUTES,
    ...CUSTOMER_ROUTES,
  ];
  const admin = ours.map((route) => ({ ...route, listener: "admin" as const }));
  return [
    ...HEALTH_ROUTES,
    ...MODEL_ROUTES,
    ...SPEND_ROUTES,
    ...missingRoutes(host),
    ...admin,
    ...(administration === "public"
      ? [...ours, ...PLAIN_KEY_ROUTES, ...PLAIN_TEAM_ROUTES].map((route) => ({
          ...route,
          listener: "public" as const,
        }))
      : []),
  ];
}
