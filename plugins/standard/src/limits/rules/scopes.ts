/**
 * Scopes: the limits of an organization, a team, a membership, a user, a key, a customer and a
 * pooled budget, each as rules. All of them must pass.
 */

import {
  type Amounts,
  type Identity,
  type LedgerSumFilter,
  type Model,
  type LimitScope,
  poolTag,
  type ScopeKind,
} from "@sluice/contract";
import { namesModel } from "@sluice/runtime";
import type { BudgetRules, BudgetSubject } from "./budgets.ts";
import { rowsOfMade } from "./maker.ts";
import { groupOf } from "./groups.ts";
import type { Rule } from "./rule.ts";
import { amountRules } from "./windows.ts";

/** Scopes in the words of a message. */
const WORDS: Readonly<Record<ScopeKind, string>> = {
  organization: "organization",
  team: "team",
  membership: "team member",
  user: "user",
  key: "key",
  customer: "customer",
  pool: "shared budget",
};

/** The rules of a scope at a model. `customerId`: the customer's id in rows. */
export function scopeRules(
  scope: LimitScope,
  identity: Identity,
  model: Model | undefined,
  budgets: BudgetRules,
  nowMs: number,
  customerId?: string,
): { readonly budgets: readonly Rule[]; readonly others: readonly Rule[] } {
  const made = { budgets: [] as Rule[], others: [] as Rule[] };
  const add = (subject: BudgetSubject, amounts: Amounts): void => {
    const budget = budgets.ofScope(subject, amounts, scope, nowMs);
    if (budget !== undefined) made.budgets.push(budget);
    const { subjectKey, rows: _rows, moreRows: _more, models: _models, ...of } = subject;
    made.others.push(...amountRules(of, subjectKey, amounts));
  };
  const rows = rowsOf(scope, identity, customerId);
  const isOfCustomer = scope.kind === "customer";
  const whole: BudgetSubject = {
    subject: WORDS[scope.kind],
    isShown: scope.kind !== "pool",
    isOfModel: false,
    // Keys do not compete for what one customer has.
    isOfOneKey: scope.kind === "key" || isOfCustomer,
    group: groupOf(scope.kind, scope.id, identity),
    ...(isOfCustomer && { holder: identity.keyId }),
    subjectKey: `${scope.kind}:${scope.id}`,
    rows,
    moreRows: scope.kind === "key" ? rowsOfMade(scope.id, identity) : undefined,
  };
  add(whole, scope.amounts);
  for (const { name, models, amounts } of scope.perModel) {
    if (model === undefined || !namesModel(models, model)) continue;
    const { moreRows } = whole;
    const ofModels = { models: budgets.modelsInRows(models) };
    const at: BudgetSubject = {
      ...whole,
      subject: `${whole.subject} at ${name}`,
      isOfModel: true,
      subjectKey: `${scope.kind}_model:${scope.id.length}:${scope.id}:${name}`,
      models,
      rows: { ...rows, ...ofModels },
      moreRows: moreRows && { ...moreRows, ...ofModels },
    };
    add(at, amounts);
  }
  return made;
}

/** The rows of a scope. A customer's are those of the key's organization. */
function rowsOf(
  { kind, id }: LimitScope,
  identity: Identity,
  customerId: string | undefined,
): LedgerSumFilter {
  const { userId = "", teamId = "", organizationId = "" } = identity;
  switch (kind) {
    case "organization":
      return { organizationId };
    case "team":
      return { teamId };
    case "membership":
      return { userId, teamId };
    case "user":
      return { userId };
    case "key":
      return { keyId: id };
    case "customer":
      return { organizationId, endUser: customerId ?? "" };
    case "pool":
      return { tag: poolTag(id) };
  }
}
