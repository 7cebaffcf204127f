/** The budgets of the options and of scopes. Each is a rule for its current period. */

import {
  type Amounts,
  type Host,
  type Identity,
  type LedgerSumFilter,
  type LimitScope,
} from "@sluice/contract";
import {
  anchoredPeriod,
  type BudgetPeriod,
  budgetPeriod,
  configuredNanoUsd,
  importedSince,
} from "@sluice/runtime";
import { BudgetGauges } from "../budget-gauges.ts";
import type { BudgetConfig, LimitsConfig } from "../config.ts";
import { namesOfKey, rowsOfMade } from "./maker.ts";
import { modelsInRows } from "./model-names.ts";
import { type BudgetRule, shapeOf, type Subject, subjectOf, UNLIMITED } from "./rule.ts";

type Per = BudgetConfig["per"];

/** Whose money a budget of a scope counts. */
export interface BudgetSubject extends Subject {
  /** Names it in shared state. */
  readonly subjectKey: string;
  /** The rows that count, of any time. */
  readonly rows: LedgerSumFilter;
  /** Further rows that count. */
  readonly moreRows: LedgerSumFilter | undefined;
  /** Names of the models whose attempts count. Absent: all. */
  readonly models?: readonly string[];
}

/** Makes the rules of budgets. */
export class BudgetRules {
  readonly #budgets: readonly BudgetConfig[];
  readonly #limitsMaster: boolean;
  readonly #timeZone: string;
  readonly #models: Host["models"];
  /** The part of a budget that is its soft limit, unless it has one of its own. */
  readonly #softShare: number | undefined;
  readonly #gauges: BudgetGauges;
  /** Tags that a budget names. */
  readonly #namedTags: ReadonlySet<string>;
  readonly hasProviders: boolean;
  readonly hasTags: boolean;

  constructor(config: LimitsConfig, host: Host) {
    const { budgets, limit_master, soft_budget } = config;
    const { timeZone, models } = host;
    this.#gauges = new BudgetGauges(config.budget_metrics, host);
    this.#models = models;
    this.#budgets = budgets;
    this.#limitsMaster = limit_master;
    this.#timeZone = timeZone;
    this.#softShare =
      soft_budget === undefined ? undefined : Number.parseInt(soft_budget, 10) / 100;
    this.#namedTags = new Set(budgets.flatMap(({ per, only = [] }) => (per === "tag" ? only : [])));
    this.hasProviders = budgets.some(({ per }) => per === "provider");
    this.hasTags = budgets.some(({ per }) => per === "tag");
  }

  /** Whether a budget names a tag. */
  names(tag: string): boolean {
    return this.#namedTags.has(tag);
  }

  /**
   * The budgets of the options for one subject. The master key's spending is counted where others
   * share the budget.
   */
  of(identity: Identity, per: Per, id: string, nowMs: number): BudgetRule[] {
    const isExempt = identity.kind === "master" && !this.#limitsMaster;
    if (isExempt && (per === "key" || per === "user" || per === "team")) return [];
    return this.#budgets.flatMap((budget) => {
      if (budget.per !== per) return [];
      const names = per === "key" ? namesOfKey(identity) : [id];
      if (budget.only !== undefined && !budget.only.some((name) => names.includes(name))) return [];
      const max = isExempt || budget.max === undefined ? UNLIMITED : configuredNanoUsd(budget.max);
      const soft = budget.soft === undefined ? undefined : configuredNanoUsd(budget.soft);
      const duration = budget.duration ?? null;
      const period = budgetPeriod(duration, nowMs, this.#timeZone);
      const made = per === "key" ? rowsOfMade(id, identity) : undefined;
      const imported = identity.scopes?.find((scope) => scope.kind === per && scope.id === id);
      return {
        ...shapeOf(subjectOf(per, id, identity)),
        kind: "budget",
        key: budgetKey(`${per}:${id}`, duration, period),
        limitNanoUsd: max,
        softNanoUsd: soft ?? this.#softOf(max),
        period,
        rows: { fromMs: period.startMs, ...rowsOf(per, id) },
        moreRows: made && { ...made, fromMs: period.startMs },
        importedNanoUsd: importedSince(imported?.importedSpend, period.startMs),
        provider: per === "provider" ? id : undefined,
        models: undefined,
        gauge: max === UNLIMITED ? undefined : this.#gauges.of(per, id, duration),
        use: undefined,
      };
    });
  }

  /** The budget among the amounts of a scope; `undefined` where they have none. */
  ofScope(
    { subjectKey, rows, moreRows, models, ...subject }: BudgetSubject,
    { maxBudgetNanoUsd, softBudgetNanoUsd, budgetDuration: duration }: Amounts,
    { kind, id, anchor, createdAtMs, importedSpend }: LimitScope,
    nowMs: number,
  ): BudgetRule | undefined {
    if (maxBudgetNanoUsd === null && softBudgetNanoUsd === null) return undefined;
    const max = maxBudgetNanoUsd ?? UNLIMITED;
    const period =
      anchor === "creation"
        ? anchoredPeriod(duration, nowMs, this.#timeZone, createdAtMs)
        : budgetPeriod(duration, nowMs, this.#timeZone);
    return {
      ...shapeOf(subject),
      kind: "budget",
      key: budgetKey(subjectKey, duration, period),
      limitNanoUsd: max,
      softNanoUsd: softBudgetNanoUsd ?? this.#softOf(max),
      period,
      rows: { ...rows, fromMs: period.startMs },
      moreRows: moreRows && { ...moreRows, fromMs: period.startMs },
      // What was spent before the import has no model.
      importedNanoUsd: models === undefined ? importedSince(importedSpend, period.startMs) : 0,
      provider: undefined,
      models,
      gauge:
        models === undefined && max !== UNLIMITED ? this.#gauges.of(kind, id, duration) : undefined,
      use: undefined,
    };
  }

  /** Names of models as rows have them. */
  modelsInRows(names: readonly string[]): readonly string[] {
    return modelsInRows(names, this.#models.list());
  }

  #softOf(max: number): number | undefined {
    const share = this.#softShare;
    return share === undefined || max === UNLIMITED ? undefined : Math.round(max * share);
  }
}

function budgetKey(subjectKey: string, duration: string | null, { startMs }: BudgetPeriod): string {
  return `budget:${subjectKey}:${duration ?? "ever"}:${startMs}`;
}

function rowsOf(per: Per, id: string): LedgerSumFilter {
  switch (per) {
    case "key":
      return { keyId: id };
    case "user":
      return { userId: id };
    case "team":
      return { teamId: id };
    case "tag":
      return { tag: id };
    case "provider":
      return { provider: id };
    case "global":
      return {};
  }
}
