/** What a principal has, and may therefore give: users, models, limits and roles. */

import type { KeyRecord, MembershipRecord, OrganizationRecord } from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";
import { areWithin, type Bound, exceeding, tightest } from "./bounds.ts";
import { type KeyPlace, listsOf } from "./own-models.ts";
import { limitsWithin } from "./limits-within.ts";
import { hasRole, may, type Principal } from "./may.ts";
import { organizationOf, rolesOf } from "./principals.ts";
import { refused, textOf } from "./refuse-raise.ts";
import type { SubjectParts } from "./bounding.ts";
import type { Subjects } from "./subjects.ts";

/** Checks what a principal has. Every method throws `permission_denied`. */
export class Holdings {
  readonly #parts: SubjectParts;
  readonly #subjects: Subjects;

  constructor(parts: SubjectParts, subjects: Subjects) {
    this.#parts = parts;
    this.#subjects = subjects;
  }

  /** The place of a key must be one where the principal makes keys. */
  async place(principal: Principal, { teamId, organizationId }: KeyRecord): Promise<void> {
    const ofTeam =
      teamId === null ? null : await organizationOf({ kind: "team", id: teamId }, this.#parts);
    const at = { teamId, organizationId: ofTeam ?? (teamId === null ? organizationId : null) };
    const places = at.teamId === null && at.organizationId === null ? [] : [at];
    if (!may(principal, "key.create", { places }))
      throw refused("The team or organization of the key is outside of your places.");
  }

  /** The user of a key must be the caller, or one of the caller's places. */
  async owner(principal: Principal, { userId }: KeyRecord): Promise<void> {
    if (userId === null || userId === principal.userId) return;
    if (hasRole(principal, "keys", { kind: "whole" })) return;
    if (!(await this.#isUserOf(principal, userId)))
      throw refused("The user of the key is outside of your places, or does not exist.");
  }

  /** A new member must be a user of the organization, or of a place of the principal. */
  async member(principal: Principal, { userId, teamId }: MembershipRecord): Promise<void> {
    if (hasRole(principal, "keys", { kind: "whole" })) return;
    const organizationId = await organizationOf({ kind: "team", id: teamId }, this.#parts);
    const user = await this.#parts.tenants?.user.find({ id: userId });
    const isOfOrganization =
      organizationId !== null && user?.organizations.includes(organizationId) === true;
    if (!isOfOrganization && !(await this.#isUserOf(principal, userId)))
      throw refused("The user is outside of your places, or does not exist.");
  }

  /** Whether a user belongs to a place where the principal makes keys. */
  async #isUserOf(principal: Principal, userId: string): Promise<boolean> {
    const { user, teams } = await this.#subjects.of(userId);
    if (user === undefined) return false;
    return (
      user.organizations.some((id) => hasRole(principal, "keys", { kind: "organization", id })) ||
      teams.some(({ id, organizationId }) =>
        hasRole(principal, "keys", { kind: "team", id }, organizationId),
      )
    );
  }

  /** A key that opens the admin listener gives its holder the roles of its user. */
  async roles(principal: Principal, userId: string | null): Promise<void> {
    if (userId === null || userId === principal.userId) return;
    for (const { role, place } of await rolesOf(userId, this.#parts))
      if (!hasRole(principal, role, place, await organizationOf(place, this.#parts)))
        throw refused(
          `The user has the role ${role} at ${textOf(place)}, which you do not have: the key would give it to its holder.`,
        );
  }

  /** A key that reads the rows of its user reads those of every place of the user. */
  async rows(
    principal: Principal,
    { userId, spendScope }: Pick<KeyRecord, "userId" | "spendScope">,
  ): Promise<void> {
    if (spendScope !== "user" || userId === null || userId === principal.userId) return;
    if (hasRole(principal, "viewer", { kind: "whole" })) return;
    const { user, teams } = await this.#subjects.of(userId);
    const organizations = user?.organizations ?? [];
    const isSeen =
      organizations.length + teams.length > 0 &&
      organizations.every((id) => hasRole(principal, "viewer", { kind: "organization", id })) &&
      teams.every(({ id, organizationId }) =>
        hasRole(principal, "viewer", { kind: "team", id }, organizationId),
      );
    if (!isSeen)
      throw refused(
        "The field spend_scope would show rows of the user at places that you may not see.",
        "spend_scope",
      );
  }

  /** The bounds of the team and of the organization hold for who has no role above them. */
  async bounds(principal: Principal, before: KeyRecord | undefined, key: KeyRecord): Promise<void> {
    const places = await this.#binding(principal, key);
    for (const place of places) refuseBeyond(key, place);
    const isSame = before !== undefined && isDeepStrictEqual(before.models, key.models);
    if (places.length > 0 && !isSame) await this.models(principal, key);
  }

  /**
   * A key names no model that the principal may not use, unless the limits of its own user hold for
   * it. A key without a list would name all.
   */
  async models(principal: Principal, key: KeyRecord): Promise<void> {
    if ((await this.#binding(principal, key)).length === 0) return;
    for (const list of await listsOf(principal, key, this.#parts))
      if (key.models.length === 0 || !areWithin(key.models, list))
        throw refused("The field models names a model that you may not use.", "models");
  }

  /** Limits of a new key, within the rules of self-service that bound what a principal makes. */
  async limits(principal: Principal, named: Bound, place: KeyPlace): Promise<Bound> {
    const places = await this.#binding(principal, place);
    if (places.length === 0) return named;
    const lists = await listsOf(principal, place, this.#parts);
    const own = lists.map((models) => ({ models }));
    const rules = places.flatMap(({ selfService }) => selfService ?? []);
    if (rules.length === 0) {
      const { models } = tightest(own);
      return named.models !== undefined || models === undefined ? named : { ...named, models };
    }
    const bounds = rules.map(({ upperBounds }) => upperBounds);
    const defaults = rules.map((rule) => rule.defaults);
    return limitsWithin(named, [...bounds, ...own], defaults);
  }

  /** The team and the organization of a key, where the principal has no role above them. */
  async #binding(
    principal: Principal,
    { teamId, organizationId: own }: KeyPlace,
  ): Promise<readonly Binding[]> {
    if (hasRole(principal, "keys", { kind: "whole" })) return [];
    const { tenants, teams } = this.#parts;
    const team = teamId === null ? undefined : await teams.find(teamId);
    const id = team?.organizationId ?? own;
    const organization = id === null ? undefined : await tenants?.organization.find({ id });
    const isAbove = id !== null && hasRole(principal, "keys", { kind: "organization", id });
    return [isAbove ? undefined : team, organization].flatMap((place) => place ?? []);
  }
}

/** What bounds the keys of a place. */
type Binding = Pick<OrganizationRecord, "models" | "selfService">;

function refuseBeyond(key: KeyRecord, { models, selfService }: Binding): void {
  const field = selfService === null ? undefined : exceeding(key, selfService.upperBounds);
  if (field !== undefined)
    throw refused(`The field ${field} is beyond the upper bound of the team or organization.`);
  if (key.models.length > 0 && !areWithin(key.models, models))
    throw refused("The field models names a model that the team or organization may not use.");
}
