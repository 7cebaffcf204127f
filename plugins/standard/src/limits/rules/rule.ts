/** One limit of a key, a team, a target or the step's options, and what is taken of it. */

import type { BudgetPeriod } from "@sluice/runtime";
import type { BudgetGauge } from "../budget-gauges.ts";
import type {
  Claim,
  ConcurrentClaim,
  LedgerSumFilter,
  StateGroup,
  Target,
  WindowClaim,
} from "@sluice/contract";
import type { BudgetConfig, WindowSubject } from "../config.ts";
import { type Belonging, groupOf } from "./groups.ts";

/** A minute, in milliseconds: the window of `rpm` and `tpm`. */
export const MINUTE_MS = 60_000;

/** Spending that is counted and not limited. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** One limit. What is taken of it depends on the request. */
export type Rule = RateRule | SlotRule | BudgetRule;

/** Whose limit a rule is, and where it holds. */
export interface Subject {
  /** In the words of a message: `key`, `team`, `deployment openai/gpt-4o`, … */
  readonly subject: string;
  /**
   * Whether the client may know how it stands: the limits of its own, not those that it shares with
   * other tenants.
   */
  readonly isShown: boolean;
  /** Whether it holds at a model: it is known when the body is. */
  readonly isOfModel: boolean;
  /**
   * The key that named the customer whose limit it is: its counters are among those that the key
   * holds. Absent: it is no customer's. A customer is known when the body is.
   */
  readonly holder?: string | undefined;
  /** Whether it is one key's alone. All others are shared. */
  readonly isOfOneKey: boolean;
  /** The counters with which it is decided in one step. */
  readonly group: StateGroup;
}

/** What a rule is counted in beside shared state. It is filled in while the step serves. */
export interface RuleUse {
  /** The use of a limit by keys: `key-share.ts`. */
  use: object | undefined;
}

/** Requests or tokens in a window. */
export interface RateRule extends Subject, RuleUse {
  readonly kind: "requests" | "tokens";
  /** The id of the target that has the limit. */
  readonly target: string | undefined;
  /** For requests what is taken; for tokens a model of it. */
  readonly claim: WindowClaim;
}

/** Requests at the same time. */
export interface SlotRule extends Subject, RuleUse {
  readonly kind: "slots";
  readonly claim: ConcurrentClaim;
  /**
   * The limit that keys share, where this rule is the part of one key in it. The limit of the claim
   * is then the part of a key that is alone.
   */
  readonly partOf: SlotRule | undefined;
}

/** Money in a period. */
export interface BudgetRule extends Subject, RuleUse {
  readonly kind: "budget";
  readonly key: string;
  /** `MAX_SAFE_INTEGER` where spending is only counted. */
  readonly limitNanoUsd: number;
  readonly softNanoUsd: number | undefined;
  readonly period: BudgetPeriod;
  /** The rows that were spent of it. */
  readonly rows: LedgerSumFilter;
  /** Further rows: those of the keys that were made with a key. */
  readonly moreRows: LedgerSumFilter | undefined;
  /** What was spent of it before its key or team was imported. */
  readonly importedNanoUsd: number;
  /** The provider whose attempts count; `undefined`: all providers. */
  readonly provider: string | undefined;
  /** Names of the models whose attempts count; `undefined`: all models. */
  readonly models: readonly string[] | undefined;
  /** Its metrics; `undefined`: it is none. */
  readonly gauge: BudgetGauge | undefined;
}

/** A claim that is more than a key's share. */
export interface OverShare {
  readonly rule: Rule;
  /** What the key has reserved, and what it may. Nano-dollars for budgets. */
  readonly open: number;
  readonly max: number;
}

/** The rules of an identity at a model. */
export interface RuleSet {
  /** In the order in which they are asked: budgets, windows, slots. */
  readonly rules: readonly Rule[];
  /** Requests and slots of the identity itself, taken before the body is read. */
  readonly early: readonly Rule[];
  /** Those that need the request: budgets, tokens, and what holds at a model. */
  readonly late: readonly Rule[];
  /** Until when, milliseconds since 1970. */
  readonly untilMs: number;
  readonly hasTokens: boolean;
  readonly hasBudgets: boolean;
  /** Whether a budget may refuse. */
  readonly isBudgeted: boolean;
}

/**
 * What is taken of a rule for so many tokens and so much money. Every request makes these: a claim
 * of a kind has one shape, or each read of its members would be a search.
 */
export function claimOf(rule: Rule, tokens: number, amountNanoUsd: number): Claim {
  switch (rule.kind) {
    case "requests":
    case "slots":
      return rule.claim;
    case "tokens": {
      const { group } = rule;
      const { key, limit, windowMs, holder } = rule.claim;
      return { kind: "window", key, limit, windowMs, amount: tokens, group, holder };
    }
    case "budget": {
      const { key, limitNanoUsd, group, holder, period } = rule;
      const resetsAtMs = period.endMs;
      return { kind: "budget", key, limitNanoUsd, amountNanoUsd, resetsAtMs, group, holder };
    }
  }
}

/** Whether a rule is a budget that may refuse. */
export function isEnforced(rule: Rule): boolean {
  return rule.kind === "budget" && rule.limitNanoUsd !== UNLIMITED;
}

/** A set of rules, with what a request must be looked at for. */
export function ruleSet(rules: readonly Rule[]): RuleSet {
  const budgets = rules.filter((rule) => rule.kind === "budget");
  return {
    rules,
    early: rules.filter(isEarly),
    late: rules.filter((rule) => !isEarly(rule)),
    untilMs: Math.min(...budgets.map(({ period }) => period.endMs ?? Infinity)),
    hasTokens: rules.some(({ kind }) => kind === "tokens"),
    hasBudgets: budgets.length > 0,
    isBudgeted: budgets.some(({ limitNanoUsd }) => limitNanoUsd !== UNLIMITED),
  };
}

/** The rules of two sets. Those of the second are asked last. */
export function joinSets(first: RuleSet, second: RuleSet): RuleSet {
  return {
    rules: [...first.rules, ...second.rules],
    early: first.early,
    late: [...first.late, ...second.late],
    untilMs: Math.min(first.untilMs, second.untilMs),
    hasTokens: first.hasTokens || second.hasTokens,
    hasBudgets: first.hasBudgets || second.hasBudgets,
    isBudgeted: first.isBudgeted || second.isBudgeted,
  };
}

/** Whether a limit is known by the identity alone, and what is taken of it as well. */
function isEarly(rule: Rule): boolean {
  return (
    (rule.kind === "requests" || rule.kind === "slots") &&
    !rule.isOfModel &&
    rule.holder === undefined
  );
}

/** What a rule is counted under in shared state, among those of its kind. */
export function keyOf(rule: Rule): string {
  return rule.kind === "budget" ? rule.key : rule.claim.key;
}

/** The tightest of several limits under one key: a reservation has one claim for each key. */
export function distinct(rules: readonly Rule[]): Rule[] {
  const byKey = new Map<string, Rule>();
  for (const rule of rules) {
    const key = keyOf(rule);
    const known = byKey.get(key);
    const tightest = known === undefined || limitOf(rule) < limitOf(known) ? rule : known;
    byKey.set(key, known === undefined ? rule : withSoft(tightest, known, rule));
  }
  return [...byKey.values()];
}

/** The rule with the lower soft limit of two. */
function withSoft(tightest: Rule, ...both: readonly [Rule, Rule]): Rule {
  const soft = both
    .map((rule) => (rule.kind === "budget" ? rule.softNanoUsd : undefined))
    .filter((limit) => limit !== undefined);
  return tightest.kind !== "budget" || soft.length === 0
    ? tightest
    : { ...tightest, softNanoUsd: Math.min(...soft) };
}

function limitOf(rule: Rule): number {
  return rule.kind === "budget" ? rule.limitNanoUsd : rule.claim.limit;
}

/** Whose limits the client may know: those of its own. */
const SHOWN: ReadonlySet<string> = new Set(["key", "user", "team", "key_model"]);

/** The subjects that options name. */
type PerSubject = BudgetConfig["per"] | WindowSubject;

/** The subject of a limit of the options: that of a key, a team, a model, all keys, … */
export function subjectOf(per: PerSubject, id: string, identity: Belonging): Subject {
  return {
    subject: wordsFor(per, id),
    isShown: SHOWN.has(per),
    isOfModel: per === "model" || per === "key_model",
    isOfOneKey: per === "key" || per === "key_model",
    group: groupOf(per, id, identity),
  };
}

function wordsFor(per: PerSubject, id: string): string {
  if (per === "global") return "gateway";
  if (per === "key_model") return "key at this model";
  return per === "tag" || per === "provider" ? `${per} ${id}` : per;
}

/** What the requests or tokens of a window are counted under. */
export function rateKey(kind: RateRule["kind"], subjectKey: string, windowMs: number): string {
  return `${kind}:${subjectKey}:${windowMs}`;
}

/** Requests or tokens in a window of a subject. `subjectKey` names it in shared state. */
export function rate(
  subject: Subject,
  subjectKey: string,
  kind: RateRule["kind"],
  limit: number,
  windowMs: number,
  target?: string,
): RateRule {
  const key = rateKey(kind, subjectKey, windowMs);
  const { group, holder } = subject;
  const claim = { kind: "window", key, limit, windowMs, amount: 1, group, holder } as const;
  return { ...shapeOf(subject), kind, target, claim, use: undefined };
}

/** Requests at the same time. */
export function slot(subject: Subject, subjectKey: string, limit: number): SlotRule {
  return slotRule(subject, `parallel:${subjectKey}`, limit, undefined);
}

function slotRule(
  subject: Subject,
  key: string,
  limit: number,
  partOf: SlotRule | undefined,
): SlotRule {
  const { group, holder } = subject;
  const claim = { kind: "concurrent", key, limit, group, holder } as const;
  return { ...shapeOf(subject), kind: "slots", partOf, claim, use: undefined };
}

/** A subject with every member, in one order. */
export function shapeOf({
  subject,
  isShown,
  isOfModel,
  holder,
  isOfOneKey,
  group,
}: Subject): Required<Subject> {
  return { subject, isShown, isOfModel, holder, isOfOneKey, group };
}

/**
 * Rules with the part of a key before each limit of concurrent requests that it shares. A
 * reservation takes both: the part holds in all processes that have the same state.
 */
export function withKeyParts(rules: readonly Rule[], keyId: string): Rule[] {
  return rules.flatMap((rule) => {
    if (rule.kind !== "slots" || rule.isOfOneKey) return [rule];
    const { key, limit } = rule.claim;
    return [slotRule(rule, `part:${keyId}:${key}`, slotsAlone(limit), rule), rule];
  });
}

/**
 * The slots of a key without other keys: all of up to 3, otherwise all but an eighth, at least 1.
 */
function slotsAlone(limit: number): number {
  return limit < 4 ? Math.max(1, limit) : limit - Math.max(1, Math.floor(limit / 8));
}

/** A deployment serves all identities. */
const NO_IDENTITY: Belonging = { keyId: "", userId: undefined, teamId: undefined };

/** The windows of a deployment. */
export function windowsOfTarget({ id, rpm, tpm }: Target): readonly Rule[] {
  const subject: Subject = {
    subject: `deployment ${id}`,
    isShown: false,
    isOfModel: false,
    isOfOneKey: false,
    group: groupOf("deployment", id, NO_IDENTITY),
  };
  const rules: Rule[] = [];
  if (rpm !== undefined) rules.push(rate(subject, `deployment:${id}`, "requests", rpm, MINUTE_MS));
  if (tpm !== undefined)
    rules.push(rate(subject, `deployment:${id}`, "tokens", tpm, MINUTE_MS, id));
  return rules;
}
