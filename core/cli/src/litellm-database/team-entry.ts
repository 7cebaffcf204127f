/** A row of LiteLLM_TeamTable as an imported team. */

import { defined, type Entry, sharedBounds, sharedFields, sharedLosses } from "./entry.ts";
import { lost } from "./loss.ts";
import { numberAt, type Row, textAt } from "./values.ts";

/** The team, or the reason why it is left out. */
export function teamEntry(row: Row, nowMs: number): Entry | { readonly leftOut: string } {
  const id = textAt(row, "team_id");
  if (id === undefined) return { leftOut: "a team without a team_id" };
  const fields = sharedFields(row, nowMs);
  const [soft, max] = [numberAt(row, "soft_budget"), fields["max_budget"]];
  const isSoft = soft !== undefined && soft >= 0 && !(typeof max === "number" && soft > max);
  const body = {
    team_id: id,
    ...defined("team_alias", textAt(row, "team_alias")),
    ...fields,
    ...(isSoft && { soft_budget: soft }),
  };
  const losses = [
    ...lost(row, "model_id", "the team's other names of models are in another table"),
    ...lost(row, "members_with_roles", "members are in other tables; their keys keep user_id"),
    ...sharedLosses(row),
  ];
  return { body, name: `team ${JSON.stringify(id)}`, bounds: sharedBounds(row), losses };
}
