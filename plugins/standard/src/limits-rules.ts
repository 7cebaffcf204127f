/** Rules: which limits hold for an identity at a model. Made once for both, and anew when a budget's period ends. */

import { type BudgetPeriod, budgetPeriod, parseDuration } from "@sluice/kit";
import type {
  Claim,
  ConcurrentClaim,
  Host,
  Identity,
  LedgerSumFilter,
  Model,
  RecordLimits,
  Target,
  WindowClaim,
} from "@sluice/spec";
import type { BudgetConfig, LimitsConfig, WindowSubject } from "./limits-config.ts";

/** One limit. What is taken of it depends on the request. */
export type Rule = RateRule | SlotRule | BudgetRule;

/** Requests or tokens in a window. */
export interface RateRule {
  readonly kind: "requests" | "tokens";
  /** In the words of a message: `key`, `team`, `deployment openai/gpt-4o`, … */
  readonly whose: string;
  /** Whether the client may know how it stands: the limits of its own, not those that it shares with strangers. */
  readonly isShown: boolean;
  /** For requests what is taken; for tokens a model of it. */
  readonly claim: WindowClaim;
}

/** Requests at the same time. */
export interface SlotRule {
  readonly kind: "slots";
  readonly whose: string;
  readonly claim: ConcurrentClaim;
}

/** Money in a period. */
export interface BudgetRule {
  readonly kind: "budget";
  readonly whose: string;
  readonly key: string;
  /** `MAX_SAFE_INTEGER` where spending is only counted. */
  readonly limitNanoUsd: number;
  readonly softNanoUsd: number | undefined;
  readonly period: BudgetPeriod;
  /** The rows that were spent of it. */
  readonly rows: LedgerSumFilter;
  /** The provider whose attempts count; `undefined`: all of them. */
  readonly provider: string | undefined;
}

/** The rules of an identity at a model. */
export interface RuleSet {
  /** In the order in which they are asked: budgets, windows, slots. */
  readonly rules: readonly Rule[];
  /** Until when, milliseconds since 1970. */
  readonly untilMs: number;
  readonly hasTokens: boolean;
  readonly hasBudgets: boolean;
  /** Whether a budget may refuse. */
  readonly isBudgeted: boolean;
}

/** Spending that is counted and not limited. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;
const NANO_PER_USD = 1_000_000_000;
const MINUTE_MS = 60_000;

/** The rules of a step's options, and of keys, teams and targets. */
export class RuleBook {
  readonly #config: LimitsConfig;
  readonly #clock: Host["clock"];
  readonly #timeZone: string;
  readonly #softShare: number | undefined;
  readonly #sets = new WeakMap<Identity, Map<string, RuleSet>>();
  readonly #targets = new WeakMap<Target, readonly Rule[]>();

  constructor(config: LimitsConfig, { clock, timeZone }: Host) {
    this.#config = config;
    this.#clock = clock;
    this.#timeZone = timeZone;
    this.#softShare = config.soft_budget === undefined ? undefined : Number.parseInt(config.soft_budget, 10) / 100;
  }

  /** Whether providers have budgets: which one is known only when a target is. */
  get hasProviderBudgets(): boolean {
    return this.#config.budgets.some(({ per }) => per === "provider");
  }

  /** The rules of an identity at a model. An identity is made anew when its record has changed. */
  of(identity: Identity, model: Model | undefined): RuleSet {
    let sets = this.#sets.get(identity);
    if (sets === undefined) this.#sets.set(identity, (sets = new Map()));
    const entry = model?.entry ?? "";
    const known = sets.get(entry);
    const nowMs = this.#clock.now();
    if (known !== undefined && nowMs < known.untilMs) return known;
    const made = ruleSet(this.#make(identity, model, nowMs));
    sets.set(entry, made);
    return made;
  }

  /** The rules with the budgets of tags that only the request has. */
  withTags(set: RuleSet, identity: Identity, tags: readonly string[]): RuleSet {
    if (tags.length === 0 || !this.#config.budgets.some(({ per }) => per === "tag")) return set;
    const own = new Set(identity.tags);
    const more = [...new Set(tags)].filter((tag) => !own.has(tag));
    const rules = more.flatMap((tag) => this.#budgets(identity, "tag", tag, this.#clock.now()));
    return rules.length === 0 ? set : ruleSet([...rules, ...set.rules]);
  }

  /** The rules of a target: its provider's budgets, and its own windows. */
  ofTarget(identity: Identity, target: Target): readonly Rule[] {
    let windows = this.#targets.get(target);
    if (windows === undefined) this.#targets.set(target, (windows = windowsOfTarget(target)));
    if (!this.hasProviderBudgets) return windows;
    return [...this.#budgets(identity, "provider", target.provider, this.#clock.now()), ...windows];
  }

  #make(identity: Identity, model: Model | undefined, nowMs: number): Rule[] {
    const { keyId, userId, teamId, limits, teamLimits, tags } = identity;
    const isMaster = identity.kind === "master";
    const budgets: Rule[] = [];
    const others: Rule[] = [];
    const record = (name: "key" | "team", id: string, from: RecordLimits | undefined): void => {
      if (from === undefined) return;
      const { maxBudgetNanoUsd: max, budgetDuration: duration, rpm, tpm, maxParallelRequests: parallel } = from;
      if (max !== null) budgets.push(this.#budget({ per: name, id, max, duration, nowMs }));
      if (rpm !== null) others.push(rate(name, `${name}:${id}`, "requests", rpm, MINUTE_MS));
      if (tpm !== null) others.push(rate(name, `${name}:${id}`, "tokens", tpm, MINUTE_MS));
      if (parallel !== null) others.push(slot(name, `${name}:${id}`, parallel));
    };
    record("key", keyId, limits);
    if (teamId !== undefined) record("team", teamId, teamLimits);
    for (const [per, id] of [
      ["key", keyId],
      ["user", userId],
      ["team", teamId],
      ["global", "all"],
    ] as const) {
      if (id !== undefined) budgets.push(...this.#budgets(identity, per, id, nowMs));
    }
    for (const tag of tags) budgets.push(...this.#budgets(identity, "tag", tag, nowMs));
    if (!isMaster || this.#config.limit_master) others.push(...this.#windows(identity, model));
    return distinct([...budgets, ...others]);
  }

  #windows(identity: Identity, model: Model | undefined): Rule[] {
    const { windows, parallel } = this.#config;
    const rules: Rule[] = [];
    for (const { per, requests, tokens, window, only } of windows) {
      const id = subjectId(per, identity, model);
      if (id === undefined || !isMeant(only, per, identity, model)) continue;
      const lengthMs = parseDuration(window) ?? MINUTE_MS;
      if (requests !== undefined) rules.push(rate(per, `${per}:${id}`, "requests", requests, lengthMs));
      if (tokens !== undefined) rules.push(rate(per, `${per}:${id}`, "tokens", tokens, lengthMs));
    }
    for (const { per, requests, only } of parallel) {
      const id = subjectId(per, identity, model);
      if (id !== undefined && isMeant(only, per, identity, model)) rules.push(slot(per, `${per}:${id}`, requests));
    }
    return rules;
  }

  /** The budgets of the options for one subject. The master key's spending is counted where others share the budget. */
  #budgets(identity: Identity, per: BudgetConfig["per"], id: string, nowMs: number): Rule[] {
    const isExempt = identity.kind === "master" && !this.#config.limit_master;
    if (isExempt && (per === "key" || per === "user" || per === "team")) return [];
    return this.#config.budgets.flatMap((budget) => {
      if (budget.per !== per) return [];
      const names = per === "key" ? [id, identity.alias ?? ""] : [id];
      if (budget.only !== undefined && !budget.only.some((name) => names.includes(name))) return [];
      const max = isExempt || budget.max === undefined ? UNLIMITED : nanoUsd(budget.max);
      const soft = budget.soft === undefined ? undefined : nanoUsd(budget.soft);
      return [this.#budget({ per, id, max, soft, duration: budget.duration ?? null, nowMs })];
    });
  }

  #budget(asked: {
    readonly per: BudgetConfig["per"];
    readonly id: string;
    readonly max: number;
    readonly soft?: number | undefined;
    readonly duration: string | null;
    readonly nowMs: number;
  }): BudgetRule {
    const { per, id, max, duration, nowMs } = asked;
    const period = budgetPeriod(duration, nowMs, this.#timeZone);
    const share = this.#softShare === undefined || max === UNLIMITED ? undefined : Math.round(max * this.#softShare);
    return {
      kind: "budget",
      whose: per === "global" ? "gateway" : per === "key" || per === "user" || per === "team" ? per : `${per} ${id}`,
      key: `budget:${per}:${id}:${duration ?? "ever"}:${period.startMs}`,
      limitNanoUsd: max,
      softNanoUsd: asked.soft ?? share,
      period,
      rows: rowsOf(per, id, period.startMs),
      provider: per === "provider" ? id : undefined,
    };
  }
}

/** What is taken of a rule for so many tokens and so much money. */
export function claimOf(rule: Rule, tokens: number, amountNanoUsd: number): Claim {
  switch (rule.kind) {
    case "requests":
    case "slots":
      return rule.claim;
    case "tokens":
      return { ...rule.claim, amount: tokens };
    case "budget":
      return {
        kind: "budget",
        key: rule.key,
        limitNanoUsd: rule.limitNanoUsd,
        amountNanoUsd,
        resetsAtMs: rule.period.endMs,
      };
  }
}

function ruleSet(rules: readonly Rule[]): RuleSet {
  const budgets = rules.filter((rule) => rule.kind === "budget");
  return {
    rules,
    untilMs: Math.min(...budgets.map(({ period }) => period.endMs ?? Infinity)),
    hasTokens: rules.some(({ kind }) => kind === "tokens"),
    hasBudgets: budgets.length > 0,
    isBudgeted: budgets.some(({ limitNanoUsd }) => limitNanoUsd !== UNLIMITED),
  };
}

/** Of several limits under one key the tightest: a reservation has one claim for each key. */
function distinct(rules: readonly Rule[]): Rule[] {
  const byKey = new Map<string, Rule>();
  for (const rule of rules) {
    const key = rule.kind === "budget" ? rule.key : rule.claim.key;
    const known = byKey.get(key);
    if (known === undefined || limitOf(rule) < limitOf(known)) byKey.set(key, rule);
  }
  return [...byKey.values()];
}

function limitOf(rule: Rule): number {
  return rule.kind === "budget" ? rule.limitNanoUsd : rule.claim.limit;
}

const SHOWN: ReadonlySet<string> = new Set(["key", "user", "team", "key_model"]);

function rate(per: string, subject: string, kind: RateRule["kind"], limit: number, windowMs: number): RateRule {
  const key = `${kind}:${subject}:${windowMs}`;
  return {
    kind,
    whose: per === "key_model" ? "key at this model" : per === "global" ? "gateway" : per,
    isShown: SHOWN.has(per),
    claim: { kind: "window", key, limit, windowMs, amount: 1 },
  };
}

function slot(per: string, subject: string, limit: number): SlotRule {
  const whose = per === "key_model" ? "key at this model" : per === "global" ? "gateway" : per;
  return { kind: "slots", whose, claim: { kind: "concurrent", key: `parallel:${subject}`, limit } };
}

function windowsOfTarget({ id, rpm, tpm }: Target): readonly Rule[] {
  const whose = `deployment ${id}`;
  const rules: Rule[] = [];
  if (rpm !== undefined) rules.push({ ...rate("deployment", `deployment:${id}`, "requests", rpm, MINUTE_MS), whose });
  if (tpm !== undefined) rules.push({ ...rate("deployment", `deployment:${id}`, "tokens", tpm, MINUTE_MS), whose });
  return rules;
}

function subjectId(per: WindowSubject, { keyId, userId, teamId }: Identity, model: Model | undefined): string | undefined {
  switch (per) {
    case "key":
      return keyId;
    case "user":
      return userId;
    case "team":
      return teamId;
    case "model":
      return model?.entry;
    case "key_model":
      return model === undefined ? undefined : `${keyId}:${model.entry}`;
    case "global":
      return "all";
  }
}

function isMeant(only: readonly string[] | undefined, per: WindowSubject, identity: Identity, model: Model | undefined): boolean {
  if (only === undefined) return true;
  const names =
    per === "model"
      ? [model?.entry]
      : per === "key_model"
        ? [model?.entry, identity.keyId, identity.alias]
        : [subjectId(per, identity, model), per === "key" ? identity.alias : undefined];
  return only.some((name) => names.includes(name));
}

function rowsOf(per: BudgetConfig["per"], id: string, fromMs: number): LedgerSumFilter {
  switch (per) {
    case "key":
      return { fromMs, keyId: id };
    case "user":
      return { fromMs, userId: id };
    case "team":
      return { fromMs, teamId: id };
    case "tag":
      return { fromMs, tag: id };
    case "provider":
      return { fromMs, provider: id };
    case "global":
      return { fromMs };
  }
}

function nanoUsd(dollars: number): number {
  return Math.round(dollars * NANO_PER_USD);
}
