/** Admin routes that take records of another gateway. */

import {
  isGatewayError,
  type JsonObject,
  type JsonValue,
  type PolicyAction,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import {
  type AdminRequest,
  type AdminRoute,
  type AdminRoutes,
  atWhole,
} from "../../access/route.ts";
import { invalid, readFlag, refuseUnknown } from "../fields.ts";
import {
  type ImportParts,
  type ImportRouteParts,
  refused,
  type Result,
  type TakeEntry,
} from "./parts.ts";
import { takeKey } from "./take-key.ts";
import { takeTeam } from "./take-team.ts";
import { takeMember, takeTenant } from "./take-tenant.ts";

/** Entries of one request. */
const MAX_ENTRIES = 200;

/** The routes. Each entry is added whole or not at all; a repeated request changes nothing. */
export function importRoutes(parts: ImportRouteParts): AdminRoutes {
  const { tenants } = parts;
  const route = (action: PolicyAction, name: string, take: TakeEntry): AdminRoute =>
    atWhole(action, (request) => takeAll(request, name, take, parts));
  return {
    "POST /team/import": route("team.import", "teams", takeTeam),
    "POST /key/import": route("key.import", "keys", takeKey),
    ...(tenants !== undefined && {
      "POST /budget/import": route("tenant.import", "budgets", takeTenant("budget", tenants)),
      "POST /organization/import": route(
        "tenant.import",
        "organizations",
        takeTenant("organization", tenants),
      ),
      "POST /access_group/import": route(
        "tenant.import",
        "access_groups",
        takeTenant("access_group", tenants),
      ),
      "POST /user/import": route("tenant.import", "users", takeTenant("user", tenants)),
      "POST /team/member/import": route("tenant.import", "members", takeMember(tenants)),
      "POST /customer/import": route("tenant.import", "customers", takeTenant("customer", tenants)),
    }),
  };
}

async function takeAll(
  request: AdminRequest,
  name: string,
  take: TakeEntry,
  parts: ImportRouteParts,
): Promise<JsonObject> {
  const { body } = request;
  refuseUnknown(Object.keys(body), [name, "dry_run"], "field");
  const isDryRun = readFlag(body["dry_run"] ?? false, "dry_run");
  const entries = body[name];
  if (!Array.isArray(entries) || entries.length > MAX_ENTRIES)
    throw invalid(name, `The field ${name} must be an array of at most ${MAX_ENTRIES} objects.`);
  const how: ImportParts = { ...parts, request, isDryRun };
  const results: JsonObject[] = [];
  for (const entry of entries as readonly JsonValue[])
    results.push({ ...(await resultOf(entry, take, how)) });
  return { results };
}

/** A refused field refuses its entry alone. Throws what is no fault of the entry. */
async function resultOf(entry: JsonValue, take: TakeEntry, parts: ImportParts): Promise<Result> {
  try {
    if (!isObject(entry)) throw invalid("entry", "The entry must be an object.");
    return await take(entry, parts);
  } catch (error) {
    if (!isGatewayError(error) || error.code !== "invalid_field") throw error;
    return refused(null, error.message);
  }
}
