/** Makes the identity of a key out of its record and those of everything that it belongs to. */

import {
  type Amounts,
  type BudgetRecord,
  EMPTY_AMOUNTS,
  type Identity,
  type KeyRecord,
  type LimitScope,
  madeTag,
  type ModelAmounts,
  poolTag,
  type ScopeKind,
} from "@sluice/contract";
import type { AccessGroups, Block, TeamBlock } from "./tenant-source.ts";

/** A key alone: what its record says, before what it belongs to. */
export interface KeyBase {
  readonly identity: Identity;
  readonly block: Block;
  /**
   * Whether the store has the key: what it names must exist then. What a declared key names may be
   * a label for spend.
   */
  readonly isStored: boolean;
  /** The id of the key that it was made with. Absent: administration made it. */
  readonly madeWith?: string;
}

/** The records that a key belongs to; `undefined`: it belongs to none of the kind. */
export interface IdentityParts {
  readonly organizationId: string | undefined;
  readonly organization: Block | undefined;
  readonly team: TeamBlock | undefined;
  readonly membership: Block | undefined;
  readonly user: Block | undefined;
  /** The key that the key was made with. */
  readonly maker?: KeyRecord | undefined;
  /** The budget records that blocks refer to, by their ids; `undefined`: there is none. */
  readonly budgets: ReadonlyMap<string, BudgetRecord | undefined>;
  readonly groups: AccessGroups;
}

/** Spending that is counted and not limited. */
const COUNTED = Number.MAX_SAFE_INTEGER;

/** A budget that a record names and that does not exist: it admits nothing. */
const MISSING: Amounts = Object.freeze({ ...EMPTY_AMOUNTS, maxBudgetNanoUsd: 0 });

/** A record that the key belongs to, and the scope that its limits hold in. */
interface Holder {
  readonly kind: ScopeKind;
  readonly id: string;
  readonly block: Block;
}

/** The identity of a key with all its scopes. */
export function compileIdentity({ identity, block }: KeyBase, parts: IdentityParts): Identity {
  const { organizationId, team, maker } = parts;
  const holders = holdersOf(identity, parts);
  const all = [...holders, { kind: "key", id: identity.keyId, block } as const];
  const own = (list: readonly string[] | undefined): readonly string[] =>
    expanded(list ?? [], organizationId, parts.groups);
  const bounds = holders.map((holder) => own(holder.block.models)).filter(isNotEmpty);
  const scopes = all.flatMap((holder) => scopesOf(holder, parts));
  const of = (name: "tags" | "allowedTags" | "guardrails"): readonly string[] =>
    // The key's own come first, then from the nearest to the widest.
    [...new Set(all.toReversed().flatMap((holder) => holder.block[name] ?? []))];
  const allowedTags = of("allowedTags");
  const aliases = aliasesOf(identity.modelAliases, team?.modelAliases);
  // Those of the key alone have a budget of 0 for each budget that is not known yet.
  const { scopes: _ofKeyAlone, ...names } = identity;
  return Object.freeze<Identity>({
    ...names,
    organizationId,
    models: own(block.models),
    tags: withOwnTags(of("tags"), scopes, maker),
    guardrails: of("guardrails"),
    ...(allowedTags.length > 0 && { allowedTags }),
    ...(all.some((holder) => holder.block.passthrough === true) && { passthrough: true }),
    ...(bounds.length > 0 && { modelBounds: bounds }),
    ...(maker !== undefined && {
      madeWith: { keyId: maker.id, alias: maker.alias ?? undefined },
    }),
    ...(scopes.length > 0 && { scopes }),
    ...(aliases !== undefined && { modelAliases: aliases }),
  });
}

/**
 * Tags, and those of what keys share: the pooled budgets and the key that this one was made with. A
 * budget that must be read anew is the sum of its tag.
 */
function withOwnTags(
  tags: readonly string[],
  scopes: readonly LimitScope[],
  maker: Pick<KeyRecord, "id"> | undefined,
): readonly string[] {
  const own = scopes.flatMap(({ kind, id }) => (kind === "pool" ? [poolTag(id)] : []));
  if (maker !== undefined) own.push(madeTag(maker.id));
  return own.length === 0 ? tags : [...new Set([...tags, ...own])];
}

/**
 * Names for models; `undefined`: there are none. Keys without names of their own share the object
 * of their team.
 */
function aliasesOf(own: Aliases | undefined, ofTeam: Aliases = {}): Aliases | undefined {
  const aliases = own === undefined ? ofTeam : { ...ofTeam, ...own };
  return Object.keys(aliases).length > 0 ? aliases : undefined;
}

type Aliases = Readonly<Record<string, string>>;

function isNotEmpty(list: readonly string[]): boolean {
  return list.length > 0;
}

/** What a key belongs to, from the widest to the nearest. */
function holdersOf({ teamId, userId }: Identity, parts: IdentityParts): Holder[] {
  const { organizationId, organization, team, membership, user, maker } = parts;
  const holders: Holder[] = [];
  if (organizationId !== undefined && organization !== undefined)
    holders.push({ kind: "organization", id: organizationId, block: organization });
  if (teamId !== undefined && team !== undefined)
    holders.push({ kind: "team", id: teamId, block: team });
  if (teamId !== undefined && userId !== undefined && team !== undefined) {
    const block = withDefaults(membership ?? {}, team);
    holders.push({ kind: "membership", id: `${teamId.length}:${teamId}:${userId}`, block });
  }
  if (userId !== undefined && user !== undefined) {
    const isIgnored = team?.userBudgets === "ignore";
    holders.push({ kind: "user", id: userId, block: isIgnored ? withoutBudgets(user) : user });
  }
  // It bounds the key and opens nothing.
  if (maker !== undefined)
    holders.push({
      kind: "key",
      id: maker.id,
      block: { ...maker, passthrough: false, allowedTags: [] },
    });
  return holders;
}

/** A membership with the limits of its team's members where it has none of its own. */
function withDefaults(
  membership: Block,
  { memberDefaults = {}, createdAtMs = 0 }: TeamBlock,
): Block {
  const { models = [], ...amounts } = memberDefaults;
  const own = withAmounts(membership, amounts);
  return { createdAtMs, ...own, models: (own.models ?? []).length > 0 ? own.models! : models };
}

/** A block with amounts for what it does not say. */
function withAmounts(block: Block, defaults: Partial<Amounts>): Block {
  const amounts = Object.fromEntries(
    Object.entries(defaults).filter(
      ([name, value]) => value !== null && (block[name as keyof Amounts] ?? null) === null,
    ),
  );
  return { ...block, ...amounts };
}

/** A block whose spending is counted and refuses nothing. */
function withoutBudgets(block: Block): Block {
  const perModel = Object.entries(block.perModel ?? {}).map(([name, amounts]) => [
    name,
    counted(amounts),
  ]);
  return {
    ...block,
    ...counted({ ...EMPTY_AMOUNTS, ...amountsOf(block) }),
    perModel: Object.fromEntries(perModel) as NonNullable<Block["perModel"]>,
  };
}

function counted(amounts: Amounts): Amounts {
  const { maxBudgetNanoUsd } = amounts;
  const max = maxBudgetNanoUsd === null ? null : COUNTED;
  return { ...amounts, maxBudgetNanoUsd: max, softBudgetNanoUsd: null };
}

/** What the scopes of a record refer to. */
type ScopeParts = Pick<IdentityParts, "organizationId" | "budgets" | "groups">;

/** A list with the models of the access groups that it names. */
function expanded(
  list: readonly string[],
  organizationId: string | undefined,
  groups: AccessGroups,
): readonly string[] {
  if (groups.size === 0) return list;
  const more = list.flatMap((name) => {
    const group = groups.get(name);
    const isOwn = group?.organizationId === null || group?.organizationId === organizationId;
    return group !== undefined && isOwn ? group.models : [];
  });
  return more.length === 0 ? list : [...new Set([...list, ...more])];
}

/** What the scopes of a customer are made from. */
export interface CustomerScopes {
  /** Unique among customers of all organizations. */
  readonly scopeId: string;
  readonly record: Block | undefined;
  /** Amounts that hold where the record has none of the name. */
  readonly defaults: Partial<Amounts>;
  /** Absent: neither the record nor the settings name one. */
  readonly budgetId: string | undefined;
  /** `undefined`: the budget of the name does not exist. */
  readonly budget: BudgetRecord | undefined;
  readonly organizationId: string | undefined;
  readonly groups: AccessGroups;
}

const NO_RECORD: Block = {};

/** The scopes of a customer. */
export function scopesOfCustomer(parts: CustomerScopes): LimitScope[] {
  const { scopeId: id, record = NO_RECORD, defaults, budgetId, budget } = parts;
  const block: Block = { ...withAmounts(record, defaults), budgetId: budgetId ?? null };
  const budgets = new Map(budgetId === undefined ? [] : [[budgetId, budget] as const]);
  const { organizationId, groups } = parts;
  return scopesOf({ kind: "customer", id, block }, { organizationId, budgets, groups });
}

/** An identity that a customer's record bounds too. The record opens nothing. */
export function boundBy(identity: Identity, record: Block, groups: AccessGroups): Identity {
  const { models = [], guardrails = [], allowedTags = [], budgetId } = record;
  const isOfPool = record.budgetShare === "pool" && (budgetId ?? null) !== null;
  const tags = [...(record.tags ?? []), ...(isOfPool ? [poolTag(budgetId ?? "")] : [])];
  if ([models, tags, guardrails, allowedTags].every((list) => list.length === 0)) return identity;
  const join = (first: readonly string[], second: readonly string[]): readonly string[] => [
    ...new Set([...first, ...second]),
  ];
  const list = expanded(models, identity.organizationId, groups);
  return Object.freeze<Identity>({
    ...identity,
    tags: join(identity.tags, tags),
    allowedTags: join(identity.allowedTags ?? [], allowedTags),
    guardrails: join(identity.guardrails ?? [], guardrails),
    ...(list.length > 0 && { modelBounds: [...(identity.modelBounds ?? []), list] }),
  });
}

/** The scopes of a record: its own amounts, and those of the budget that it refers to. */
function scopesOf({ kind, id, block }: Holder, parts: ScopeParts): LimitScope[] {
  const { budgetAnchor: anchor = "calendar", createdAtMs = 0, importedSpend } = block;
  const own: LimitScope = {
    kind,
    id,
    amounts: amountsOf(block),
    anchor,
    createdAtMs,
    perModel: perModelOf(block.perModel, parts),
    ...(importedSpend !== undefined && { importedSpend }),
  };
  const scopes = isBounding(own) ? [own] : [];
  const { budgetId } = block;
  if (budgetId === undefined || budgetId === null) return scopes;
  const budget = parts.budgets.get(budgetId);
  const isPool = block.budgetShare === "pool";
  const referred: LimitScope = {
    kind: isPool ? "pool" : kind,
    id: isPool ? budgetId : id,
    amounts: budget === undefined ? MISSING : amountsOf(budget),
    anchor: budget?.budgetAnchor ?? "calendar",
    // A template counts from the record that refers to it, a common counter from its own.
    createdAtMs: isPool ? (budget?.createdAtMs ?? 0) : createdAtMs,
    perModel: perModelOf(budget?.perModel, parts),
    ...(importedSpend !== undefined && !isPool && { importedSpend }),
  };
  return isBounding(referred) ? [...scopes, referred] : scopes;
}

function amountsOf(block: Partial<Amounts>): Amounts {
  return {
    maxBudgetNanoUsd: block.maxBudgetNanoUsd ?? null,
    softBudgetNanoUsd: block.softBudgetNanoUsd ?? null,
    budgetDuration: block.budgetDuration ?? null,
    rpm: block.rpm ?? null,
    tpm: block.tpm ?? null,
    maxParallelRequests: block.maxParallelRequests ?? null,
  };
}

function perModelOf(
  perModel: Block["perModel"],
  { organizationId, groups }: ScopeParts,
): readonly ModelAmounts[] {
  return Object.entries(perModel ?? {})
    .map(([name, amounts]) => ({
      name,
      models: expanded([name], organizationId, groups),
      amounts: amountsOf(amounts),
    }))
    .filter(({ amounts }) => isLimiting(amounts));
}

function isLimiting({ budgetDuration: _period, ...bounds }: Amounts): boolean {
  return Object.values(bounds).some((bound) => bound !== null);
}

/** Whether a scope limits anything, or counts what was spent before an import. */
function isBounding({ amounts, perModel, importedSpend }: LimitScope): boolean {
  return importedSpend !== undefined || perModel.length > 0 || isLimiting(amounts);
}
