/** What lists with a cursor have in common. */

import { TEXT, TEXT_OR_NULL } from "../schema.ts";

/** The bounds of a page. */
export const PAGE_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: 200, description: "50 unless given." },
  cursor: { type: "string", description: "next_cursor of the page before." },
  search: { type: "string", description: "The begin of an id or an alias." },
} as const;

/** Filters of lists of tenants. */
export const TENANT_FILTERS = {
  organization_id: TEXT,
  user_id: TEXT,
  team_id: TEXT,
  budget_id: TEXT,
} as const;

/** The place where the next page begins; null at the end. */
export const NEXT_CURSOR = { next_cursor: TEXT_OR_NULL } as const;
