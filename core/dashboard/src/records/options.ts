/** Options of comboboxes, from the lists of the gateway. */

import { get } from "../api/client.ts";
import type { Option } from "../parts/combobox.tsx";

const LIMIT = 20;

type Row = Readonly<Record<string, unknown>>;

/** Options from a list of tenants. */
function fromList(path: string, list: string, id: string, alias: string) {
  return async (search: string, signal: AbortSignal): Promise<readonly Option[]> => {
    const answer = await get<Readonly<Record<string, readonly Row[]>>>(
      path,
      { search, limit: LIMIT },
      { signal },
    );
    return (answer[list] ?? []).map((row) => ({
      value: String(row[id]),
      ...(typeof row[alias] === "string" && row[alias] !== row[id] && { detail: row[alias] }),
    }));
  };
}

/** Teams. */
export const teamOptions = fromList("/team/list", "teams", "team_id", "team_alias");

/** Users. */
export const userOptions = fromList("/user/list", "users", "user_id", "user_email");

/** Organizations. */
export const organizationOptions = fromList(
  "/organization/list",
  "organizations",
  "organization_id",
  "organization_alias",
);

/** Named budgets. */
export const budgetOptions = fromList("/budget/list", "budgets", "budget_id", "");

/** Access groups. */
export const groupOptions = fromList("/access_group/list", "access_groups", "access_group", "");

/** Models and access groups. */
export async function modelOptions(
  search: string,
  signal: AbortSignal,
): Promise<readonly Option[]> {
  const groups = await groupOptions(search, signal);
  return groups.map(({ value }) => ({ value, detail: "access group" }));
}
