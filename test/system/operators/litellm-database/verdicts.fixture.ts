/**
 * What LiteLLM answers to a request, from its tables alone: the order of its checks as its source
 * has them. And where Sluice decides otherwise, with the rule that does.
 */

import type { Row, World } from "./world.fixture.ts";

/** A request. */
export interface Probe {
  readonly key: number;
  readonly model: string;
  /** The id of the customer; absent: the request names none. */
  readonly customer?: string;
}

/** Why a request is refused. `closed`: it opens nothing. */
export type Refusal = "closed" | "model" | "budget" | "customer";

/** Rules by which Sluice refuses what LiteLLM admits. */
export const RULES = {
  equal:
    "a budget is spent when it is reached, in every scope (LiteLLM: teams and customers beyond it)",
  zero: "a budget of 0 refuses, in every scope (LiteLLM: a team's does not)",
  organizationModels: "models of the organization hold for each request (LiteLLM: at creation)",
  userModels: "models of a user hold for keys in teams too (LiteLLM: for other keys)",
  groupInTeam: "an access group of a key does not widen the models of its team (LiteLLM: it does)",
  ownModelBudget:
    "a budget of the team for a model holds beside the key's own (LiteLLM: the key's alone)",
  blockedCustomer: "a customer that is blocked is refused (LiteLLM serves it)",
} as const;
export type Rule = keyof typeof RULES;

/** Rules by which Sluice admits what LiteLLM refuses. */
export const WIDER = {
  userModelBudgets: "budgets of users, those for single models too, do not count in teams",
} as const;

/** What is expected of a request. */
export interface Verdict {
  /** Why LiteLLM refuses it; empty: it admits it. */
  readonly litellm: ReadonlySet<Refusal>;
  /** Rules by which Sluice refuses it besides, and as what. */
  readonly rules: ReadonlyMap<Rule, Refusal>;
  /** LiteLLM's only reason is one that does not hold here. */
  readonly isWider: boolean;
}

interface Subject {
  readonly key: Row;
  readonly team: Row | undefined;
  readonly user: Row | undefined;
  readonly membership: Row | undefined;
  readonly organization: Row | undefined;
  readonly customer: Row | undefined;
  readonly model: string;
}

/** Makes the function that judges requests of a world. */
export function judge(world: World): (probe: Probe) => Verdict {
  const find = indexesOf(world);
  return (probe) => {
    const key = (world.keys[probe.key] as World["keys"][number]).row;
    const team = find.team(key["team_id"]);
    // Names that the key or its team has for models are replaced before the checks.
    const ofTeam = team?.["model_id"] === 7 && probe.model === "fast" ? "m1" : undefined;
    const ofKey = (key["aliases"] as Readonly<Record<string, string>> | undefined)?.[probe.model];
    const subject: Subject = {
      key,
      team,
      user: find.user(key["user_id"]),
      membership: find.membership(key["user_id"], key["team_id"]),
      organization: find.organization(key["organization_id"] ?? team?.["organization_id"]),
      customer: find.customer(probe.customer),
      model: ofKey ?? ofTeam ?? probe.model,
    };
    const { litellm, wider } = checks(subject, find.budget);
    const isWider = wider && litellm.length === 0;
    return {
      litellm: new Set(wider ? [...litellm, "budget"] : litellm),
      rules: new Map(rulesOf(subject, find.budget)),
      isWider,
    };
  };
}

type FindBudget = (id: unknown) => Row | undefined;

function indexesOf(world: World) {
  const by = (rows: readonly Row[], column: string) => {
    const map = new Map(rows.map((row) => [row[column], row]));
    return (id: unknown): Row | undefined => map.get(id);
  };
  const members = new Map(
    world.memberships.map((row) => [JSON.stringify([row["user_id"], row["team_id"]]), row]),
  );
  return {
    team: by(world.teams, "team_id"),
    user: by(world.users, "user_id"),
    organization: by(world.organizations, "organization_id"),
    customer: by(world.customers, "user_id"),
    budget: by(world.budgets, "budget_id"),
    membership: (user: unknown, team: unknown) => members.get(JSON.stringify([user, team])),
  };
}

const ALL = ["all-proxy-models", "all-team-models"];

function allows(models: readonly string[] | undefined, model: string): boolean {
  if (models === undefined || models.length === 0) return true;
  return models.some((name) => ALL.includes(name)) || models.includes(model);
}

/** The group `lab`, which is one of m5. */
function isGranted(row: Row, model: string): boolean {
  return Array.isArray(row["access_group_ids"]) && model === "m5";
}

/** Spend of the present period: the job that resets budgets has run. */
function spendOf(row: Row, from: Row = row): number {
  const isOver = typeof from["budget_reset_at"] === "string" && from["budget_reset_at"] < "2026-06";
  return isOver ? 0 : (row.spend ?? 0);
}

/** A budget that is spent when it is reached. */
function reaches(row: Row | undefined, budget: Row | undefined = row): boolean {
  const max = budget?.max_budget;
  return row !== undefined && max !== undefined && spendOf(row, budget) >= max;
}

/** A budget that is spent beyond it. */
function exceeds(row: Row | undefined, budget: Row | undefined = row): boolean {
  const max = budget?.max_budget;
  return row !== undefined && max !== undefined && spendOf(row, budget) > max;
}

/** A budget of 0 for a model. */
function hasNone(row: Row | undefined, model: string): boolean {
  return row?.model_max_budget?.[model]?.max_budget === 0;
}

/** The checks of a request in their order. */
function checks(subject: Subject, budgetOf: FindBudget) {
  const { key, team, user, membership, organization, customer, model } = subject;
  const memberBudget = budgetOf(membership?.budget_id) ?? defaultBudget(team, budgetOf);
  const customerBudget = budgetOf(customer?.budget_id);
  const allowed = budgetOf(membership?.budget_id)?.["allowed_models"];
  const metadata = user?.["metadata"] as { readonly scim_active?: boolean } | undefined;
  const ofTeamModel = hasNone(team, model) && key.model_max_budget?.[model] === undefined;
  const failing: readonly (readonly [Refusal, boolean])[] = [
    ["closed", key.blocked === true],
    ["model", !allows(key.models, model) && !isGranted(key, model)],
    ["closed", metadata?.scim_active === false],
    ["budget", reaches(membership, budgetOf(membership?.budget_id))],
    ["closed", typeof key["expires"] === "string"],
    ["budget", reaches(key)],
    ["budget", hasNone(key, model)],
    ["budget", team === undefined && hasNone(user, model)],
    ["budget", hasNone(customerBudget, model)],
    ["closed", team?.blocked === true],
    [
      "model",
      team !== undefined &&
        !allows(team.models, model) &&
        !isGranted(team, model) &&
        !isGranted(key, model),
    ],
    ["budget", ofTeamModel],
    ["model", !allows(allowed as readonly string[] | undefined, model)],
    ["model", team === undefined && !allows(user?.models, model)],
    ["model", !allows(customer?.models, model)],
    ["budget", exceeds(team)],
    ["budget", reaches(organization, budgetOf(organization?.budget_id))],
    ["budget", team === undefined && reaches(user)],
    ["budget", reaches(membership, memberBudget)],
    ["budget", exceeds(customer, customerBudget)],
  ];
  const litellm = failing.flatMap(([refusal, fails]) => (fails ? [refusal] : []));
  return { litellm, wider: team !== undefined && hasNone(user, model) };
}

/** The budget of members without one of their own. */
function defaultBudget(team: Row | undefined, budgetOf: FindBudget): Row | undefined {
  const metadata = team?.["metadata"] as { readonly team_member_budget_id?: string } | undefined;
  return budgetOf(metadata?.team_member_budget_id);
}

function rulesOf(subject: Subject, budgetOf: FindBudget): readonly (readonly [Rule, Refusal])[] {
  const { key, team, user, organization, customer, model } = subject;
  const customerBudget = budgetOf(customer?.budget_id);
  const isZero = team?.max_budget === 0;
  const isEqual =
    (reaches(team) && !exceeds(team) && !isZero) ||
    (reaches(customer, customerBudget) && !exceeds(customer, customerBudget));
  const isOfLab = isGranted(key, model) && team !== undefined;
  const isOwn = hasNone(team, model) && key.model_max_budget?.[model] !== undefined;
  const userModels = (user?.models ?? []).filter((name) => name !== "no-default-models");
  const rules: readonly (readonly [Rule, Refusal, boolean])[] = [
    ["equal", "budget", isEqual],
    ["zero", "budget", isZero],
    ["organizationModels", "model", !allows(organization?.models, model)],
    ["userModels", "model", team !== undefined && !allows(userModels, model)],
    ["groupInTeam", "model", isOfLab && !allows(team?.models, model) && !isGranted(team, model)],
    ["ownModelBudget", "budget", isOwn],
    ["blockedCustomer", "customer", customer?.blocked === true],
  ];
  return rules.flatMap(([rule, refusal, holds]) => (holds ? [[rule, refusal] as const] : []));
}
