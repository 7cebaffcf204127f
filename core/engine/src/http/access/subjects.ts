/** What bounds a principal. */

import type { TeamRecord } from "@sluice/contract";
import {
  boundingOf,
  keysOf,
  NAMES_NOTHING,
  type Naming,
  type OwnKey,
  recordsOf,
  selvesOf,
  type SubjectParts,
  type UserRecords,
} from "./bounding.ts";
import type { Principal } from "./may.ts";

/** Finds what bounds a principal. */
export class Subjects {
  readonly #parts: SubjectParts;

  constructor(parts: SubjectParts) {
    this.#parts = parts;
  }

  /** A user with memberships and their teams. */
  of(userId: string): Promise<UserRecords> {
    return recordsOf(userId, this.#parts);
  }

  /** Whether a team bounds the principal: as a member, by a role there, or by a key of its user. */
  async ofTeam(principal: Principal, { id }: Pick<TeamRecord, "id">): Promise<boolean> {
    if (principal.roles.some(({ place }) => place.kind === "team" && place.id === id)) return true;
    const { tenants } = this.#parts;
    for (const userId of selvesOf(principal)) {
      if ((await tenants?.membership.find({ userId, teamId: id })) !== undefined) return true;
    }
    return this.hasKeyIn(principal, id);
  }

  /** Whether a key of the principal belongs to a team. */
  hasKeyIn(principal: Principal, teamId: string): Promise<boolean> {
    return this.#someKey(principal, (key) => key.teamId === teamId);
  }

  /** Whether an organization bounds the principal. */
  async ofOrganization(principal: Principal, id: string): Promise<boolean> {
    if (principal.roles.some(({ place }) => place.kind === "organization" && place.id === id))
      return true;
    for (const userId of selvesOf(principal)) {
      const { user, teams } = await recordsOf(userId, this.#parts);
      if (user?.organizations.includes(id) === true) return true;
      if (teams.some(({ organizationId }) => organizationId === id)) return true;
    }
    return this.#someKey(principal, (key) => key.organizationId === id);
  }

  /** Whether something that bounds the principal refers to a budget. */
  ofBudget(principal: Principal, id: string): Promise<boolean> {
    return this.#some(principal, ({ budgetId }) => budgetId === id);
  }

  /** Whether a list of models that bounds the principal names an access group. */
  ofList(principal: Principal, name: string): Promise<boolean> {
    return this.#some(principal, ({ lists }) => lists.some((list) => list.includes(name)));
  }

  /** Whether the principal has limits at the models of an access group. */
  ofModelLimits(principal: Principal, name: string): Promise<boolean> {
    return this.#some(principal, ({ limited }) => limited.includes(name));
  }

  /** Whether a key of the principal is that of a customer. */
  ofCustomer(principal: Principal, id: string): Promise<boolean> {
    return this.#someKey(principal, ({ customerId }) => customerId === id);
  }

  async #someKey(principal: Principal, holds: (key: OwnKey) => boolean): Promise<boolean> {
    for await (const key of keysOf(principal, this.#parts)) if (holds(key)) return true;
    return false;
  }

  async #some(principal: Principal, holds: (record: Naming) => boolean): Promise<boolean> {
    const { tenants } = this.#parts;
    for await (const naming of boundingOf(principal, this.#parts)) {
      if (holds(naming)) return true;
      const { budgetId } = naming;
      const budget = budgetId === null ? undefined : await tenants?.budget.find({ id: budgetId });
      if (
        budget !== undefined &&
        holds({ ...NAMES_NOTHING, limited: Object.keys(budget.perModel) })
      )
        return true;
    }
    return false;
  }
}
