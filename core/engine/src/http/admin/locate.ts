/** Finds the objects of key and team routes, as the policy sees them. */

import type { GatewayError } from "@sluice/contract";
import type { ObjectPlace } from "../access/may.ts";
import { type FoundKey, findKey, type KeyPlaces, noKey } from "./find-key.ts";
import { declaredId } from "./record-view.ts";
import type { Located } from "../access/route.ts";

/** The place of a team or of what belongs to it; none without a team. */
export function placesOfTeam(teamId: string | null | undefined): readonly ObjectPlace[] {
  return teamId == null ? [] : [{ organizationId: null, teamId }];
}

/** A key, as `findKey` finds it. Throws `not_found`, with `name` as `param`. */
export async function locateKey(
  places: KeyPlaces,
  asked: string,
  name: string,
): Promise<Located<FoundKey>> {
  return keyLocated(await findKey(places, asked, name), () => noKey(name));
}

/** A found key, with the answer for a caller who may not see it. */
export function keyLocated(found: FoundKey, missing: () => GatewayError): Located<FoundKey> {
  const [keyId, { teamId, userId }] =
    "record" in found
      ? [found.record.id, found.record]
      : [declaredId(found.declared), found.declared];
  return {
    object: { places: placesOfTeam(teamId), keyId, userId: userId ?? null },
    found,
    missing,
  };
}

/** A team by its id, whether it exists or not. */
export function locateTeam(id: string, missing: () => GatewayError): Located<string> {
  const object = { places: placesOfTeam(id), self: { kind: "team", id } as const };
  return { object, found: id, missing };
}
