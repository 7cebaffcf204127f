/** The limits of a new key, within the bounds of whom it belongs to. */

import { GatewayError } from "@sluice/contract";
import { type Bound, exceeding, filled, tightest } from "./bounds.ts";

/**
 * Limits: those that are named, else the first default that the bounds allow, else the bounds.
 * Throws `permission_denied` for a named one beyond a bound.
 */
export function limitsWithin(
  named: Bound,
  bounds: readonly Bound[],
  defaults: readonly Bound[],
): Bound {
  const chosen = defaults.reduce((limits, one) => withDefaults(limits, one, bounds), named);
  const limits = filled(chosen, tightest(bounds));
  for (const bound of bounds) {
    const field = exceeding(limits, bound);
    if (field !== undefined)
      throw new GatewayError(
        "permission_denied",
        `The field ${field} is beyond what the caller, the team or the organization allows.`,
        { param: field },
      );
  }
  return limits;
}

/** Limits with defaults where they have none. A default that a bound forbids is left out. */
function withDefaults(limits: Bound, defaults: Bound, bounds: readonly Bound[]): Bound {
  const { maxBudgetNanoUsd, budgetDuration = null, ...others } = defaults;
  const parts: Bound[] = Object.entries(others).map(([name, value]) => ({ [name]: value }));
  if (maxBudgetNanoUsd !== undefined && limits.maxBudgetNanoUsd === undefined)
    parts.push({ maxBudgetNanoUsd, budgetDuration });
  const allowed = parts.filter((part) =>
    bounds.every((bound) => exceeding(part, shared(bound, part)) === undefined),
  );
  return Object.assign({}, ...allowed, limits) as Bound;
}

/** The members of a bound that a part has too. */
function shared(bound: Bound, part: Bound): Bound {
  return Object.fromEntries(Object.entries(bound).filter(([name]) => Object.hasOwn(part, name)));
}
