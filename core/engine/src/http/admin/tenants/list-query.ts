/** The query of a list with a cursor. */

import type { JsonObject, TenantQuery } from "@sluice/contract";
import type { Visible } from "../../access/may.ts";
import { invalid, refuseUnknown } from "../fields.ts";

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;
const MEMBERS = {
  organization_id: "organizationId",
  user_id: "userId",
  team_id: "teamId",
  budget_id: "budgetId",
} as const;

/** A filter of a list. */
export type ListFilter = keyof typeof MEMBERS;

/** Reads `limit`, `cursor`, `search` and some filters. Throws `invalid_field`. */
export function listQuery(
  query: URLSearchParams,
  filters: readonly ListFilter[],
  visible: Visible,
): TenantQuery {
  refuseUnknown(query.keys(), [...filters, "search", "limit", "cursor"], "query parameter");
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const after = given("cursor");
  const search = given("search");
  const chosen = filters.flatMap((name) => {
    const value = given(name);
    return value === undefined ? [] : [[MEMBERS[name], value]];
  });
  return {
    ...(Object.fromEntries(chosen) as Partial<TenantQuery>),
    ...(search !== undefined && { search }),
    ...(after !== undefined && { after }),
    ...(visible !== "all" && { within: visible }),
    limit: limitOf(query.get("limit") ?? ""),
  };
}

/** The end of a list's answer. */
export function cursorView({ next }: { readonly next?: string }): JsonObject {
  return { next_cursor: next ?? null };
}

function limitOf(text: string): number {
  if (text === "") return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalid(
    "limit",
    `The query parameter limit must be a whole number from 1 to ${MAX_LIMIT}.`,
  );
}
