/** Rows of LiteLLM_BudgetTable and LiteLLM_AccessGroupTable. */

import { defined, idAt, isoAt, listAt, type Row } from "../values.ts";
import { amountsOf, modelLimitsOf } from "./amounts.ts";
import type { Entry, LeftOut } from "./entry.ts";
import { lost } from "./losses.ts";
import { unreadableColumns } from "./unreadable.ts";

/** A budget. Its list of models is that of members: `member.ts` reads it. */
export function budgetEntry(row: Row): Entry | LeftOut {
  const id = idAt(row, "budget_id");
  if (id === undefined) return { name: "a budget", leftOut: "it has no budget_id" };
  const limits = modelLimitsOf(row);
  const body = {
    budget_id: id,
    ...amountsOf(row),
    ...(Object.keys(limits.perModel).length > 0 && { per_model: limits.perModel }),
    ...defined("created_at", isoAt(row, "created_at")),
  };
  return {
    id,
    body,
    name: `budget ${JSON.stringify(id)}`,
    references: [],
    bounds: lost(row, "tpd_limit", "tokens of a day are not limited; limit those of a minute"),
    unreadable: [...unreadableColumns(row), ...limits.unreadable],
    losses: lost(row, "temp_budget_increase", "a budget that is raised for a time is as before"),
  };
}

/** An access group. Lists of models name it by its name. */
export function groupEntry(row: Row): Entry | LeftOut {
  const id = idAt(row, "access_group_name");
  if (id === undefined) return { name: "an access group", leftOut: "it has no access_group_name" };
  const models = listAt(row, "access_model_names");
  return {
    id,
    body: { access_group: id, models, ...defined("created_at", isoAt(row, "created_at")) },
    name: `access group ${JSON.stringify(id)}`,
    references: [],
    bounds: [],
    // An unreadable list is an empty one, and an empty group names no model.
    unreadable: [],
    losses: [
      ...lost(row, "access_mcp_server_ids", "it is about tools of LiteLLM"),
      ...lost(row, "access_agent_ids", "it is about agents of LiteLLM"),
    ],
  };
}
