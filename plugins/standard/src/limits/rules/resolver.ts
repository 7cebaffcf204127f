/**
 * Rules: which limits hold for an identity at a model. Made once for both, and anew when a budget's
 * period ends.
 */

import {
  type Customer,
  type Host,
  type Identity,
  type LimitScope,
  type Model,
  OWN_TAG,
  type Target,
} from "@sluice/contract";
import { namesModel } from "@sluice/runtime";
import type { LimitsConfig } from "../config.ts";
import { BudgetRules } from "./budgets.ts";
import { foreignTag } from "./foreign-tag.ts";
import { countedKey } from "./maker.ts";
import {
  distinct,
  joinSets,
  type Rule,
  type RuleSet,
  ruleSet,
  windowsOfTarget,
  withKeyParts,
} from "./rule.ts";
import { scopeRules } from "./scopes.ts";
import { optionRules } from "./windows.ts";

/** The rules of a customer's request: `of` the set without them, `at` the limits of its model. */
interface CustomerRules {
  readonly of: RuleSet;
  readonly at: string;
  readonly set: RuleSet;
}

/** The rules of a step's options, of scopes and of targets. */
export class LimitResolver {
  readonly #config: LimitsConfig;
  readonly #clock: Host["clock"];
  readonly #budgets: BudgetRules;
  readonly #hasModelOptions: boolean;
  readonly #sets = new WeakMap<Identity, Map<string, RuleSet>>();
  /**
   * The rules of customers, beside what they were last made for; `"seen"` after the first request:
   * of very many customers there is no second one, and their rules would be kept for nothing.
   */
  readonly #customers = new WeakMap<Customer, CustomerRules | "seen">();
  readonly #targets = new WeakMap<Target, readonly Rule[]>();

  constructor(config: LimitsConfig, host: Host) {
    this.#config = config;
    this.#clock = host.clock;
    this.#budgets = new BudgetRules(config, host);
    const { windows = [], parallel = [] } = config;
    this.#hasModelOptions = [...windows, ...parallel].some(
      ({ per }) => per === "model" || per === "key_model",
    );
  }

  /** Whether providers have budgets: which one is known only when a target is. */
  get hasProviderBudgets(): boolean {
    return this.#budgets.hasProviders;
  }

  /** Whether single models have limits: a call may be at another model than the entry. */
  hasModelRules({ scopes = NO_SCOPES }: Identity, customer: Customer | undefined): boolean {
    return (
      this.#hasModelOptions ||
      scopes.some(hasModelLimits) ||
      customer?.scopes.some(hasModelLimits) === true
    );
  }

  /** The rules of an identity at a model. An identity is made anew when its record has changed. */
  of(identity: Identity, model: Model | undefined): RuleSet {
    let sets = this.#sets.get(identity);
    if (sets === undefined) this.#sets.set(identity, (sets = new Map()));
    const entry = modelKey(identity, model);
    const known = sets.get(entry);
    const nowMs = this.#clock.now();
    if (known !== undefined && nowMs < known.untilMs) return known;
    const made = ruleSet(this.#make(identity, model, nowMs));
    sets.set(entry, made);
    return made;
  }

  /**
   * The rules with the budgets of tags that only the request has. Throws `permission_denied` for a
   * tag with a budget of its own that the key may not name.
   */
  withTags(set: RuleSet, identity: Identity, tags: readonly string[]): RuleSet {
    if (tags.length === 0 || !this.#budgets.hasTags) return set;
    const own = new Set(identity.tags);
    const more = [...new Set(tags)].filter((tag) => !own.has(tag));
    if (identity.kind !== "master") {
      const allowed = identity.allowedTags ?? [];
      const foreign = more.find((tag) => this.#budgets.names(tag) && !allowed.includes(tag));
      if (foreign !== undefined) throw foreignTag(foreign);
    }
    const rules = more.flatMap((tag) => this.#budgets.of(identity, "tag", tag, this.#clock.now()));
    return rules.length === 0 ? set : ruleSet([...rules, ...set.rules]);
  }

  /** The rules with those of the customer of a request. */
  withCustomer(
    set: RuleSet,
    identity: Identity,
    model: Model | undefined,
    customer: Customer | undefined,
  ): RuleSet {
    if (customer === undefined || customer.scopes.length === 0) return set;
    const nowMs = this.#clock.now();
    const seen = this.#customers.get(customer);
    const known = seen === "seen" ? undefined : seen;
    const at = limitsAt(customer.scopes, model);
    if (known?.of === set && known.at === at && nowMs < known.set.untilMs) return known.set;
    const rules = customer.scopes.flatMap((scope) => {
      const made = scopeRules(scope, identity, model, this.#budgets, nowMs, customer.id);
      return [...made.budgets, ...made.others];
    });
    const made = joinSets(set, ruleSet(distinct(rules)));
    this.#customers.set(customer, seen === undefined ? "seen" : { of: set, at, set: made });
    return made;
  }

  /** The rules of a target: its provider's budgets, and its own windows. */
  ofTarget(identity: Identity, target: Target): readonly Rule[] {
    let windows = this.#targets.get(target);
    if (windows === undefined) this.#targets.set(target, (windows = windowsOfTarget(target)));
    if (!this.hasProviderBudgets) return windows;
    const { provider } = target;
    return [...this.#budgets.of(identity, "provider", provider, this.#clock.now()), ...windows];
  }

  #make(identity: Identity, model: Model | undefined, nowMs: number): Rule[] {
    const { keyId, userId, teamId, scopes = NO_SCOPES, tags } = identity;
    const isMaster = identity.kind === "master";
    const budgets: Rule[] = [];
    const others: Rule[] = [];
    // The key's own limits are asked first: its refusals are the ones that it can change.
    for (const scope of scopes.toReversed()) {
      const made = scopeRules(scope, identity, model, this.#budgets, nowMs);
      budgets.push(...made.budgets);
      others.push(...made.others);
    }
    for (const [per, id] of [
      ["key", countedKey(identity)],
      ["user", userId],
      ["team", teamId],
      ["global", "all"],
    ] as const) {
      if (id !== undefined) budgets.push(...this.#budgets.of(identity, per, id, nowMs));
    }
    // The gateway's own tags are marks of rows, and no subjects of the options.
    for (const tag of tags.filter((name) => !name.startsWith(OWN_TAG)))
      budgets.push(...this.#budgets.of(identity, "tag", tag, nowMs));
    if (!isMaster || this.#config.limit_master)
      others.push(...optionRules(this.#config, identity, model));
    const rules = distinct([...budgets, ...others]);
    const hasParts = identity.kind === "key" && this.#config.reserved_share !== "100%";
    return hasParts ? withKeyParts(rules, keyId) : rules;
  }
}

/**
 * What the rules at a model are stored under: its entry, and the limits of single models that hold
 * for it. The ids below a wildcard are as many as clients name.
 */
function modelKey({ scopes = NO_SCOPES }: Identity, model: Model | undefined): string {
  return model === undefined ? "" : model.entry + limitsAt(scopes, model);
}

/** The limits of single models that hold for a model. Models of one wildcard differ in them. */
function limitsAt(scopes: readonly LimitScope[], model: Model | undefined): string {
  let names = "";
  if (model === undefined) return names;
  for (const { perModel, kind } of scopes)
    for (const { name, models } of perModel)
      if (namesModel(models, model)) names += `\n${kind} ${name}`;
  return names;
}

function hasModelLimits({ perModel }: LimitScope): boolean {
  return perModel.length > 0;
}

const NO_SCOPES: readonly LimitScope[] = Object.freeze([]);
