/** The tenants of one generation: those that its files declare, else those of the store. */

import type { BudgetRecord, KeyRecord, MaybePromise } from "@sluice/contract";
import type { DeclaredTenant } from "../config/tenants/declared-tenants.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Found } from "../resources/tenants/record-memory.ts";
import type {
  AccessGroups,
  Block,
  TeamBlock,
  TenantSource,
  UserBlock,
} from "../resources/tenants/tenant-source.ts";

type Declared<Value> = ReadonlyMap<string, Found<Value>>;

/** A declared record wins over one of the store with the same id. */
export class DeclaredTenants implements TenantSource {
  readonly #stored: TenantSource;
  readonly #teams: Declared<TeamBlock>;
  readonly #organizations: Declared<Block>;
  readonly #users: Declared<UserBlock>;
  readonly #memberships: Declared<Block>;
  readonly #budgets: Declared<BudgetRecord>;
  readonly #groups: AccessGroups;
  /** `user`, then `organization`, of declared members of declared teams. */
  readonly #inTeams: ReadonlySet<string>;
  /** The groups of the store that were joined with the declared ones the last time. */
  #joined: { readonly of: AccessGroups | undefined; readonly groups: AccessGroups } | undefined;

  constructor({ teams, tenants }: Pick<Snapshot, "teams" | "tenants">, stored: TenantSource) {
    this.#stored = stored;
    this.#teams = byId(teams);
    this.#organizations = byId(tenants.organization);
    this.#users = byId(tenants.user);
    this.#budgets = byId(
      // Periods of a declared budget that count from its creation begin in 1970.
      tenants.budget.map((budget) => ({ ...budget, createdAtMs: 0 })),
    );
    this.#groups = new Map(tenants.access_group.map((group) => [group.id, group]));
    const members: readonly DeclaredTenant<"membership">[] = tenants.membership;
    this.#memberships = new Map(
      members.map((member) => [pairOf(member.userId, member.teamId), foundIn(member)]),
    );
    const organizationOf = new Map(teams.map(({ id, organizationId }) => [id, organizationId]));
    this.#inTeams = new Set(
      members.map(({ userId, teamId }) => pairOf(userId, organizationOf.get(teamId) ?? "")),
    );
  }

  organization(id: string): MaybePromise<Found<Block>> {
    return this.#organizations.get(id) ?? this.#stored.organization(id);
  }

  team(id: string): MaybePromise<Found<TeamBlock>> {
    return this.#teams.get(id) ?? this.#stored.team(id);
  }

  user(id: string): MaybePromise<Found<UserBlock>> {
    return this.#users.get(id) ?? this.#stored.user(id);
  }

  membership(userId: string, teamId: string): MaybePromise<Found<Block>> {
    return this.#memberships.get(pairOf(userId, teamId)) ?? this.#stored.membership(userId, teamId);
  }

  isInTeamOf(userId: string, organizationId: string): MaybePromise<Found<boolean>> {
    return this.#inTeams.has(pairOf(userId, organizationId))
      ? foundIn(true)
      : this.#stored.isInTeamOf(userId, organizationId);
  }

  budget(id: string): MaybePromise<Found<BudgetRecord>> {
    return this.#budgets.get(id) ?? this.#stored.budget(id);
  }

  key(id: string): MaybePromise<Found<KeyRecord>> {
    return this.#stored.key(id);
  }

  accessGroups(): MaybePromise<Found<AccessGroups>> {
    const stored = this.#stored.accessGroups();
    if (this.#groups.size === 0) return stored;
    return stored instanceof Promise
      ? stored.then((found) => this.#withGroups(found))
      : this.#withGroups(stored);
  }

  #withGroups({ value, untilMs }: Found<AccessGroups>): Found<AccessGroups> {
    if (this.#joined === undefined || this.#joined.of !== value)
      this.#joined = { of: value, groups: new Map([...(value ?? []), ...this.#groups]) };
    return { value: this.#joined.groups, untilMs };
  }
}

function byId<Value extends { readonly id: string }>(records: readonly Value[]): Declared<Value> {
  return new Map(records.map((record) => [record.id, foundIn(record)]));
}

/** A value that holds as long as the generation. */
function foundIn<Value>(value: Value): Found<Value> {
  return { value, untilMs: Infinity };
}

function pairOf(first: string, second: string): string {
  return `${first.length}:${first}${second}`;
}
