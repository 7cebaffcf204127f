/** Scopes: where the limits of a request hold. */

import type { ImportedSpend } from "./imported-spend.ts";
import type { Amounts, BudgetAnchor } from "./records.ts";

/**
 * Where limits hold: for the key, and for everything that it belongs to. A `pool` is a budget
 * record with one counter for all who refer to it.
 */
export type ScopeKind =
  | "organization"
  | "team"
  | "membership"
  | "user"
  | "key"
  | "customer"
  | "pool";

/** The customer of a request: the end user of an application. */
export interface Customer {
  /** Its id in rows: as the request carries it, or a keyed digest of that. */
  readonly id: string;
  /** The scopes of its limits. Empty: it has none. */
  readonly scopes: readonly LimitScope[];
}

/**
 * The beginning of the tags that the gateway gives to rows by itself. Requests may not name such a
 * tag.
 */
export const OWN_TAG = "sluice:";

/** The tag of the rows that count in a pooled budget. */
export function poolTag(budgetId: string): string {
  return `${OWN_TAG}budget:${budgetId}`;
}

/** The tag of the rows of keys that were made with a key: they count in what that key may have. */
export function madeTag(keyId: string): string {
  return `${OWN_TAG}key:${keyId}`;
}

/** Limits of one scope at some of the models. */
export interface ModelAmounts {
  /** The name in the record: a model id, a wildcard or an access group. Its counters have it. */
  readonly name: string;
  /** Model ids, wildcards and access groups that it stands for. */
  readonly models: readonly string[];
  readonly amounts: Amounts;
}

/** One scope of a request that has limits. All limits of all scopes must pass. */
export interface LimitScope {
  readonly kind: ScopeKind;
  /** Unique among the scopes of its kind; its counters have it. */
  readonly id: string;
  readonly amounts: Amounts;
  readonly anchor: BudgetAnchor;
  /** When the record was made, milliseconds since 1970: the anchor `creation` counts from it. */
  readonly createdAtMs: number;
  readonly perModel: readonly ModelAmounts[];
  /** What was spent before the record was imported: it counts in the budget. Absent: nothing. */
  readonly importedSpend?: ImportedSpend | undefined;
}
