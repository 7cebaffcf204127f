/** What a client sees of limits: refusals, and how its own limits stand. */

import {
  type ClaimState,
  type Clock,
  type ErrorCode,
  type Exchange,
  GatewayError,
  type HostedTool,
  type Host,
  isGatewayError,
  type MetricDescription,
  type Refused,
  type MaybePromise,
  type StateReading,
} from "@sluice/contract";
import { dollarText } from "@sluice/runtime";
import type { BudgetRule, OverShare, Rule, SlotRule } from "./rules/rule.ts";

/** A slot is free when a request ends. The time of that is not known. */
const SLOT_WAIT_MS = 1_000;

/** Official clients wait so long at most before they repeat a request. */
const MAX_RETRY_WAIT_MS = 60_000;

/** Official clients repeat a 429 by themselves, unless this says that it does not help. */
export const NO_RETRY = Object.freeze({ "x-should-retry": "false" });

/** Which kind of limit refused. Its name on the page begins with `sluice_limits_`. */
export const REFUSALS: MetricDescription = {
  name: "refusals_total",
  help: "Requests and upstream calls refused by a limit, by kind: requests, tokens, slots or budget.",
  labels: ["kind"],
};

/** Refusals before a call: by a window, by a budget, after a wait for a connection or a slot. */
const OWN_LIMITS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "rate_limited",
  "budget_exceeded",
  "overloaded",
]);

/** Whether a failure is a limit of the gateway's own: no upstream was called. */
export function isOwnLimit(error: unknown): boolean {
  return isGatewayError(error) && OWN_LIMITS.has(error.code);
}

/** Throws the error of a refused reservation, or rejects with it after a budget was read. */
export function refuse(
  result: Refused,
  rules: readonly Rule[],
  host: Pick<Host, "clock" | "metrics" | "state">,
  isOfTarget: boolean,
): MaybePromise<never> {
  const rule = rules[result.failedIndex];
  const end = (readings: readonly StateReading[]): never => {
    throw refusalOf(result, rules, host, isOfTarget, readings[0]);
  };
  if (rule?.kind !== "budget") return end([]);
  const read = host.state.read([rule.key], rule.group);
  return read instanceof Promise ? read.then(end, () => end([])) : end(read);
}

/** The error of a refused reservation, counted. `isOfTarget`: another target may be free. */
export function refusalOf(
  { failedIndex, neverFits, retryAfterMs, states }: Refused,
  rules: readonly Rule[],
  { clock, metrics }: Pick<Host, "clock" | "metrics">,
  isOfTarget: boolean,
  reading?: StateReading,
): GatewayError {
  const rule = rules[failedIndex];
  if (rule === undefined)
    throw new GatewayError(
      "internal_error",
      "Shared state refused a claim that the reservation does not have.",
    );
  metrics.counter(REFUSALS).with(rule.kind).add();
  if (rule.kind === "budget")
    return budgetRefusal(rule, states[failedIndex], clock, isOfTarget, reading);
  const { limit } = rule.claim;
  if (rule.kind === "slots") {
    const message = slotsText(rule, states[failedIndex]);
    return new GatewayError("rate_limited", message, {
      retryAfterMs: SLOT_WAIT_MS,
      retryable: isOfTarget,
    });
  }
  const span = spanOf(rule.claim.windowMs);
  const message = neverFits
    ? `The request is larger than the ${rule.subject}'s limit of ${limit} ${rule.kind} in ${span}.`
    : `The ${rule.subject}'s limit of ${limit} ${rule.kind} in ${span} is reached.`;
  return new GatewayError("rate_limited", message, {
    retryable: isOfTarget,
    ...(neverFits || (retryAfterMs ?? 0) > MAX_RETRY_WAIT_MS ? { headers: NO_RETRY } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/**
 * The refusal of a key that has its share of a limit it shares with other keys. Waiting helps: the
 * reservations end.
 */
export function overShareRefusal(
  { rule, open, max }: OverShare,
  { metrics }: Pick<Host, "metrics">,
  isOfTarget: boolean,
): GatewayError {
  metrics.counter(REFUSALS).with(rule.kind).add();
  const isBudget = rule.kind === "budget";
  const show = (amount: number): string =>
    isBudget ? `${dollarText(amount)} US dollars` : `${amount} tokens`;
  const limit = isBudget ? rule.limitNanoUsd : rule.claim.limit;
  const message = `Requests of this key may reserve ${show(max)} of the ${rule.subject}'s ${isBudget ? "budget" : "limit"} of ${show(limit)} while other keys use it; ${show(open)} are reserved by requests under way. A smaller max_tokens may help.`;
  return new GatewayError(isBudget ? "budget_exceeded" : "rate_limited", message, {
    retryable: isOfTarget,
    retryAfterMs: SLOT_WAIT_MS,
  });
}

function slotsText({ subject, claim, partOf }: SlotRule, state: ClaimState | undefined): string {
  return partOf === undefined
    ? `The ${subject}'s limit of ${claim.limit} concurrent requests is reached. Retry when one finishes.`
    : `This key may have ${state?.limit ?? claim.limit} of the ${subject}'s limit of ${partOf.claim.limit} concurrent requests; the rest is for other keys. Retry when one finishes.`;
}

function budgetRefusal(
  rule: BudgetRule,
  state: ClaimState | undefined,
  clock: Clock,
  isOfTarget: boolean,
  reading: StateReading | undefined,
): GatewayError {
  const { subject, limitNanoUsd, period, isShown } = rule;
  // What is left of a budget that other tenants share is how much they have spent.
  const left = isShown ? (state?.remaining ?? 0) : 0;
  const { spentNanoUsd: spent, reservedNanoUsd: reserved } = (isShown ? reading : undefined) ?? {};
  const stand =
    spent === undefined || reserved === undefined || reserved === 0
      ? ""
      : ` ${dollarText(spent)} are spent, and ${dollarText(reserved)} are reserved by requests under way.`;
  const message =
    left > 0
      ? `The request may cost more than is left of the ${subject}'s budget: ${dollarText(left)} of ${dollarText(limitNanoUsd)} US dollars. A smaller max_tokens may help.${stand}`
      : `The ${subject}'s budget of ${dollarText(limitNanoUsd)} US dollars is spent or reserved.${stand}`;
  return new GatewayError("budget_exceeded", message, {
    retryable: isOfTarget,
    headers: NO_RETRY,
    ...(period.endMs === null ? {} : { retryAfterMs: Math.max(1_000, period.endMs - clock.now()) }),
  });
}

/** The refusal of a call without a known price under a budget. Another target may have one. */
export function unpricedRefusal(model: string, tool?: HostedTool): GatewayError {
  const shown = JSON.stringify(model.slice(0, 200));
  if (tool !== undefined) {
    const text = `The tool ${tool} of the model ${shown} has no known price. It is refused where a budget holds, as for this request; the operator can set \`tools\` of its \`price\`.`;
    return new GatewayError("budget_exceeded", text, {
      param: "tools",
      retryable: true,
      headers: NO_RETRY,
    });
  }
  const message = `The model ${shown} has no known price. Such a model is refused where a budget holds, as for this request; the operator can set a \`price\`.`;
  return new GatewayError("budget_exceeded", message, {
    param: "model",
    retryable: true,
    headers: NO_RETRY,
  });
}

/**
 * Sets `x-ratelimit-*` by the tightest of the client's own windows. `early` is the tightest window
 * of requests that was shown before; the result is that of these too.
 */
export function showLimits(
  { headers }: Exchange,
  rules: readonly Rule[],
  states: readonly (ClaimState | undefined)[],
  early?: ClaimState,
): ClaimState | undefined {
  let requests = early;
  let tokens: ClaimState | undefined;
  for (let index = 0; index < rules.length; index += 1) {
    const rule = rules[index]!;
    const { kind } = rule;
    const state = kind === "requests" || kind === "tokens" ? states[index] : undefined;
    if (state === undefined || !rule.isShown) continue;
    if (kind === "requests") requests = tighter(requests, state);
    else tokens = tighter(tokens, state);
  }
  if (requests !== undefined && requests !== early) {
    headers.set("x-ratelimit-limit-requests", String(requests.limit));
    headers.set("x-ratelimit-remaining-requests", String(requests.remaining));
    headers.set("x-ratelimit-reset-requests", resetText(requests.resetMs ?? 0));
  }
  if (tokens !== undefined) {
    headers.set("x-ratelimit-limit-tokens", String(tokens.limit));
    headers.set("x-ratelimit-remaining-tokens", String(tokens.remaining));
    headers.set("x-ratelimit-reset-tokens", resetText(tokens.resetMs ?? 0));
  }
  return requests;
}

function tighter(before: ClaimState | undefined, state: ClaimState): ClaimState {
  return before === undefined || state.remaining < before.remaining ? state : before;
}

/** A span as the reference API writes it in these headers: `120ms`, `1s`, `6m0s`, `1h0m3s`. */
export function resetText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}

function spanOf(windowMs: number): string {
  return windowMs === 60_000
    ? "a minute"
    : windowMs === 3_600_000
      ? "an hour"
      : `${windowMs / 1_000} s`;
}
