/**
 * What a principal may grant: nothing that it does not have, and nothing that raises its own
 * limits. The policy has allowed the action before.
 */

import type {
  AccessGroupRecord,
  BudgetRecord,
  CustomerRecord,
  KeyRecord,
  MembershipRecord,
  OrganizationRecord,
  TeamRecord,
  UserRecord,
} from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";
import { type Bound, raising } from "./bounds.ts";
import { Holdings } from "./holdings.ts";
import type { KeyPlace } from "./own-models.ts";
import { hasRole, may, type Principal } from "./may.ts";
import { organizationOf } from "./principals.ts";
import { ofOwn, ownRaise, refused, refuseChange, refuseRaise, textOf } from "./refuse-raise.ts";
import { aboveOf, SharedThings } from "./shared-things.ts";
import { type DeclaredSubjects, isSelf, type SubjectParts } from "./bounding.ts";
import { checkAccessGroup, checkBudget } from "./named-bounds.ts";
import { Subjects } from "./subjects.ts";
import type { DeclaredOwners, TagOwnerParts } from "./tag-owners.ts";

/** Where grants find records, of the store and of the files. */
export interface GrantParts extends Omit<SubjectParts & TagOwnerParts, "declared"> {
  /** What the live files declare. Absent: nothing. */
  readonly declared?: () => (DeclaredSubjects & DeclaredOwners) | undefined;
}

/** Checks what a change would grant. Every method throws `permission_denied`. */
export class Grants {
  readonly #parts: GrantParts;
  readonly #subjects: Subjects;
  readonly #has: Holdings;
  readonly #shared: SharedThings;

  constructor(parts: GrantParts) {
    this.#parts = parts;
    this.#shared = new SharedThings(parts);
    this.#subjects = new Subjects(parts);
    this.#has = new Holdings(parts, this.#subjects);
  }

  /** A key that is made, or changed from `before`. */
  async key(principal: Principal, before: KeyRecord | undefined, after: KeyRecord): Promise<void> {
    if (principal.kind === "master") return;
    const isMoved = before === undefined || !isAtSamePlace(before, after);
    const isOwn = isSelf(principal, before?.userId);
    if (isOwn && isMoved) throw ownMove(principal);
    if (isOwn && before !== undefined) refuseOwnRaise(principal, before, after);
    if (isMoved) {
      await this.#has.place(principal, after);
      await this.#has.owner(principal, after);
    }
    if (isMoved || raising(before, after) !== undefined)
      await this.#has.bounds(principal, isMoved ? undefined : before, after);
    if (isMoved || before.spendScope !== after.spendScope) await this.#has.rows(principal, after);
    await this.#shared.check(principal, isMoved ? undefined : before, after, aboveOf(after));
    const isNewAdmin = after.admin && (before?.admin !== true || before.userId !== after.userId);
    if (isNewAdmin) await this.#has.roles(principal, after.userId);
  }

  /** Limits of a new key that names some of them. */
  async limits(principal: Principal, named: Bound, place: KeyPlace): Promise<Bound> {
    return principal.kind === "master" ? named : this.#has.limits(principal, named, place);
  }

  /** A secret of a key, which its holder may act with. */
  async secret(principal: Principal, key: KeyRecord): Promise<void> {
    if (principal.kind === "master") return;
    if (key.admin) await this.#has.roles(principal, key.userId);
    await this.#has.rows(principal, key);
    await this.#has.models(principal, key);
  }

  /** A team that is made, or changed from `before`. */
  async team(
    principal: Principal,
    before: TeamRecord | undefined,
    after: TeamRecord,
  ): Promise<void> {
    if (principal.kind === "master") return;
    if (before?.organizationId !== after.organizationId) checkOrganization(principal, after);
    await this.#shared.check(principal, before, after, aboveOf(after));
    if (before === undefined || !(await this.#subjects.ofTeam(principal, before))) return;
    const whose = ofOwn(principal, "team");
    refuseRaise(before, after, whose);
    refuseChange(before, after, TEAM_MEMBERS, whose);
  }

  /** The keys of a team that is deleted, which another team gets. */
  async keysMoved(principal: Principal, teamId: string): Promise<void> {
    const isOwn = principal.kind !== "master" && this.#subjects.hasKeyIn(principal, teamId);
    if (await isOwn) throw ownMove(principal);
  }

  /** An organization that is changed. */
  async organization(
    principal: Principal,
    before: OrganizationRecord,
    after: OrganizationRecord,
  ): Promise<void> {
    if (principal.kind === "master") return;
    await this.#shared.check(principal, before, after, {});
    if (!(await this.#subjects.ofOrganization(principal, before.id))) return;
    const whose = ofOwn(principal, "organization");
    refuseRaise(before, after, whose);
    refuseChange(before, after, ["selfService"], whose);
  }

  /** A user who is made, or changed from `before`. */
  async user(
    principal: Principal,
    before: UserRecord | undefined,
    after: UserRecord,
  ): Promise<void> {
    if (principal.kind === "master") return;
    await checkPlaces(principal, before, after, this.#parts);
    await this.#shared.check(principal, before, after, { organizationIds: after.organizations });
    if (before !== undefined && isSelf(principal, before.id))
      refuseRaise(before, after, ofOwn(principal, "record"));
  }

  /** A membership that is made, or changed from `before`. */
  async membership(
    principal: Principal,
    before: MembershipRecord | undefined,
    after: MembershipRecord,
  ): Promise<void> {
    if (principal.kind === "master") return;
    await this.#shared.check(principal, before, after, { teamId: after.teamId });
    if (!isSelf(principal, after.userId)) {
      if (before === undefined) await this.#has.member(principal, after);
      return;
    }
    const whose = ofOwn(principal, "membership");
    if (before === undefined)
      throw refused(`This would make ${whose}: another administrator must do it.`);
    refuseMemberRaise(before, after, whose);
  }

  /** A budget: `before` is absent of a new one, `after` of one that is deleted. */
  async budget(
    principal: Principal,
    before: BudgetRecord | undefined,
    after: BudgetRecord | undefined,
  ): Promise<void> {
    if (principal.kind !== "master")
      await checkBudget(principal, { before, after }, this.#subjects);
  }

  /** A customer: `before` is absent of a new one, `after` of one that is deleted. */
  async customer(
    principal: Principal,
    before: CustomerRecord | undefined,
    after: CustomerRecord | undefined,
  ): Promise<void> {
    if (principal.kind === "master") return;
    const { id = "" } = after ?? before ?? {};
    if (after !== undefined) await this.#shared.ofCustomer(principal, before, after);
    if (await this.#subjects.ofCustomer(principal, id))
      refuseCustomerRaise(before, after, ofOwn(principal, "key's customer"));
  }

  /** An access group: `before` is absent of a new one, `after` of one that is deleted. */
  async accessGroup(
    principal: Principal,
    before: AccessGroupRecord | undefined,
    after: AccessGroupRecord | undefined,
  ): Promise<void> {
    if (principal.kind !== "master")
      await checkAccessGroup(principal, { before, after }, this.#subjects);
  }
}

/** The organization of a team must be one where the principal makes teams. */
function checkOrganization(principal: Principal, { organizationId }: TeamRecord): void {
  const places = organizationId === null ? [] : [{ organizationId, teamId: null }];
  if (!may(principal, "team.create", { places }))
    throw refused("The organization of the team is outside of your places.");
}

function isAtSamePlace(one: KeyRecord, other: KeyRecord): boolean {
  const { teamId, organizationId, userId } = other;
  return one.teamId === teamId && one.organizationId === organizationId && one.userId === userId;
}

/** The refusal of another place for a key. */
function ownMove(principal: Principal) {
  return refused(`The place of ${ofOwn(principal, "key")} stays: its user, team and organization.`);
}

/** Refuses roles and organizations that the principal may not give or take. */
async function checkPlaces(
  principal: Principal,
  before: UserRecord | undefined,
  after: UserRecord,
  parts: SubjectParts,
): Promise<void> {
  for (const { place } of differing(before?.roles ?? [], after.roles))
    if (!hasRole(principal, "admin", place, await organizationOf(place, parts)))
      throw refused(`To give or take a role at ${textOf(place)}, you need the role admin there.`);
  for (const id of differing(before?.organizations ?? [], after.organizations))
    if (!hasRole(principal, "admin", { kind: "organization", id }))
      throw refused("The organization of the user is outside of your places.");
  for (const { role, place } of before?.roles ?? [])
    if (!hasRole(principal, role, place, await organizationOf(place, parts)))
      throw refused(`The user has the role ${role} at ${textOf(place)}, which you do not have.`);
}

function refuseMemberRaise(before: MembershipRecord, after: MembershipRecord, whose: string): void {
  refuseRaise(before, after, whose);
  if (before.role !== after.role && after.role === "admin") throw ownRaise(whose, "role");
}

/** Without a record the limits for unknown customers hold. */
function refuseCustomerRaise(
  before: CustomerRecord | undefined,
  after: CustomerRecord | undefined,
  whose: string,
): void {
  if (before === undefined || after === undefined) throw ownRaise(whose, "customer_id");
  refuseRaise(before, after, whose);
}

/** Refuses a change that raises what an own key allows, its customer included. */
function refuseOwnRaise(principal: Principal, before: KeyRecord, after: KeyRecord): void {
  const whose = ofOwn(principal, "key");
  refuseRaise(before, after, whose);
  if (before.customerId !== null && after.customerId !== before.customerId)
    throw ownRaise(whose, "customer_id");
  if (!before.mayNameCustomers && after.mayNameCustomers)
    throw ownRaise(whose, "may_name_customers");
}

/** Members of a team of which any change may raise something. */
const TEAM_MEMBERS = [
  "selfService",
  "memberDefaults",
  "userBudgets",
  "modelAliases",
  "organizationId",
] as const;

/** What is on one of two lists alone. */
function differing<One>(some: readonly One[], others: readonly One[]): readonly One[] {
  const isIn = (one: One, list: readonly One[]): boolean =>
    list.some((other) => isDeepStrictEqual(one, other));
  return [...some.filter((one) => !isIn(one, others)), ...others.filter((one) => !isIn(one, some))];
}
