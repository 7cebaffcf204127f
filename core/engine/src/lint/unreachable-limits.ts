/**
 * The lint `unreachable_limit`: limits that can never be reached, because what a record belongs to
 * has a lower one.
 */

import type { Amounts } from "@sluice/contract";
import type { Position } from "../config/snapshot.ts";
import { type Parent, unreachable } from "../config/tenants/unreachable.ts";
import type { LintFinding, LintSubject } from "./rule.ts";

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
