/**
 * What a record has beside its limits and shares with records elsewhere: tags, native paths and
 * pooled budgets. A principal gives those of its own places alone.
 */

import type { CustomerRecord, LimitBlock } from "@sluice/contract";
import { hasRole, may, type Principal } from "./may.ts";
import { refused } from "./refuse-raise.ts";
import { ownersOf, type TagOwnerParts } from "./tag-owners.ts";

/** The members of a record that lead to what it shares. */
type Sharing = Pick<
  LimitBlock,
  "tags" | "allowedTags" | "passthrough" | "budgetId" | "budgetShare"
>;

/** What a record belongs to: what these have, it has already. */
export interface Above {
  readonly teamId?: string | null;
  readonly organizationIds?: readonly (string | null)[];
}

/** What a key or a team belongs to. A team is not above itself. */
export function aboveOf({
  teamId = null,
  organizationId,
}: {
  readonly teamId?: string | null;
  readonly organizationId: string | null;
}): Above {
  return { teamId, organizationIds: [organizationId] };
}

const EMPTY: Sharing = {
  tags: [],
  allowedTags: [],
  passthrough: false,
  budgetId: null,
  budgetShare: "each",
};

/** Checks what a change would share. */
export class SharedThings {
  readonly #parts: TagOwnerParts;

  constructor(parts: TagOwnerParts) {
    this.#parts = parts;
  }

  /** Throws `permission_denied` for what the principal may not give. */
  async check(
    principal: Principal,
    before: Sharing | undefined,
    after: Sharing,
    above: Above,
  ): Promise<void> {
    if (hasRole(principal, "keys", { kind: "whole" })) return;
    const present = before ?? EMPTY;
    const tags = added(tagsOf(present), tagsOf(after));
    const isOpened = after.passthrough && !present.passthrough;
    const pool = poolOf(after);
    const isJoined = pool !== undefined && pool !== poolOf(present);
    if (tags.length === 0 && !isOpened && !isJoined) return;
    const holders = await this.#holders(above);
    if (isOpened && !holders.some(({ passthrough }) => passthrough))
      throw refused(
        "The field passthrough opens native paths, which your place has not.",
        "passthrough",
      );
    if (isJoined && !holders.some((holder) => poolOf(holder) === pool))
      await this.#checkPool(principal, pool);
    for (const tag of added(holders.flatMap(tagsOf), tags)) await this.#checkTag(principal, tag);
  }

  /** As `check`, of a customer, which gives its requests no native paths. */
  ofCustomer(
    principal: Principal,
    before: CustomerRecord | undefined,
    after: CustomerRecord,
  ): Promise<void> {
    return this.check(principal, before, { ...after, passthrough: false }, aboveOf(after));
  }

  async #holders({ teamId, organizationIds = [] }: Above): Promise<readonly Sharing[]> {
    const { teams, tenants } = this.#parts;
    const team = teamId == null ? undefined : await teams.find(teamId);
    const ids = new Set([...organizationIds, team?.organizationId ?? null]);
    const found: Sharing[] = team === undefined ? [] : [team];
    for (const id of ids) {
      const organization = id === null ? undefined : await tenants?.organization.find({ id });
      if (organization !== undefined) found.push(organization);
    }
    return found;
  }

  /** A pooled budget is spent by all who refer to it. */
  async #checkPool(principal: Principal, id: string): Promise<void> {
    const organizationId = (await this.#parts.tenants?.budget.find({ id }))?.organizationId ?? null;
    const isOwn =
      organizationId !== null &&
      hasRole(principal, "keys", { kind: "organization", id: organizationId });
    if (!isOwn)
      throw refused(
        "The budget is shared with places that are not yours. Refer to it with budget_share each.",
        "budget_id",
      );
  }

  /** A tag on a record is its place's: budgets, reports and routes of targets go by it. */
  async #checkTag(principal: Principal, tag: string): Promise<void> {
    const owners = await ownersOf(tag, this.#parts);
    const isOwn = owners.some((places) => may(principal, "key.update", { places }));
    if (owners.length > 0 && !isOwn)
      throw refused(
        `The tag ${JSON.stringify(tag)} belongs to records outside of your places.`,
        "tags",
      );
  }
}

function tagsOf({ tags, allowedTags }: Sharing): readonly string[] {
  return [...tags, ...allowedTags];
}

function added(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set(others)].filter((one) => !some.includes(one));
}

function poolOf({ budgetId, budgetShare }: Sharing): string | undefined {
  return budgetShare === "pool" && budgetId !== null ? budgetId : undefined;
}
