/** The budgets of the options, of keys and of teams. Each is a rule for its current period. */

import {
  type Host,
  type Identity,
  type ImportedSpend,
  type LedgerSumFilter,
  type RecordLimits,
} from "@sluice/contract";
import { budgetPeriod, configuredNanoUsd, importedSince } from "@sluice/runtime";
import type { BudgetConfig, LimitsConfig } from "../config.ts";
import { type BudgetRule, UNLIMITED } from "./rule.ts";

type Per = BudgetConfig["per"];

/** A budget without its period. */
interface Budget {
  readonly max: number;
  readonly soft: number | undefined;
  readonly duration: string | null;
  readonly imported: ImportedSpend | undefined;
}

/** Makes the rules of budgets. */
export class BudgetRules {
  readonly #budgets: readonly BudgetConfig[];
  readonly #limitsMaster: boolean;
  readonly #timeZone: string;
  /** The part of a budget that is its soft limit, unless it has one of its own. */
  readonly #softShare: number | undefined;
  /** Tags that a budget names. */
  readonly #namedTags: ReadonlySet<string>;
  readonly hasProviders: boolean;
  readonly hasTags: boolean;

  constructor({ budgets, limit_master, soft_budget }: LimitsConfig, { timeZone }: Host) {
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
      const names = per === "key" ? [id, identity.alias ?? ""] : [id];
      if (budget.only !== undefined && !budget.only.some((name) => names.includes(name))) return [];
      const max = isExempt || budget.max === undefined ? UNLIMITED : configuredNanoUsd(budget.max);
      const soft = budget.soft === undefined ? undefined : configuredNanoUsd(budget.soft);
      const duration = budget.duration ?? null;
      const imported = importedOf(identity, per, id);
      return [this.#rule(per, id, { max, soft, duration, imported }, nowMs)];
    });
  }

  /** The budget of a key's or a team's record; `undefined` where it has none. */
  ofRecord(
    per: "key" | "team",
    id: string,
    { maxBudgetNanoUsd, softBudgetNanoUsd, budgetDuration: duration, importedSpend }: RecordLimits,
    nowMs: number,
  ): BudgetRule | undefined {
    if (maxBudgetNanoUsd === null && softBudgetNanoUsd === null) return undefined;
    const [max, soft] = [maxBudgetNanoUsd ?? UNLIMITED, softBudgetNanoUsd ?? undefined];
    return this.#rule(per, id, { max, soft, duration, imported: importedSpend }, nowMs);
  }

  #rule(
    per: Per,
    id: string,
    { max, soft, duration, imported }: Budget,
    nowMs: number,
  ): BudgetRule {
    const period = budgetPeriod(duration, nowMs, this.#timeZone);
    const share = this.#softShare;
    const softOfShare =
      share === undefined || max === UNLIMITED ? undefined : Math.round(max * share);
    return {
      kind: "budget",
      subject: subjectOf(per, id),
      key: `budget:${per}:${id}:${duration ?? "ever"}:${period.startMs}`,
      limitNanoUsd: max,
      softNanoUsd: soft ?? softOfShare,
      period,
      rows: rowsOf(per, id, period.startMs),
      importedNanoUsd: importedSince(imported, period.startMs),
      provider: per === "provider" ? id : undefined,
    };
  }
}

/** What the key or the team of an identity had spent before its import. */
function importedOf(
  { keyId, teamId, limits, teamLimits }: Identity,
  per: Per,
  id: string,
): ImportedSpend | undefined {
  if (per === "key" && id === keyId) return limits?.importedSpend;
  return per === "team" && id === teamId ? teamLimits?.importedSpend : undefined;
}

/** In the words of a message. */
function subjectOf(per: Per, id: string): string {
  if (per === "global") return "gateway";
  return per === "key" || per === "user" || per === "team" ? per : `${per} ${id}`;
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
