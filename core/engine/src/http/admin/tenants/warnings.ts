/** Limits that can never be reached, because what a record belongs to has a lower one. */

import type { Amounts } from "@sluice/contract";
import { endOfSpan } from "../span.ts";

/** Something that a record belongs to, or is a part of. */
export interface Parent {
  /** `the team "support"`. */
  readonly name: string;
  readonly amounts: Partial<Amounts>;
}

const RATES = [
  ["rpm", "rpm"],
  ["tpm", "tpm"],
  ["maxParallelRequests", "max_parallel_requests"],
] as const;

/** A sentence for each limit of a record that a parent's is below. */
export function unreachable(own: Partial<Amounts>, parents: readonly Parent[]): readonly string[] {
  return parents.flatMap(({ name, amounts }) => [
    ...RATES.filter(([member]) => isAbove(own[member], amounts[member])).map(
      ([member, field]) =>
        `${field} ${String(own[member])} can never be reached: ${name} has ${String(amounts[member])}.`,
    ),
    ...(isAbove(own.maxBudgetNanoUsd, amounts.maxBudgetNanoUsd) && endsNoLater(own, amounts)
      ? [`max_budget can never be spent: that of ${name} is lower.`]
      : []),
  ]);
}

function isAbove(limit: number | null | undefined, parent: number | null | undefined): boolean {
  return limit != null && parent != null && limit > parent;
}

/** Whether the period of a record ends with that of its parent, or before. */
function endsNoLater(own: Partial<Amounts>, parent: Partial<Amounts>): boolean {
  return lengthOf(own.budgetDuration) <= lengthOf(parent.budgetDuration);
}

function lengthOf(span: string | null | undefined): number {
  return span == null ? Infinity : (endOfSpan(span, 0) ?? Infinity);
}
