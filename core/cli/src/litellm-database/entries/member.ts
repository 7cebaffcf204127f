/** A member of a team: from the team's list, with the limits of LiteLLM_TeamMembership. */

import type { JsonObject } from "@sluice/contract";
import type { Member } from "../export/export-index.ts";
import { idAt, listAt, type Row } from "../values.ts";
import { amountsOf, modelLimitsOf } from "./amounts.ts";
import { type Reading, spendOf } from "./block.ts";
import type { Entry, Reference } from "./entry.ts";
import { unreadableColumns } from "./unreadable.ts";

/** The id of a membership among those of all. */
export function memberId(teamId: string, userId: string): string {
  return JSON.stringify([teamId, userId]);
}

/**
 * The membership. The limits of its budget become its own: they stand in place of the team's for
 * members, as in LiteLLM.
 */
export function memberEntry(
  teamId: string,
  userId: string,
  { role, row }: Member,
  { index, nowMs }: Reading,
): Entry {
  const budgetId = row && idAt(row, "budget_id");
  const budget = budgetId === undefined ? undefined : index.budgets.get(budgetId);
  const isElsewhere = budgetId !== undefined && budget === undefined;
  const references: Reference[] = [
    { table: "users", id: userId, field: "user_id" },
    { table: "teams", id: teamId, field: "team_id" },
    ...(budgetId === undefined
      ? []
      : [{ table: "budgets" as const, id: budgetId, field: "budget_id" }]),
  ];
  return {
    id: memberId(teamId, userId),
    name: `member ${JSON.stringify(userId)} of team ${JSON.stringify(teamId)}`,
    body: {
      user_id: userId,
      team_id: teamId,
      role,
      ...(budget !== undefined && limitsOf(budget)),
      ...(isElsewhere && { budget_id: budgetId }),
      ...(row !== undefined && spendOf(row, [budget], nowMs)),
    },
    references,
    bounds: [],
    unreadable: [
      ...(row === undefined ? [] : unreadableColumns(row)),
      ...(budget === undefined
        ? []
        : [...unreadableColumns(budget), ...modelLimitsOf(budget).unreadable]),
    ],
    losses: [],
  };
}

function limitsOf(budget: Row): JsonObject {
  const { perModel } = modelLimitsOf(budget);
  return {
    models: listAt(budget, "allowed_models"),
    ...amountsOf(budget),
    ...(Object.keys(perModel).length > 0 && { per_model: perModel }),
  };
}
