/** A row of LiteLLM_TeamTable. */

import type { JsonObject } from "@sluice/contract";
import { defined, hasContent, idAt, jsonAt, objectAt, type Row, textAt } from "../values.ts";
import { isObject } from "@sluice/kit";
import { type ModelNames, namesForModels } from "./model-names.ts";
import { amountsOf } from "./amounts.ts";
import { blockOf, modelsOf, type Reading, referencesOf } from "./block.ts";
import type { Entry, LeftOut, Loss, Reference } from "./entry.ts";
import { groupsOf } from "./groups.ts";
import { lost } from "./losses.ts";
import { unreadableColumns } from "./unreadable.ts";

/** The team. */
export function teamEntry(row: Row, reading: Reading): Entry | LeftOut {
  const { index, countsUserBudgets } = reading;
  const id = idAt(row, "team_id");
  if (id === undefined) return { name: "a team", leftOut: "it has no team_id" };
  const groups = groupsOf(row, index);
  const { fields, ...block } = blockOf(row, modelsOf(row, groups.names, false), reading);
  const aliases = aliasesOf(row, reading);
  const defaults = memberDefaultsOf(row, reading);
  return {
    ...block,
    id,
    name: `team ${JSON.stringify(id)}`,
    body: {
      team_id: id,
      ...defined("team_alias", textAt(row, "team_alias")),
      ...defined("organization_id", idAt(row, "organization_id")),
      ...fields,
      ...(aliases.map !== undefined && { model_aliases: aliases.map }),
      ...(defaults.amounts !== undefined && { member_defaults: defaults.amounts }),
      user_budgets: countsUserBudgets ? "count" : "ignore",
    },
    references: [
      ...block.references,
      ...referencesOf(row, [["organizations", "organization_id"]]),
      ...defaults.references,
    ],
    unreadable: [
      ...block.unreadable,
      ...defaults.unreadable,
      ...(hasContent(row, "members_with_roles") && !Array.isArray(jsonAt(row, "members_with_roles"))
        ? [{ column: "members_with_roles", why: "it is not a list of members" }]
        : []),
    ],
    losses: [
      ...block.losses,
      ...groups.losses,
      ...aliases.losses,
      ...lost(row, "team_member_permissions", "members make keys where self_service says so"),
      ...lost(row, "default_team_member_models", "new members may use the models of the team"),
    ],
  };
}

/** The team's own names of models. */
function aliasesOf(row: Row, { index }: Reading): ModelNames {
  if (!hasContent(row, "model_id")) return { losses: [] };
  const found = index.aliases.get(String(row["model_id"]));
  if (found !== undefined && isObject(jsonAt(found, "aliases")))
    return namesForModels(found, "aliases");
  const why = "the team's own names of models are in LiteLLM_ModelTable; add it to the export";
  return { losses: [{ column: "model_id", why }] };
}

/** Limits of members without a budget of their own. A maximum of 0 is none here, in LiteLLM. */
function memberDefaultsOf(row: Row, { index }: Reading): MemberDefaults {
  const id = idAt(objectAt(row, "metadata"), "team_member_budget_id");
  if (id === undefined) return { references: [], unreadable: [] };
  const references = [{ table: "budgets" as const, id, field: "team_member_budget_id" }];
  const budget = index.budgets.get(id);
  if (budget === undefined) return { references, unreadable: [] };
  const { max_budget: max, ...others } = amountsOf(budget);
  const isUnreadable = unreadableColumns(budget).length > 0;
  return {
    amounts: { ...others, ...(max !== 0 && defined("max_budget", max)) },
    references,
    unreadable: isUnreadable
      ? [{ column: "metadata.team_member_budget_id", why: "the budget cannot be read" }]
      : [],
  };
}

interface MemberDefaults {
  readonly amounts?: JsonObject;
  readonly references: readonly Reference[];
  readonly unreadable: readonly Loss[];
}
