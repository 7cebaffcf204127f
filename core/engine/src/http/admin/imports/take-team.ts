/** Teams of another gateway. */

import { EMPTY_TEAM, type JsonObject, type TeamRecord } from "@sluice/contract";
import { requiredText } from "../fields.ts";
import { readId, readRecordChanges, TEAM_FIELDS } from "../record-fields.ts";
import { teamView } from "../record-view.ts";
import {
  added,
  IMPORT_FIELDS,
  type ImportParts,
  insert,
  missingOf,
  originOf,
  refused,
  type Result,
  unchanged,
} from "./parts.ts";
import { withoutAlias } from "./without-alias.ts";

/** Makes one team. */
export async function takeTeam(entry: JsonObject, parts: ImportParts): Promise<Result> {
  const { teams, declaredTeams, clock, isDryRun } = parts;
  const nowMs = clock.now();
  const others = ["team_id", ...IMPORT_FIELDS];
  const { members, names } = readRecordChanges(entry, TEAM_FIELDS, others, nowMs);
  const id = readId(requiredText(entry, "team_id", "the id of a team"), "team_id");
  if (declaredTeams().some((team) => team.id === id))
    return unchanged(id, "the configuration declares it");
  if ((await teams.find(id)) !== undefined) return unchanged(id, "it exists");
  const missing = await missingOf(entry, id, parts);
  if (missing !== undefined) return missing;
  const record: TeamRecord = { ...EMPTY_TEAM, ...members, id, ...originOf(entry, nowMs) };
  if (isDryRun) return added(id);
  const { outcome, changed } = await withoutAlias(record, "team_alias", (team) =>
    insert(
      parts,
      {
        kind: "team",
        id,
        place: { organizationId: team.organizationId, teamId: id },
        after: teamView(team),
        fields: names,
      },
      (records) => records.teams.insert(team),
    ),
  );
  if (outcome === "added") return added(id, changed);
  if ((await teams.find(id)) !== undefined) return unchanged(id, "it exists");
  return conflict(id, outcome);
}

/** Why a record of a tenant was not added. */
export function conflict(id: string, outcome: string): Result {
  if (outcome === "used") return unchanged(id, "it existed before and was deleted since");
  return refused(id, REASONS[outcome] ?? outcome);
}

const REASONS: Readonly<Record<string, string>> = {
  taken: "another one has an id that differs only by case, width or spaces",
  missing: "an organization, a team, a user or a budget that it names does not exist",
  border: "what it names belongs to another organization",
};
