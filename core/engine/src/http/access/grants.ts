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
import { areWithin, type Bound, exceeding, raising } from "./bounds.ts";
import { Holdings } from "./holdings.ts";
import { hasRole, may, type Principal } from "./may.ts";
import { organizationOf } from "./principals.ts";
import { ownRaise, refused, refuseChange, refuseRaise, textOf } from "./refuse-raise.ts";
import { aboveOf, SharedThings } from "./shared-things.ts";
import { type SubjectParts, Subjects } from "./subjects.ts";
import type { TagOwnerParts } from "./tag-owners.ts";

/** Checks what a change would grant. Every method throws `permission_denied`. */
export class Grants {
  readonly #parts: SubjectParts;
  readonly #subjects: Subjects;
  readonly #has: Holdings;
  readonly #shared: SharedThings;

  constructor(parts: SubjectParts & TagOwnerParts) {
    this.#parts = parts;
    this.#shared = new SharedThings(parts);
    this.#subjects = new Subjects(parts);
    this.#has = new Holdings(parts, this.#subjects);
  }

  /** A key that is made, or changed from `before`. */
  async key(principal: Principal, before: KeyRecord | undefined, after: KeyRecord): Promise<void> {
    if (principal.kind === "master") return;
    const isMoved =
      before === undefined ||
      before.teamId !== after.teamId ||
      before.organizationId !== after.organizationId ||
      before.userId !== after.userId;
    const isOwn = principal.userId !== undefined && before?.userId === principal.userId;
    if (isOwn && isMoved)
      throw refused("A key of your own stays with its user, team and organization.");
    if (isOwn) refuseOwnRaise(before, after);
    if (isMoved) {
      await this.#has.place(principal, after);
      await this.#has.owner(principal, after);
    }
    if (isMoved || raising(before, after) !== undefined) await this.#has.bounds(principal, after);
    if (isMoved || before.spendScope !== after.spendScope) await this.#has.rows(principal, after);
    await this.#shared.check(principal, isMoved ? undefined : before, after, aboveOf(after));
    const isNewAdmin = after.admin && (before?.admin !== true || before.userId !== after.userId);
    if (isNewAdmin) await this.#has.roles(principal, after.userId);
  }

  /** Limits of a new key that names some of them. */
  async limits(
    principal: Principal,
    named: Bound,
    place: Pick<KeyRecord, "teamId" | "organizationId">,
  ): Promise<Bound> {
    return principal.kind === "master" ? named : this.#has.limits(principal, named, place);
  }

  /** A secret of a key, which its holder may act with. */
  async secret(principal: Principal, key: KeyRecord): Promise<void> {
    if (principal.kind === "master") return;
    if (key.admin) await this.#has.roles(principal, key.userId);
    await this.#has.rows(principal, key);
  }

  /** A team that is made, or changed from `before`. */
  async team(
    principal: Principal,
    before: TeamRecord | undefined,
    after: TeamRecord,
  ): Promise<void> {
    if (principal.kind === "master") return;
    if (before?.organizationId !== after.organizationId) {
      const places = [{ organizationId: after.organizationId, teamId: null }];
      const object = { places: after.organizationId === null ? [] : places };
      if (!may(principal, "team.create", object))
        throw refused("The organization of the team is outside of your places.");
    }
    await this.#shared.check(principal, before, after, aboveOf(after));
    if (before === undefined || !(await this.#subjects.ofTeam(principal, before))) return;
    refuseRaise(before, after, "your own team");
    refuseChange(before, after, TEAM_MEMBERS, "your own team");
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
    refuseRaise(before, after, "your own organization");
    refuseChange(before, after, ["selfService"], "your own organization");
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
    if (before !== undefined && before.id === principal.userId)
      refuseRaise(before, after, "your own record");
  }

  /** A membership that is made, or changed from `before`. */
  async membership(
    principal: Principal,
    before: MembershipRecord | undefined,
    after: MembershipRecord,
  ): Promise<void> {
    if (principal.kind === "master") return;
    await this.#shared.check(principal, before, after, { teamId: after.teamId });
    if (after.userId !== principal.userId) {
      if (before === undefined) await this.#has.member(principal, after);
      return;
    }
    if (before === undefined) throw refused("Another administrator must add you to a team.");
    refuseMemberRaise(before, after);
  }

  /** A budget that is changed: `null` where it is deleted. */
  async budget(
    principal: Principal,
    before: BudgetRecord,
    after: BudgetRecord | null,
  ): Promise<void> {
    if (principal.kind === "master" || !(await this.#subjects.ofBudget(principal, before.id)))
      return;
    const field = after === null ? "budget" : exceeding(after, before);
    if (field !== undefined) throw ownRaise("a budget that holds for you", field);
    if (after !== null)
      refuseChange(before, after, ["budgetAnchor", "perModel"], "a budget that holds for you");
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
    if (await this.#subjects.ofCustomer(principal, id)) refuseCustomerRaise(before, after);
  }

  /** An access group that is changed. */
  async accessGroup(
    principal: Principal,
    before: AccessGroupRecord,
    after: AccessGroupRecord,
  ): Promise<void> {
    if (principal.kind === "master" || areWithin(after.models, before.models)) return;
    if (await this.#subjects.ofAccessGroup(principal, before.id))
      throw ownRaise("an access group of yours", "models");
  }
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

function refuseMemberRaise(before: MembershipRecord, after: MembershipRecord): void {
  refuseRaise(before, after, "your own membership");
  if (before.role !== after.role && after.role === "admin")
    throw refused("This would raise your own membership: another administrator must do it.");
}

/** Without a record the limits for unknown customers hold. */
function refuseCustomerRaise(
  before: CustomerRecord | undefined,
  after: CustomerRecord | undefined,
): void {
  const whose = "the customer of your own key";
  if (before === undefined || after === undefined) throw ownRaise(whose, "customer_id");
  refuseRaise(before, after, whose);
}

/** Refuses a change that raises what an own key allows, its customer included. */
function refuseOwnRaise(before: KeyRecord, after: KeyRecord): void {
  refuseRaise(before, after, "your own key");
  if (before.customerId !== null && after.customerId !== before.customerId)
    throw ownRaise("your own key", "customer_id");
  if (!before.mayNameCustomers && after.mayNameCustomers)
    throw ownRaise("your own key", "may_name_customers");
}

const TEAM_MEMBERS = ["selfService", "memberDefaults", "userBudgets", "modelAliases"] as const;

/** What is on one of two lists alone. */
function differing<One>(some: readonly One[], others: readonly One[]): readonly One[] {
  const isIn = (one: One, list: readonly One[]): boolean =>
    list.some((other) => isDeepStrictEqual(one, other));
  return [...some.filter((one) => !isIn(one, others)), ...others.filter((one) => !isIn(one, some))];
}
