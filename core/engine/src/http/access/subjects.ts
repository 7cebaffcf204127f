/** Which records bound a principal: those whose limits hold for the requests of its user. */

import type {
  KeyRecord,
  KeyStore,
  MembershipRecord,
  TeamRecord,
  UserRecord,
} from "@sluice/contract";
import type { Principal } from "./may.ts";
import type { PrincipalParts } from "./principals.ts";

/** The parts that records are found in. */
export interface SubjectParts extends PrincipalParts {
  readonly keys: PrincipalParts["keys"] & Pick<KeyStore, "list">;
}

/** What belongs to a user. */
export interface UserRecords {
  readonly user: UserRecord | undefined;
  readonly memberships: readonly MembershipRecord[];
  readonly teams: readonly TeamRecord[];
}

const PAGE = 500;

/** Finds what bounds a principal. */
export class Subjects {
  readonly #parts: SubjectParts;

  constructor(parts: SubjectParts) {
    this.#parts = parts;
  }

  /** A user with memberships and their teams. */
  async of(userId: string): Promise<UserRecords> {
    const { tenants, teams } = this.#parts;
    const user = await tenants?.user.find({ id: userId });
    const memberships: MembershipRecord[] = [];
    let after: string | undefined;
    do {
      const query = { userId, limit: PAGE, ...(after !== undefined && { after }) };
      const page = await tenants?.membership.list(query);
      memberships.push(...(page?.records ?? []));
      after = page?.next;
    } while (after !== undefined);
    const found = await Promise.all(memberships.map(({ teamId }) => teams.find(teamId)));
    return { user, memberships, teams: found.flatMap((team) => team ?? []) };
  }

  /** Whether a team bounds the principal: as a member, by a role there, or by a key of its user. */
  async ofTeam({ userId, roles }: Principal, { id }: Pick<TeamRecord, "id">): Promise<boolean> {
    if (roles.some(({ place }) => place.kind === "team" && place.id === id)) return true;
    if (userId === undefined) return false;
    const { keys, tenants } = this.#parts;
    if ((await tenants?.membership.find({ userId, teamId: id })) !== undefined) return true;
    return (await keys.list({ userId, teamId: id, offset: 0, limit: 1 })).total > 0;
  }

  /** Whether an organization bounds the principal. */
  async ofOrganization({ userId, roles }: Principal, id: string): Promise<boolean> {
    if (roles.some(({ place }) => place.kind === "organization" && place.id === id)) return true;
    if (userId === undefined) return false;
    const { user, teams } = await this.of(userId);
    if (user?.organizations.includes(id) === true) return true;
    if (teams.some(({ organizationId }) => organizationId === id)) return true;
    const query = { userId, organizationId: id, offset: 0, limit: 1 };
    return (await this.#parts.keys.list(query)).total > 0;
  }

  /** Whether something that bounds the principal refers to a budget. */
  async ofBudget(principal: Principal, id: string): Promise<boolean> {
    return this.#some(
      principal,
      ({ budgetId }) => budgetId === id,
      async (userId) =>
        (await this.#parts.keys.list({ userId, budgetId: id, offset: 0, limit: 1 })).total > 0,
    );
  }

  /** Whether something that bounds the principal names an access group. */
  async ofAccessGroup(principal: Principal, id: string): Promise<boolean> {
    return this.#some(
      principal,
      ({ models }) => models.includes(id),
      (userId) => this.#hasKey(userId, ({ models }) => models.includes(id)),
    );
  }

  /** Whether a key of the principal is that of a customer. */
  async ofCustomer({ userId }: Principal, id: string): Promise<boolean> {
    return userId !== undefined && this.#hasKey(userId, ({ customerId }) => customerId === id);
  }

  async #hasKey(userId: string, holds: (key: KeyRecord) => boolean): Promise<boolean> {
    for (let offset = 0; ; offset += PAGE) {
      const { keys, total } = await this.#parts.keys.list({ userId, offset, limit: PAGE });
      if (keys.some(holds)) return true;
      if (offset + PAGE >= total) return false;
    }
  }

  async #some(
    { userId, roles }: Principal,
    holds: (record: Pick<UserRecord, "budgetId" | "models">) => boolean,
    ofKeys: (userId: string) => Promise<boolean>,
  ): Promise<boolean> {
    const { tenants, teams: teamStore } = this.#parts;
    const { user, memberships, teams } = await this.of(userId ?? "");
    const organizationIds = new Set(user?.organizations);
    for (const { organizationId } of teams)
      if (organizationId !== null) organizationIds.add(organizationId);
    const roleTeams: TeamRecord[] = [];
    for (const { place } of roles) {
      if (place.kind === "organization") organizationIds.add(place.id);
      const team = place.kind === "team" ? await teamStore.find(place.id) : undefined;
      if (team !== undefined) roleTeams.push(team);
    }
    const own = [...(user === undefined ? [] : [user]), ...memberships, ...teams, ...roleTeams];
    if (own.some(holds)) return true;
    for (const id of organizationIds) {
      const organization = await tenants?.organization.find({ id });
      if (organization !== undefined && holds(organization)) return true;
    }
    return userId !== undefined && ofKeys(userId);
  }
}
