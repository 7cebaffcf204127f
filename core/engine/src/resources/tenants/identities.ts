/**
 * Identities: keys as members of everything that they belong to. One is believed as long as each
 * record that it was made from.
 */

import type { BudgetRecord, Clock, Identity, MaybePromise } from "@sluice/contract";
import { compileIdentity, type IdentityParts, type KeyBase } from "./compile-identity.ts";
import type { Validity } from "../store/validity.ts";
import type { Found } from "./record-memory.ts";
import type { AccessGroups, Block, TenantSource } from "./tenant-source.ts";

interface Joined {
  /** The records that it was made from: while they are the same, it is. */
  readonly from: readonly unknown[];
  readonly identity: Identity | undefined;
  /** Never later than the moment at which one of the records ends. */
  readonly untilMs: number;
  readonly changes: number;
}

/** The changes of records that this process knows of, and whether it knows all of them. */
export interface ChangeCount extends Pick<Validity, "isCurrent" | "whenCurrent"> {
  readonly changes: number;
}

const NO_GROUPS: AccessGroups = new Map();

/** Makes identities of keys, by the records of one source. */
export class Identities {
  readonly #source: TenantSource;
  readonly #count: ChangeCount;
  readonly #clock: Pick<Clock, "now">;
  readonly #joined = new WeakMap<KeyBase, Joined>();

  constructor(source: TenantSource, count: ChangeCount, clock: Pick<Clock, "now">) {
    this.#source = source;
    this.#count = count;
    this.#clock = clock;
  }

  /**
   * The identity of a key; `undefined` while something that it belongs to is blocked, has ended or
   * is gone, or its user has left. Rejects when the store does.
   */
  of(base: KeyBase): MaybePromise<Identity | undefined> {
    if (isAlone(base)) return base.identity;
    if (!this.#count.isCurrent()) return this.#count.whenCurrent().then(() => this.#of(base));
    return this.#of(base);
  }

  #of(base: KeyBase): MaybePromise<Identity | undefined> {
    const joined = this.#joined.get(base);
    const isValid =
      joined !== undefined &&
      joined.changes === this.#count.changes &&
      this.#clock.now() < joined.untilMs;
    return isValid ? joined.identity : this.#join(base, joined);
  }

  async #join(base: KeyBase, before: Joined | undefined): Promise<Identity | undefined> {
    const { changes } = this.#count;
    const reader = new Reader();
    const parts = await this.#partsOf(base, reader);
    const { found: from } = reader;
    const isSame =
      before !== undefined &&
      before.from.length === from.length &&
      before.from.every((value, index) => value === from[index]);
    const ends = endOf(parts);
    const isOpen = parts !== undefined && this.#clock.now() < ends;
    const identity = !isOpen
      ? undefined
      : isSame && before.identity !== undefined
        ? before.identity
        : compileIdentity(base, parts);
    const untilMs = isOpen ? Math.min(reader.untilMs, ends) : reader.untilMs;
    this.#joined.set(base, { from, identity, untilMs, changes });
    return identity;
  }

  /** The records of a key; `undefined` where one refuses it. */
  async #partsOf(base: KeyBase, reader: Reader): Promise<IdentityParts | undefined> {
    const { identity, block, isStored } = base;
    const { teamId, userId } = identity;
    const source = this.#source;
    const team = teamId === undefined ? undefined : await reader.read(source.team(teamId));
    // A team that is gone took its keys with it: one that is left over opens nothing.
    if (teamId !== undefined && team === undefined && isStored) return undefined;
    const organizationId = team?.organizationId ?? identity.organizationId ?? undefined;
    const organization =
      organizationId === undefined
        ? undefined
        : await reader.read(source.organization(organizationId));
    if (organizationId !== undefined && organization === undefined && isStored) return undefined;
    const user = userId === undefined ? undefined : await reader.read(source.user(userId));
    const membership =
      userId === undefined || teamId === undefined
        ? undefined
        : await reader.read(source.membership(userId, teamId));
    if (user !== undefined && userId !== undefined) {
      if (teamId !== undefined) {
        if (membership === undefined) return undefined;
      } else if (
        organizationId !== undefined &&
        user.organizations?.includes(organizationId) !== true &&
        (await reader.read(source.isInTeamOf(userId, organizationId))) !== true
      )
        return undefined;
    }
    const { madeWith } = base;
    const maker = madeWith === undefined ? undefined : await reader.read(source.key(madeWith));
    // A key ends with the one that it was made with, and when that one belongs to another user.
    if (madeWith !== undefined && maker?.userId !== userId) return undefined;
    const holders = [organization, team, membership, user, maker, block];
    if (holders.some((holder) => holder?.blocked === true)) return undefined;
    const budgets = await this.#budgetsOf(holders, reader);
    const needsGroups = holders.some(namesModels) || team?.memberDefaults?.models !== undefined;
    const groups = needsGroups ? await reader.read(source.accessGroups()) : undefined;
    return {
      organizationId,
      organization,
      team,
      membership,
      user,
      maker,
      budgets,
      groups: groups ?? NO_GROUPS,
    };
  }

  async #budgetsOf(
    holders: readonly (Block | undefined)[],
    reader: Reader,
  ): Promise<ReadonlyMap<string, BudgetRecord | undefined>> {
    const budgets = new Map<string, BudgetRecord | undefined>();
    for (const holder of holders) {
      const { budgetId } = holder ?? {};
      if (budgetId === undefined || budgetId === null || budgets.has(budgetId)) continue;
      budgets.set(budgetId, await reader.read(this.#source.budget(budgetId)));
    }
    return budgets;
  }
}

/** Whether a key belongs to nothing, and its record says all. */
function isAlone({ identity, block }: KeyBase): boolean {
  return (
    identity.kind === "master" ||
    (identity.teamId === undefined &&
      identity.userId === undefined &&
      identity.organizationId === undefined &&
      (block.budgetId ?? null) === null &&
      !namesModels(block))
  );
}

function namesModels(block: Block | undefined): boolean {
  if (block === undefined) return false;
  const { models = [], perModel } = block;
  return models.length > 0 || (perModel !== undefined && Object.keys(perModel).length > 0);
}

/** When the first of the records ends; the key's own end is known before. */
function endOf(parts: IdentityParts | undefined): number {
  if (parts === undefined) return Infinity;
  const { organization, team, membership, user, maker } = parts;
  const ends = [organization, team, membership, user, maker].map(
    (block) => block?.expiresAtMs ?? Infinity,
  );
  return Math.min(...ends);
}

/** Reads records, and notes which ones and until when they are believed. */
class Reader {
  readonly found: unknown[] = [];
  untilMs = Infinity;

  async read<Value>(reading: MaybePromise<Found<Value>>): Promise<Value | undefined> {
    const { value, untilMs } = reading instanceof Promise ? await reading : reading;
    this.found.push(value);
    this.untilMs = Math.min(this.untilMs, untilMs);
    return value;
  }
}
