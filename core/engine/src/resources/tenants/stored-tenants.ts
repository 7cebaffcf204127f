/** The records of the store, each believed for a second. */

import type {
  Clock,
  KeyRecord,
  KeyStore,
  MaybePromise,
  TeamStore,
  TenantStore,
} from "@sluice/contract";
import { type Found, RecordMemory } from "./record-memory.ts";
import type { AccessGroups, Block, TeamBlock, TenantSource, UserBlock } from "./tenant-source.ts";
import type { BudgetRecord } from "@sluice/contract";

/** Access groups that are read at most. */
const MAX_GROUPS = 10_000;
const GROUPS_OF_PAGE = 500;

/** What the records are read from. `tenants` absent: the store keeps keys and teams alone. */
export interface StoredTenantsOptions {
  readonly keys: Pick<KeyStore, "find">;
  readonly teams: Pick<TeamStore, "find">;
  readonly tenants?: TenantStore | undefined;
  readonly clock: Pick<Clock, "now">;
}

/** The tenants of the store. */
export class StoredTenants implements TenantSource {
  readonly #teams: RecordMemory<TeamBlock>;
  readonly #organizations: RecordMemory<Block>;
  readonly #users: RecordMemory<UserBlock>;
  readonly #memberships: RecordMemory<Block>;
  readonly #inTeams: RecordMemory<boolean>;
  readonly #budgets: RecordMemory<BudgetRecord>;
  readonly #groups: RecordMemory<AccessGroups>;
  readonly #keys: RecordMemory<KeyRecord>;
  /** Changes in this process. */
  #changes = 0;

  constructor({ keys, teams, tenants, clock }: StoredTenantsOptions) {
    this.#keys = new RecordMemory((id) => keys.find(id), clock);
    this.#teams = new RecordMemory((id) => teams.find(id), clock);
    this.#organizations = new RecordMemory(async (id) => tenants?.organization.find({ id }), clock);
    this.#users = new RecordMemory(async (id) => tenants?.user.find({ id }), clock);
    this.#memberships = new RecordMemory(async (id) => {
      const [userId, teamId] = partsOf(id);
      return tenants?.membership.find({ userId, teamId });
    }, clock);
    this.#inTeams = new RecordMemory(async (id) => {
      const [userId, organizationId] = partsOf(id);
      return tenants !== undefined && isInTeamOf(tenants, userId, organizationId);
    }, clock);
    this.#budgets = new RecordMemory(async (id) => tenants?.budget.find({ id }), clock);
    this.#groups = new RecordMemory(async () => tenants && readGroups(tenants), clock);
  }

  get changes(): number {
    return this.#changes;
  }

  organization(id: string): MaybePromise<Found<Block>> {
    return this.#organizations.find(id);
  }

  team(id: string): MaybePromise<Found<TeamBlock>> {
    return this.#teams.find(id);
  }

  user(id: string): MaybePromise<Found<UserBlock>> {
    return this.#users.find(id);
  }

  membership(userId: string, teamId: string): MaybePromise<Found<Block>> {
    return this.#memberships.find(joined(userId, teamId));
  }

  isInTeamOf(userId: string, organizationId: string): MaybePromise<Found<boolean>> {
    return this.#inTeams.find(joined(userId, organizationId));
  }

  budget(id: string): MaybePromise<Found<BudgetRecord>> {
    return this.#budgets.find(id);
  }

  key(id: string): MaybePromise<Found<KeyRecord>> {
    return this.#keys.find(id);
  }

  accessGroups(): MaybePromise<Found<AccessGroups>> {
    return this.#groups.find("");
  }

  /** Forgets every record, because some have just been changed in this process. */
  forget(): void {
    this.#changes += 1;
    for (const memory of [
      this.#teams,
      this.#organizations,
      this.#users,
      this.#memberships,
      this.#inTeams,
      this.#budgets,
      this.#groups,
      this.#keys,
    ])
      memory.forget();
  }
}

/** Two ids as one text: which one is which is the length of the first. */
function joined(first: string, second: string): string {
  return `${first.length}:${first}${second}`;
}

function partsOf(text: string): [string, string] {
  const colon = text.indexOf(":");
  const end = colon + 1 + Number(text.slice(0, colon));
  return [text.slice(colon + 1, end), text.slice(end)];
}

/**
 * Whether a user is a member of one of the teams. A row of a file does not count: the files that
 * are live are asked first.
 */
async function isInTeamOf(
  { membership }: TenantStore,
  userId: string,
  organizationId: string,
): Promise<boolean> {
  let after: string | undefined;
  do {
    const page = await membership.list({
      userId,
      organizationId,
      limit: GROUPS_OF_PAGE,
      ...(after !== undefined && { after }),
    });
    if (page.records.some(({ managedBy }) => managedBy !== "file")) return true;
    after = page.next;
  } while (after !== undefined);
  return false;
}

async function readGroups(tenants: TenantStore): Promise<AccessGroups> {
  const groups = new Map<string, { organizationId: string | null; models: readonly string[] }>();
  let after: string | undefined;
  do {
    const page = await tenants.access_group.list({
      limit: GROUPS_OF_PAGE,
      ...(after !== undefined && { after }),
    });
    for (const { id, organizationId, models } of page.records)
      groups.set(id, { organizationId, models });
    after = page.next;
  } while (after !== undefined && groups.size < MAX_GROUPS);
  return groups;
}
