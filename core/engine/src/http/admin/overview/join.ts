/** The overview, from the parts of all workers. */

import type { JsonObject, WatchedBudget } from "@sluice/contract";
import { dollarsOf } from "@sluice/runtime";
import { MAX_POINTS, type SeriesReading } from "../../../telemetry/series/request-series.ts";
import {
  COUNTS,
  FIRST_CONTENT_AT,
  FIRST_CONTENT_MS,
  OVERHEAD_AT,
  OVERHEAD_MS,
  WIDTH,
} from "../../../telemetry/series/totals.ts";
import type { Attention } from "./attention.ts";
import { byTrouble, type DeploymentTrouble, type OverviewPart } from "./part.ts";

const WORST_DEPLOYMENTS = 5;
const SHOWN_BUDGETS = 20;
const SHOWN_ATTENTION = 20;
const MAX_MARKS = 60;
/** The span whose rates count as now. */
const NOW_MS = 60_000;

/** The answer. */
export function overviewOf(
  parts: readonly OverviewPart[],
  extra: readonly Attention[],
): JsonObject {
  const series = joinSeries(parts.map((part) => part.series));
  const [first] = parts;
  const sum = (valueOf: (part: OverviewPart) => number): number =>
    parts.reduce((total, part) => total + valueOf(part), 0);
  const attention = distinctBy(
    [...extra, ...parts.flatMap((part) => part.attention)],
    ({ key }) => key,
  ).sort((a, b) => Number(b.risk === "danger") - Number(a.risk === "danger"));
  return {
    from: new Date(series.fromMs).toISOString(),
    step_s: series.stepMs / 1_000,
    series: columnsOf(series),
    now: {
      ...ratesOf(series),
      in_flight: sum((part) => part.in_flight),
      queued: sum((part) => part.queued),
    },
    generation: first?.generation ?? null,
    canary: first?.canary ?? null,
    marks: (first?.marks ?? []).slice(-MAX_MARKS) as unknown as readonly JsonObject[],
    deployments: {
      total: Math.max(0, ...parts.map((part) => part.deployments_total)),
      worst: joinTroubles(parts).slice(0, WORST_DEPLOYMENTS) as unknown as readonly JsonObject[],
    },
    budgets: joinBudgets(parts),
    attention: attention.slice(0, SHOWN_ATTENTION) as unknown as readonly JsonObject[],
  };
}

/** Workers that do not serve. */
export function missingWorkers(expected: number, serving: number): readonly Attention[] {
  if (serving >= expected) return [];
  return [
    {
      key: "workers",
      risk: serving === 0 ? "danger" : "caution",
      text: `${serving} of ${expected} workers serve.`,
      next: "A worker that ended is started again. `sluice status` shows why it ended.",
      screen: "system",
    },
  ];
}

/** Sums by step. Parts that were read before and after the begin of a step are shifted by one. */
function joinSeries(all: readonly SeriesReading[]): SeriesReading {
  const [only, second] = all;
  if (only !== undefined && second === undefined) return only;
  const stepMs = all[0]?.stepMs ?? NOW_MS;
  const fromMs = Math.max(...all.map((one) => one.fromMs));
  const count = Math.min(MAX_POINTS, ...all.map((one) => one.steps.length));
  const steps = Array.from({ length: count }, (_, index) => {
    const sums = Array.from({ length: WIDTH }, () => 0);
    for (const one of all) {
      const step = one.steps[index + (fromMs - one.fromMs) / stepMs];
      for (let at = 0; at < WIDTH; at++) sums[at] = (sums[at] as number) + (step?.[at] ?? 0);
    }
    return sums;
  });
  return { fromMs, stepMs, steps };
}

/** Each column as a list of numbers, which a chart takes as it is. */
function columnsOf({ steps }: SeriesReading): JsonObject {
  const counts = COUNTS.map((name, at) => {
    const values = steps.map((step) => step[at] ?? 0);
    return name === "nano_usd" ? ["cost", values.map(dollarsOf)] : [name, values];
  });
  const quantiles = (at: number, bounds: readonly number[], quantile: number) =>
    steps.map((step) => quantileOf(step.slice(at, at + bounds.length + 1), bounds, quantile));
  return {
    ...Object.fromEntries(counts),
    first_content_p50_ms: quantiles(FIRST_CONTENT_AT, FIRST_CONTENT_MS, 0.5),
    first_content_p95_ms: quantiles(FIRST_CONTENT_AT, FIRST_CONTENT_MS, 0.95),
    overhead_p50_ms: quantiles(OVERHEAD_AT, OVERHEAD_MS, 0.5),
    overhead_p95_ms: quantiles(OVERHEAD_AT, OVERHEAD_MS, 0.95),
  };
}

/**
 * A quantile of a histogram, with the values of a bucket spread evenly; `null` without values. What
 * is beyond the last bound counts as the bound.
 */
export function quantileOf(
  counts: readonly number[],
  bounds: readonly number[],
  quantile: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = quantile * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (below + count < rank) {
      below += count;
      continue;
    }
    const from = index === 0 ? 0 : (bounds[index - 1] ?? 0);
    const to = bounds[index] ?? from;
    return rounded(from + (count === 0 ? 0 : ((rank - below) / count) * (to - from)));
  }
  return rounded(bounds.at(-1) ?? 0);
}

function ratesOf({ steps, stepMs }: SeriesReading): JsonObject {
  const count = Math.max(1, Math.ceil(NOW_MS / stepMs));
  const last = steps.slice(-count);
  const seconds = (count * stepMs) / 1_000;
  const sum = (at: number): number => last.reduce((total, step) => total + (step[at] ?? 0), 0);
  return {
    requests_per_second: rounded(sum(0) / seconds),
    cost_per_minute: dollarsOf(Math.round((sum(COUNTS.length - 1) / seconds) * 60)),
  };
}

function joinTroubles(parts: readonly OverviewPart[]): readonly DeploymentTrouble[] {
  const byId = new Map<string, DeploymentTrouble>();
  for (const one of parts.flatMap((part) => part.deployments)) {
    const other = byId.get(one.deployment);
    if (other === undefined) {
      byId.set(one.deployment, one);
      continue;
    }
    const [worse = one] = [one, other].sort(byTrouble);
    byId.set(one.deployment, {
      ...worse,
      success: one.success + other.success,
      failure: one.failure + other.failure,
    });
  }
  return [...byId.values()].sort(byTrouble);
}

function joinBudgets(parts: readonly OverviewPart[]): JsonObject {
  const all = parts.flatMap((part) => part.budgets);
  // Workers with one state see the same counter, one later than the other.
  const newest = all.toSorted((a, b) => b.seenAtMs - a.seenAtMs);
  const budgets = distinctBy(newest, ({ key }) => key).sort((a, b) => partOf(b) - partOf(a));
  return {
    total: budgets.length,
    nearest: budgets.slice(0, SHOWN_BUDGETS).map(describeBudget),
  };
}

function describeBudget(budget: WatchedBudget): JsonObject {
  const { scope, subject, usedNanoUsd, limitNanoUsd, resetsAtMs, seenAtMs } = budget;
  const { keyId, userId, teamId, organizationId, endUser, tag, provider } = scope;
  return {
    subject,
    key_id: keyId ?? null,
    user_id: userId ?? null,
    team_id: teamId ?? null,
    organization_id: organizationId ?? null,
    customer_id: endUser ?? null,
    tag: tag ?? null,
    provider: provider ?? null,
    used: dollarsOf(usedNanoUsd),
    max_budget: dollarsOf(limitNanoUsd),
    part: rounded(partOf(budget)),
    resets_at: resetsAtMs === null ? null : new Date(resetsAtMs).toISOString(),
    seen_at: new Date(seenAtMs).toISOString(),
  };
}

function partOf({ usedNanoUsd, limitNanoUsd }: WatchedBudget): number {
  return limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd;
}

function distinctBy<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const byKey = new Map<string, T>();
  for (const value of values) if (!byKey.has(keyOf(value))) byKey.set(keyOf(value), value);
  return [...byKey.values()];
}

/** Three decimals are enough for a chart, and keep an answer short. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
