/** Changes of what bounds name: budgets and access groups. */

import type { AccessGroupRecord, BudgetRecord } from "@sluice/contract";
import { areWithin, exceeding } from "./bounds.ts";
import type { Principal } from "./may.ts";
import { ofOwn, ownRaise, refuseChange } from "./refuse-raise.ts";
import type { Subjects } from "./subjects.ts";

/** A change: `before` is absent of a new record, `after` of one that is deleted. */
interface Change<Named> {
  readonly before: Named | undefined;
  readonly after: Named | undefined;
}

/** Throws `permission_denied` for a budget that bounds the principal, and would less. */
export async function checkBudget(
  principal: Principal,
  { before, after }: Change<BudgetRecord>,
  subjects: Subjects,
): Promise<void> {
  const { id = "" } = after ?? before ?? {};
  if (!(await subjects.ofBudget(principal, id))) return;
  const whose = "a budget that holds for you, or for the user who issued your key";
  if (before === undefined || after === undefined) throw ownRaise(whose, "budget_id");
  const field = exceeding(after, before);
  if (field !== undefined) throw ownRaise(whose, field);
  refuseChange(before, after, ["budgetAnchor", "perModel"], whose);
}

/**
 * Throws `permission_denied` for an access group that bounds the principal, and would less. Its
 * name may stand in lists before it exists, also as the id of a model.
 */
export async function checkAccessGroup(
  principal: Principal,
  { before, after }: Change<AccessGroupRecord>,
  subjects: Subjects,
): Promise<void> {
  const { id = "" } = after ?? before ?? {};
  const [present, future] = [before?.models ?? [], after?.models ?? []];
  const isWider = !isNamedBy(present, future);
  const isNarrower = !isNamedBy(future, present);
  // A limit at the models of a group no longer holds for one that leaves it.
  if (
    (isWider && (await subjects.ofList(principal, id))) ||
    (isNarrower && (await subjects.ofModelLimits(principal, id)))
  )
    throw ownRaise(ofOwn(principal, "access groups"), "models");
}

/** Whether a list of models names all of another one. An empty list of a group names none. */
function isNamedBy(list: readonly string[], others: readonly string[]): boolean {
  return others.length === 0 || (list.length > 0 && areWithin(others, list));
}
