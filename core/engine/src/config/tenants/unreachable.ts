/** Limits that can never be reached, because what a record belongs to has a lower one. */

import type { Amounts } from "@sluice/contract";

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
  return secondsOf(own.budgetDuration) <= secondsOf(parent.budgetDuration);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  mo: 30 * 86_400,
};

/** The length of a period, a month as thirty days; without an end where there is none. */
function secondsOf(span: string | null | undefined): number {
  const [, count = "", unit = ""] = /^(\d+)(\w+)$/.exec(span ?? "") ?? [];
  return Number(count) * (UNIT_SECONDS[unit] ?? 0) || Infinity;
}
