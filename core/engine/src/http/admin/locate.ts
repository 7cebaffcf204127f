/** Finds the objects of key and team routes, as the policy sees them. */

import type { GatewayError, TeamStore } from "@sluice/contract";
import type { DeclaredKey } from "../../config/snapshot.ts";
import type { ObjectPlace } from "../access/may.ts";
import type { Located } from "../access/route.ts";
import { type FoundKey, findKey, type KeyPlaces, noKey } from "./find-key.ts";
import { declaredId } from "./record-view.ts";

/** The parts that places are found in. */
export interface PlaceParts extends KeyPlaces {
  readonly teams: Pick<TeamStore, "find">;
}

/** What belongs to a team, else to an organization, else to the whole. */
export interface Belonging {
  readonly userId?: string | null | undefined;
  readonly teamId?: string | null | undefined;
  readonly organizationId?: string | null | undefined;
}

/** The places of what belongs to a team or to an organization. */
export async function placesOf(
  { declaredTeams, teams }: Pick<PlaceParts, "declaredTeams" | "teams">,
  { teamId = null, organizationId = null }: Belonging,
): Promise<readonly ObjectPlace[]> {
  if (teamId === null) return organizationId === null ? [] : [{ organizationId, teamId }];
  const team = declaredTeams().find(({ id }) => id === teamId) ?? (await teams.find(teamId));
  return [{ organizationId: team?.organizationId ?? null, teamId }];
}

/** What a declared key belongs to, for lists: its team is declared, or known by its id alone. */
export function belongingOf(
  { declaredTeams }: Pick<PlaceParts, "declaredTeams">,
  { teamId, userId, organizationId }: Pick<DeclaredKey, "teamId" | "userId" | "organizationId">,
): Belonging {
  if (teamId === undefined) return { teamId, userId, organizationId };
  const team = declaredTeams().find(({ id }) => id === teamId);
  return { teamId, userId, organizationId: team?.organizationId };
}

/** The owners that a key itself names. */
export function ownersOf(found: FoundKey): Belonging {
  return "record" in found ? found.record : found.declared;
}

/** A key, as `findKey` finds it. Throws `not_found`, with `name` as `param`. */
export async function locateKey(
  parts: PlaceParts,
  asked: string,
  name: string,
): Promise<Located<FoundKey>> {
  return keyLocated(parts, await findKey(parts, asked, name), () => noKey(name));
}

/** A found key, with the answer for a caller who may not see it. */
export async function keyLocated(
  parts: PlaceParts,
  found: FoundKey,
  missing: () => GatewayError,
): Promise<Located<FoundKey>> {
  const isStored = "record" in found;
  const keyId = isStored ? found.record.id : declaredId(found.declared);
  const owners = ownersOf(found);
  const places = await placesOf(parts, owners);
  return { object: { places, keyId, userId: owners.userId ?? null }, found, missing };
}

/** A team by its id, whether it exists or not. */
export async function locateTeam(
  parts: PlaceParts,
  id: string,
  missing: () => GatewayError,
): Promise<Located<string>> {
  const places = await placesOf(parts, { teamId: id });
  return { object: { places, self: { kind: "team", id } }, found: id, missing };
}
