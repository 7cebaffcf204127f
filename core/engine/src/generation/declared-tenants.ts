/** The tenants of one generation: those that its files declare, else those of the store. */

import type { BudgetRecord, MaybePromise } from "@sluice/contract";
import type { DeclaredTeam, Snapshot } from "../config/snapshot.ts";
import type { Found } from "../resources/tenants/record-memory.ts";
import type {
  AccessGroups,
  Block,
  TeamBlock,
  TenantSource,
  UserBlock,
} from "../resources/tenants/tenant-source.ts";

/** A declared record wins over one of the store with the same id. */
export class DeclaredTenants implements TenantSource {
  readonly #stored: TenantSource;
  readonly #teams: ReadonlyMap<string, Found<DeclaredTeam>>;

  constructor({ teams }: Pick<Snapshot, "teams">, stored: TenantSource) {
    this.#stored = stored;
    this.#teams = new Map(teams.map((team) => [team.id, { value: team, untilMs: Infinity }]));
  }

  organization(id: string): MaybePromise<Found<Block>> {
    return this.#stored.organization(id);
  }

  team(id: string): MaybePromise<Found<TeamBlock>> {
    return this.#teams.get(id) ?? this.#stored.team(id);
  }

  user(id: string): MaybePromise<Found<UserBlock>> {
    return this.#stored.user(id);
  }

  membership(userId: string, teamId: string): MaybePromise<Found<Block>> {
    return this.#stored.membership(userId, teamId);
  }

  isInTeamOf(userId: string, organizationId: string): MaybePromise<Found<boolean>> {
    return this.#stored.isInTeamOf(userId, organizationId);
  }

  budget(id: string): MaybePromise<Found<BudgetRecord>> {
    return this.#stored.budget(id);
  }

  accessGroups(): MaybePromise<Found<AccessGroups>> {
    return this.#stored.accessGroups();
  }
}
