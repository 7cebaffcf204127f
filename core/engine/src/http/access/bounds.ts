/** Compares limits: what exceeds a bound, and which change raises what a record allows. */

import type { Amounts, LimitBlock } from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";
import { endOfSpan } from "../admin/span.ts";

/** What limits may not exceed; absent and `null` members do not bound. */
export interface Bound extends Partial<Amounts> {
  /** Model ids, wildcards and access groups; absent and empty: every model. */
  readonly models?: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAtMs?: number | null;
}

/** Fields of the routes by the members of a record. */
const FIELDS = {
  maxBudgetNanoUsd: "max_budget",
  softBudgetNanoUsd: "soft_budget",
  budgetDuration: "budget_duration",
  rpm: "rpm",
  tpm: "tpm",
  maxParallelRequests: "max_parallel_requests",
  expiresAtMs: "expires",
} as const;
type Counted = Exclude<keyof typeof FIELDS, "budgetDuration" | "softBudgetNanoUsd">;
const COUNTED: readonly Counted[] = [
  "maxBudgetNanoUsd",
  "rpm",
  "tpm",
  "maxParallelRequests",
  "expiresAtMs",
];

/**
 * The field whose limit is beyond a bound; `undefined` without one. No limit is beyond every bound,
 * and so is a budget that resets sooner.
 */
export function exceeding(limits: Bound, bound: Bound): string | undefined {
  for (const name of COUNTED) if (isAbove(limits[name], bound[name])) return FIELDS[name];
  if (bound.maxBudgetNanoUsd != null && isSooner(limits.budgetDuration, bound.budgetDuration))
    return FIELDS.budgetDuration;
  const { models = [] } = bound;
  if (models.length === 0) return undefined;
  const isWithin = (limits.models ?? []).length > 0 && areWithin(limits.models ?? [], models);
  return isWithin ? undefined : "models";
}

/** Limits with those of a bound where they have none of their own. `null` is one: no limit. */
export function filled(named: Bound, bound: Bound): Bound {
  const { maxBudgetNanoUsd: max, budgetDuration: duration } = named;
  const counted = COUNTED.map((name) => {
    const limit = named[name];
    return [name, limit === undefined ? (bound[name] ?? null) : limit] as const;
  });
  const isOwn = duration !== undefined || max === null;
  return {
    ...Object.fromEntries(counted),
    budgetDuration: isOwn ? (duration ?? null) : (bound.budgetDuration ?? null),
    models: named.models ?? bound.models ?? [],
  };
}

/** The bound that is within all of these: the smallest amounts, and the longest period. */
export function tightest(bounds: readonly Bound[]): Bound {
  const result: { -readonly [Name in keyof Bound]: Bound[Name] } = {};
  for (const name of COUNTED) {
    const amounts = bounds.flatMap((bound) => bound[name] ?? []);
    if (amounts.length > 0) result[name] = Math.min(...amounts);
  }
  const periods = bounds
    .filter(({ maxBudgetNanoUsd }) => maxBudgetNanoUsd != null)
    .map(({ budgetDuration = null }) => budgetDuration);
  if (periods.length > 0)
    result.budgetDuration = periods.reduce((longest, one) =>
      isSooner(longest, one) ? one : longest,
    );
  for (const { models = [] } of bounds) result.models = common(result.models ?? [], models);
  return result;
}

/** The names of two lists that both of them name. An empty list names all. */
function common(some: readonly string[], others: readonly string[]): readonly string[] {
  if (some.length === 0 || others.length === 0) return some.length === 0 ? others : some;
  return [
    ...new Set([
      ...some.filter((name) => areWithin([name], others)),
      ...others.filter((name) => areWithin([name], some)),
    ]),
  ];
}

/** The members of a record that decide what it allows. */
export type Allowing = Pick<
  LimitBlock,
  | keyof Amounts
  | "models"
  | "budgetAnchor"
  | "perModel"
  | "budgetId"
  | "budgetShare"
  | "tags"
  | "allowedTags"
  | "guardrails"
  | "passthrough"
  | "blocked"
  | "expiresAtMs"
>;

/** Members of which any change may raise something: their effect is elsewhere, or has no order. */
const UNORDERED = ["budgetAnchor", "budgetId", "budgetShare", "tags"] as const;

/** The first member of a change that raises what a record allows; `undefined` for none. */
export function raising(before: Allowing, changes: Partial<Allowing>): string | undefined {
  const after = { ...before, ...changes };
  for (const name of COUNTED) if (isAbove(after[name], before[name])) return FIELDS[name];
  if (before.maxBudgetNanoUsd !== null && isSooner(after.budgetDuration, before.budgetDuration))
    return FIELDS.budgetDuration;
  for (const name of UNORDERED) if (!isDeepStrictEqual(before[name], after[name])) return name;
  if (
    before.models.length > 0 &&
    !(after.models.length > 0 && areWithin(after.models, before.models))
  )
    return "models";
  if (after.allowedTags.some((tag) => !before.allowedTags.includes(tag))) return "allowed_tags";
  if (before.guardrails.some((name) => !after.guardrails.includes(name))) return "guardrails";
  if (after.passthrough && !before.passthrough) return "passthrough";
  if (before.blocked && !after.blocked) return "blocked";
  return raisingModel(before.perModel, after.perModel) ? "per_model" : undefined;
}

function raisingModel(before: LimitBlock["perModel"], after: LimitBlock["perModel"]): boolean {
  return Object.entries(before).some(([model, bound]) => {
    const limits = after[model];
    return limits === undefined || exceeding(limits, bound) !== undefined;
  });
}

/** Whether every name of a list is one that another list names. An empty other list names all. */
export function areWithin(names: readonly string[], others: readonly string[]): boolean {
  if (others.length === 0) return true;
  return names.every((name) =>
    others.some(
      (other) => other === name || (other.endsWith("*") && name.startsWith(other.slice(0, -1))),
    ),
  );
}

function isAbove(limit: number | null | undefined, bound: number | null | undefined): boolean {
  return bound != null && (limit == null || limit > bound);
}

/** Whether a budget resets sooner than another one. `null` never resets. */
function isSooner(span: string | null | undefined, other: string | null | undefined): boolean {
  return lengthOf(span) < lengthOf(other);
}

function lengthOf(span: string | null | undefined): number {
  return span == null ? Infinity : (endOfSpan(span, 0) ?? 0);
}
