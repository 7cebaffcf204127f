/**
 * Rules: which limits hold for an identity at a model. Made once for both, and anew when a budget's
 * period ends.
 */

import { budgetPeriod, configuredNanoUsd } from "@sluice/runtime";
import { parseDuration } from "@sluice/kit";
import type {
  Host,
  Identity,
  LedgerSumFilter,
  Model,
  RecordLimits,
  Target,
} from "@sluice/contract";
import { foreignTag } from "./foreign-tag.ts";
import {
  type BudgetRule,
  distinct,
  MINUTE_MS,
  rate,
  type Rule,
  type RuleSet,
  ruleSet,
  slot,
  UNLIMITED,
  windowsOfTarget,
} from "./rule.ts";
import type { BudgetConfig, LimitsConfig, WindowSubject } from "./config.ts";

/** The rules of a step's options, and of keys, teams and targets. */
export class LimitResolver {
  readonly #config: LimitsConfig;
  readonly #clock: Host["clock"];
  readonly #timeZone: string;
  readonly #softShare: number | undefined;
  /** Tags that a budget names. */
  readonly #ownTags: ReadonlySet<string>;
  readonly #sets = new WeakMap<Identity, Map<string, RuleSet>>();
  readonly #targets = new WeakMap<Target, readonly Rule[]>();

  constructor(config: LimitsConfig, { clock, timeZone }: Host) {
    this.#config = config;
    this.#ownTags = new Set(
      config.budgets.flatMap(({ per, only = [] }) => (per === "tag" ? only : [])),
    );
    this.#clock = clock;
    this.#timeZone = timeZone;
    this.#softShare =
      config.soft_budget === undefined ? undefined : Number.parseInt(config.soft_budget, 10) / 100;
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

  /**
   * The rules with the budgets of tags that only the request has. Throws `permission_denied` for a
   * tag with a budget of its own that the key may not name.
   */
  withTags(set: RuleSet, identity: Identity, tags: readonly string[]): RuleSet {
    if (tags.length === 0 || !this.#config.budgets.some(({ per }) => per === "tag")) return set;
    const own = new Set(identity.tags);
    const more = [...new Set(tags)].filter((tag) => !own.has(tag));
    if (identity.kind !== "master") {
      const allowed = identity.allowedTags ?? [];
      const foreign = more.find((tag) => this.#ownTags.has(tag) && !allowed.includes(tag));
      if (foreign !== undefined) throw foreignTag(foreign);
    }
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
      const {
        maxBudgetNanoUsd,
        softBudgetNanoUsd,
        budgetDuration: duration,
        rpm,
        tpm,
        maxParallelRequests: parallel,
      } = from;
      if (maxBudgetNanoUsd !== null || softBudgetNanoUsd !== null) {
        const [max, soft] = [maxBudgetNanoUsd ?? UNLIMITED, softBudgetNanoUsd ?? undefined];
        budgets.push(this.#budget({ per: name, id, max, soft, duration, nowMs }));
      }
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
      if (requests !== undefined)
        rules.push(rate(per, `${per}:${id}`, "requests", requests, lengthMs));
      if (tokens !== undefined) rules.push(rate(per, `${per}:${id}`, "tokens", tokens, lengthMs));
    }
    for (const { per, requests, only } of parallel) {
      const id = subjectId(per, identity, model);
      if (id !== undefined && isMeant(only, per, identity, model))
        rules.push(slot(per, `${per}:${id}`, requests));
    }
    return rules;
  }

  /**
   * The budgets of the options for one subject. The master key's spending is counted where others
   * share the budget.
   */
  #budgets(identity: Identity, per: BudgetConfig["per"], id: string, nowMs: number): Rule[] {
    const isExempt = identity.kind === "master" && !this.#config.limit_master;
    if (isExempt && (per === "key" || per === "user" || per === "team")) return [];
    return this.#config.budgets.flatMap((budget) => {
      if (budget.per !== per) return [];
      const names = per === "key" ? [id, identity.alias ?? ""] : [id];
      if (budget.only !== undefined && !budget.only.some((name) => names.includes(name))) return [];
      const max = isExempt || budget.max === undefined ? UNLIMITED : configuredNanoUsd(budget.max);
      const soft = budget.soft === undefined ? undefined : configuredNanoUsd(budget.soft);
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
    const share =
      this.#softShare === undefined || max === UNLIMITED
        ? undefined
        : Math.round(max * this.#softShare);
    return {
      kind: "budget",
      subject:
        per === "global"
          ? "gateway"
          : per === "key" || per === "user" || per === "team"
            ? per
            : `${per} ${id}`,
      key: `budget:${per}:${id}:${duration ?? "ever"}:${period.startMs}`,
      limitNanoUsd: max,
      softNanoUsd: asked.soft ?? share,
      period,
      rows: rowsOf(per, id, period.startMs),
      provider: per === "provider" ? id : undefined,
    };
  }
}

function subjectId(
  per: WindowSubject,
  { keyId, userId, teamId }: Identity,
  model: Model | undefined,
): string | undefined {
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

function isMeant(
  only: readonly string[] | undefined,
  per: WindowSubject,
  identity: Identity,
  model: Model | undefined,
): boolean {
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
