/**
 * The lint `unreachable_limit`: limits that can never be reached, because what a record belongs to
 * has a lower one.
 */

import type { Amounts } from "@sluice/contract";
import type { Position } from "../config/snapshot.ts";
import type { LintFinding, LintSubject } from "./rule.ts";

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

interface Child {
  readonly about: string;
  readonly amounts: Partial<Amounts>;
  readonly at: Position;
  readonly organizationId?: string | null | undefined;
  readonly teamId?: string | undefined;
  readonly budgetId?: string | null | undefined;
}

/** Reports limits of declared records, by what the files declare above them. */
export function unreachableLimits({ snapshot }: LintSubject): LintFinding[] {
  const { keys, teams, tenants } = snapshot;
  const children: readonly Child[] = [
    ...keys.map((key) => ({ ...key, about: `The key ${key.alias}`, amounts: key.limits ?? {} })),
    ...teams.map((team) => ({ ...team, about: `The team ${team.id}`, amounts: team })),
    ...tenants.membership.map((member) => ({
      ...member,
      about: `The member ${member.userId} of the team ${member.teamId}`,
      amounts: member,
    })),
    ...tenants.customer.map((one) => ({ ...one, about: `The customer ${one.id}`, amounts: one })),
    ...tenants.organization.map((one) => ({
      ...one,
      about: `The organization ${one.id}`,
      amounts: one,
    })),
  ];
  return children.flatMap(({ about, amounts, at, ...references }) =>
    unreachable(amounts, parentsOf(references, snapshot)).map((message) => ({
      at,
      message: `${about}: ${message}`,
      fix: "Lower it, or raise the other one.",
    })),
  );
}

function parentsOf(
  { organizationId, teamId, budgetId }: Omit<Child, "about" | "amounts" | "at">,
  { teams, tenants }: LintSubject["snapshot"],
): readonly Parent[] {
  const team = teams.find(({ id }) => id === teamId);
  const ofTeam = organizationId ?? team?.organizationId;
  const organization = tenants.organization.find(({ id }) => id === ofTeam);
  const budget = tenants.budget.find(({ id }) => id === budgetId);
  const named = { team, organization, budget };
  return Object.entries(named).flatMap(([kind, amounts]) =>
    amounts === undefined ? [] : [{ name: `the ${kind} ${JSON.stringify(amounts.id)}`, amounts }],
  );
}
