/** Teams at rest. */

import type { Deletion, TeamStore } from "@sluice/contract";
import { type Compilable, sql } from "kysely";
import { deleted, deleteOrBlock } from "./deletions.ts";
import { effectiveOrganization } from "./keys.ts";
import { TEAM } from "./shapes.ts";
import { createTable, type Place } from "./table.ts";

/** Makes the team store. */
export function createTeamStore(place: Place): TeamStore {
  const { find, ...table } = createTable(TEAM, place);
  return {
    ...table,
    find: (id) => find({ id }),
    update: (id, changes) => table.update({ id }, changes),
    async delete(id, keys) {
      const writer = place.writer();
      const ofTeam = sql<boolean>`team_id = ${id} and exists (select 1 from team where id = ${id})`;
      const withKeys =
        typeof keys === "string"
          ? deleteOrBlock(writer, ofTeam, keys)
          : moveKeys(place, id, keys.moveToTeam);
      // Keys that could not be moved keep the team.
      const withTeam = writer
        .deleteFrom("team")
        .where("id", "=", id)
        .$if(typeof keys !== "string", (query) =>
          query.where(sql<boolean>`not exists (select 1 from virtual_key where team_id = ${id})`),
        );
      const deletion = await deleted(place, withKeys, withTeam);
      if (deletion.outcome !== "absent" || typeof keys === "string") return deletion;
      return { ...deletion, outcome: await whyKept(find, id, keys.moveToTeam) };
    },
  };
}

/** Moves all keys of a team to another one of the same organization. */
function moveKeys({ writer }: Place, from: string, to: string): Compilable<unknown> {
  const isWithin = sql<boolean>`exists (select 1 from team one, team other
    where one.id = ${from} and other.id = ${to} and one.organization_id is not distinct from other.organization_id)`;
  return writer()
    .updateTable("virtual_key")
    .set({ team_id: to, effective_organization_id: effectiveOrganization(to, undefined) })
    .where("team_id", "=", from)
    .where(isWithin)
    .returning("id");
}

/** Why a team is still there after its keys were to be moved. */
async function whyKept(
  find: (id: { readonly id: string }) => Promise<unknown>,
  id: string,
  to: string,
): Promise<Deletion["outcome"]> {
  if ((await find({ id })) === undefined) return "absent";
  return (await find({ id: to })) === undefined ? "missing" : "border";
}
