/** The models that a principal may use itself, and may therefore give. */

import type { KeyRecord } from "@sluice/contract";
import { selvesOf, type SubjectParts } from "./bounding.ts";
import type { Principal } from "./may.ts";

/** What a key belongs to. */
export type KeyPlace = Pick<KeyRecord, "userId" | "teamId" | "organizationId">;

/**
 * The lists of models that hold for the principal in the place of a key: those of its user and of
 * the user's membership, unless the key is that user's.
 */
export async function listsOf(
  principal: Principal,
  { userId, teamId }: KeyPlace,
  { tenants, teams }: SubjectParts,
): Promise<readonly (readonly string[])[]> {
  const team = teamId === null ? undefined : await teams.find(teamId);
  const lists: (readonly string[])[] = [];
  for (const id of selvesOf(principal).filter((one) => one !== userId)) {
    lists.push((await tenants?.user.find({ id }))?.models ?? []);
    if (team === undefined) continue;
    const member = await tenants?.membership.find({ userId: id, teamId: team.id });
    if (member === undefined) continue;
    const ofMembers = team.memberDefaults.models ?? [];
    lists.push(member.models.length > 0 ? member.models : ofMembers);
  }
  return lists.filter((list) => list.length > 0);
}
