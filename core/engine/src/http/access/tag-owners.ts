/** Who owns a tag: the records that carry it, of the store and of the files, by their places. */

import type { KeyStore, TagOwner } from "@sluice/contract";
import type { Snapshot } from "../../config/snapshot.ts";
import type { ObjectPlace } from "./may.ts";
import { organizationOf, type PrincipalParts } from "./principals.ts";

/** Where the owners of tags are found. */
export interface TagOwnerParts extends PrincipalParts {
  readonly keys: PrincipalParts["keys"] & Pick<KeyStore, "tagOwners">;
  /** What the live files declare. Absent: nothing. */
  readonly declared?: () => DeclaredOwners | undefined;
}

/** Declared records that may carry tags. */
export type DeclaredOwners = Pick<Snapshot, "keys" | "teams" | "tenants">;

/** The places of each record that carries a tag. A record without a place has none. */
export async function ownersOf(
  tag: string,
  parts: TagOwnerParts,
): Promise<readonly (readonly ObjectPlace[])[]> {
  const stored = (await parts.keys.tagOwners?.(tag)) ?? [];
  const found = await Promise.all(stored.map((owner) => placesOf(owner, parts)));
  return [...found, ...(await declaredOwners(tag, parts))];
}

async function placesOf(owner: TagOwner, parts: TagOwnerParts): Promise<readonly ObjectPlace[]> {
  switch (owner.kind) {
    case "organization":
      return ofOrganizations([owner.id]);
    case "customer":
      return ofOrganizations([owner.organizationId]);
    case "team":
    case "membership":
      return ofTeam(owner.teamId, parts);
    case "user":
      return ofOrganizations((await parts.tenants?.user.find({ id: owner.id }))?.organizations);
    case "key": {
      const key = await parts.keys.find(owner.id);
      const { teamId = null, organizationId = null } = key ?? {};
      return teamId === null ? ofOrganizations([organizationId ?? ""]) : ofTeam(teamId, parts);
    }
  }
}

async function declaredOwners(
  tag: string,
  parts: TagOwnerParts,
): Promise<readonly (readonly ObjectPlace[])[]> {
  const files = parts.declared?.();
  if (files === undefined) return [];
  const carries = ({ tags }: { readonly tags: readonly string[] }): boolean => tags.includes(tag);
  const { organization, user, membership, customer } = files.tenants;
  const teamIds = [
    ...files.teams.filter(carries).map(({ id }) => id),
    ...membership.filter(carries).map(({ teamId }) => teamId),
  ];
  const places: (readonly ObjectPlace[])[] = [
    ...organization.filter(carries).map(({ id }) => ofOrganizations([id])),
    ...user.filter(carries).map(({ organizations }) => ofOrganizations(organizations)),
    ...customer.filter(carries).map(({ organizationId }) => ofOrganizations([organizationId])),
  ];
  for (const { teamId, organizationId } of files.keys.filter(carries)) {
    if (teamId === undefined) places.push(ofOrganizations([organizationId ?? ""]));
    else teamIds.push(teamId);
  }
  for (const id of teamIds) places.push(await ofTeam(id, parts));
  return places;
}

async function ofTeam(teamId: string, parts: PrincipalParts): Promise<readonly ObjectPlace[]> {
  return [{ teamId, organizationId: await organizationOf({ kind: "team", id: teamId }, parts) }];
}

function ofOrganizations(ids: readonly string[] = []): readonly ObjectPlace[] {
  return ids.filter((id) => id !== "").map((organizationId) => ({ organizationId, teamId: null }));
}
