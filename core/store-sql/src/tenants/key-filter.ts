/** The conditions of the filters of keys. */

import type { KeyQuery } from "@sluice/contract";
import type { KeyTable } from "../schema.ts";
import { type Condition, is } from "./shape.ts";

type Filter = Exclude<keyof KeyQuery, "offset" | "limit" | "within">;

/** The column of each filter. A filter without one would select every key. */
const COLUMNS: Readonly<Record<Filter, keyof KeyTable>> = {
  userId: "user_id",
  teamId: "team_id",
  organizationId: "effective_organization_id",
  customerId: "customer_id",
  budgetId: "budget_id",
  alias: "alias",
  madeWith: "made_with",
};

/** What a key belongs to. */
export function keyConditions(query: Pick<KeyQuery, Filter>): readonly Condition[] {
  return (Object.keys(COLUMNS) as Filter[]).flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [is(COLUMNS[name])(value)];
  });
}
