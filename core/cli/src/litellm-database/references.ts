/** What an entry names: without it, the entry would be less limited. */

import type { JsonObject } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import type { Entry, Reference, TableName } from "./entries/entry.ts";
import type { ExportIndex } from "./export/export-index.ts";
import { type ReadTable, SHAPES } from "./export/tables.ts";

/** Ids of rows that were left out, by their tables. */
export type LeftOutIds = ReadonlyMap<TableName, Set<string>>;

/** An entry whose references were compared with the export. */
export type Resolved =
  | {
      readonly body: JsonObject;
      /** What the gateway must have, because the export has not. */
      readonly requires: readonly JsonObject[];
    }
  | { readonly leftOut: string };

/** `accepted` are fields whose references may be dropped. */
export function resolve(
  entry: Entry,
  index: ExportIndex,
  leftOut: LeftOutIds,
  accepted: readonly string[],
): Resolved {
  let { body } = entry;
  const requires: JsonObject[] = [];
  for (const reference of entry.references) {
    const { table, id, field } = reference;
    const isLeftOut = leftOut.get(table)?.has(id) === true;
    if (!isLeftOut && isInExport(reference, index)) continue;
    if (accepted.includes(field)) body = without(body, reference);
    else if (isLeftOut) return { leftOut: `${field}: what it names was left out` };
    else if (field === INLINE)
      return { leftOut: `${field}: the budget is not in the export; add ${SHAPES.budgets.name}` };
    else requires.push(requirementOf(table, id));
  }
  return { body, requires };
}

/** Why an entry is left out that names something which neither the export nor the gateway has. */
export function missingReason(kind: string): string {
  const table = TABLE_OF[kind];
  return `its ${kind} is neither in the export nor in the gateway${table === undefined ? "" : `; add ${SHAPES[table].name}`}`;
}

const TABLE_OF: Readonly<Record<string, ReadTable>> = {
  team: "teams",
  organization: "organizations",
  user: "users",
  budget: "budgets",
  membership: "team_memberships",
};

/** Limits of a budget that are copied: the gateway's budget would not do. */
const INLINE = "team_member_budget_id";

function isInExport({ table, id }: Reference, index: ExportIndex): boolean {
  switch (table) {
    case "members": {
      const [teamId, userId] = parseJson(id) as [string, string];
      return index.members.get(teamId)?.has(userId) === true;
    }
    case "budgets":
    case "organizations":
    case "users":
    case "teams":
      return index[table].has(id);
    default:
      return false;
  }
}

function requirementOf(table: TableName, id: string): JsonObject {
  if (table !== "members") return { kind: table.slice(0, -1), id };
  const [teamId, userId] = parseJson(id) as [string, string];
  return { kind: "membership", user_id: userId, team_id: teamId };
}

/** The body without a reference. A user who does not exist stays as a label. */
function without(body: JsonObject, { table, id, field }: Reference): JsonObject {
  if (table === "users" || table === "members") return body;
  if (field !== "organizations") {
    const { [field]: _dropped, ...rest } = body;
    return rest;
  }
  const names = (body["organizations"] as readonly string[]).filter((name) => name !== id);
  const roles = (body["roles"] as readonly JsonObject[]).filter(
    (grant) => grant["organization_id"] !== id,
  );
  return { ...body, organizations: names, roles };
}
