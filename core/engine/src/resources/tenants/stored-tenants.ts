/** The records of the store, in memory. */

import type {
  KeyRecord,
  KeyStore,
  MaybePromise,
  RecordChange,
  TeamStore,
  TenantStore,
} from "@sluice/contract";
import { type Found, type MemoryParts, RecordMemory } from "./record-memory.ts";
import type { AccessGroups, Block, TeamBlock, TenantSource, UserBlock } from "./tenant-source.ts";
import type { BudgetRecord } from "@sluice/contract";

/** Access groups that are read at most. */
const MAX_GROUPS = 10_000;
const GROUPS_OF_PAGE = 500;

/** What the records are read from. `tenants` absent: the store keeps keys and teams alone. */
export interface StoredTenantsOptions extends MemoryParts {
  readonly keys: Pick<KeyStore, "find">;
  readonly teams: Pick<TeamStore, "find">;
  readonly tenants?: TenantStore | undefined;
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
  readonly #all: readonly Pick<RecordMemory<unknown>, "expireAll" | "recheckAll">[];
  readonly #validity: StoredTenantsOptions["validity"];
  /** Changes that this process knows of. */
  #changes = 0;

  constructor(options: StoredTenantsOptions) {
    const { keys, teams, tenants } = options;
    this.#validity = options.validity;
    this.#keys = new RecordMemory<KeyRecord>((id) => keys.find(id), options);
    this.#teams = new RecordMemory<TeamBlock>((id) => teams.find(id), options);
    this.#organizations = new RecordMemory<Block>(
      async (id) => tenants?.organization.find({ id }),
      options,
    );
    this.#users = new RecordMemory<UserBlock>(async (id) => tenants?.user.find({ id }), options);
    this.#memberships = new RecordMemory<Block>(async (id) => {
      const [userId, teamId] = partsOf(id);
      return tenants?.membership.find({ userId, teamId });
    }, options);
    this.#inTeams = new RecordMemory(async (id) => {
      const [userId, organizationId] = partsOf(id);
      return tenants !== undefined && isInTeamOf(tenants, userId, organizationId);
    }, options);
    this.#budgets = new RecordMemory(async (id) => tenants?.budget.find({ id }), options);
    this.#groups = new RecordMemory(async () => tenants && readGroups(tenants), options);
    this.#all = [
      this.#teams,
      this.#organizations,
      this.#users,
      this.#memberships,
      this.#inTeams,
      this.#budgets,
      this.#groups,
      this.#keys,
    ];
  }

  get changes(): number {
    return this.#changes;
  }

  isCurrent(): boolean {
    return this.#validity.isCurrent();
  }

  async whenCurrent(): Promise<void> {
    return this.#validity.whenCurrent();
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

  /** Takes a change of a record that keys belong to. Other kinds have no effect. */
  expire({ kind, ids }: RecordChange): void {
    const memory = this.#memoryOf(kind);
    if (memory === undefined) return;
    this.#changes += 1;
    const [first, second] = ids ?? [];
    if (first === undefined) memory.expireAll();
    else memory.expire(second === undefined ? first : joined(first, second));
    // Whether a user belongs to an organization depends on the user's teams, and on theirs.
    if (kind === "team" || kind === "membership") this.#inTeams.expireAll();
  }

  /** All records may have changed. */
  expireAll(): void {
    this.#changes += 1;
    for (const memory of this.#all) memory.expireAll();
  }

  /** Every look-up asks the store. Where it does not answer, records hold as of a time. */
  recheckAll(asOfMs: number): void {
    this.#changes += 1;
    for (const memory of this.#all) memory.recheckAll(asOfMs);
  }

  #memoryOf(kind: string): Pick<RecordMemory<unknown>, "expire" | "expireAll"> | undefined {
    switch (kind) {
      case "key":
        return this.#keys;
      case "team":
        return this.#teams;
      case "organization":
        return this.#organizations;
      case "user":
        return this.#users;
      case "membership":
        return this.#memberships;
      case "budget":
        return this.#budgets;
      case "access_group":
        // All groups are one entry.
        return {
          expire: () => this.#groups.expireAll(),
          expireAll: () => this.#groups.expireAll(),
        };
      default:
        return undefined;
    }
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
