/** What one process knows for the overview. Several workers' parts are joined. */

import type { BudgetWatch, DeploymentRegistry, WatchedBudget } from "@sluice/contract";
import { BUDGET_WATCH_KEY, DEPLOYMENTS_KEY } from "@sluice/contract";
import type { LedgerHealth } from "../../../accounting/ledger/ledger.ts";
import { summaryOf } from "../../../generation/diff/effects/effect.ts";
import type { ConfigEdits } from "../../../generation/rollout/edits.ts";
import type { SharedPool } from "../../../resources/shared-pool.ts";
import type { DeploymentMinutes } from "../../../telemetry/series/deployment-minutes.ts";
import type { RequestSeries, SeriesReading } from "../../../telemetry/series/request-series.ts";
import { type Attention, attentionOf } from "./attention.ts";

/** The parts of the process that are read. */
export interface OverviewParts {
  readonly series: RequestSeries;
  readonly minutes: DeploymentMinutes;
  readonly shared: Pick<SharedPool, "find">;
  readonly edits: Pick<ConfigEdits, "status" | "history">;
  readonly ledgerHealth: () => LedgerHealth;
  readonly waitingForRestart: () => readonly string[];
  /** Whether shared state cannot be reached; `undefined` where it is in memory. */
  readonly isStateAway: () => boolean | undefined;
}

/** A generation that began within the window. */
export interface Mark {
  readonly at: string;
  readonly generation: number;
  readonly origin: string;
  readonly author: string | null;
  readonly risk: string | null;
  /** Why a canary was returned. */
  readonly returned: string | null;
}

/** A deployment with what went wrong lately. */
export interface DeploymentTrouble {
  readonly deployment: string;
  readonly breaker: "closed" | "open" | "half_open";
  readonly held_until: string | null;
  readonly credential_refused: boolean;
  readonly success: number;
  readonly failure: number;
  readonly last: { readonly at: string; readonly code: string | null } | null;
}

/** The part. */
export interface OverviewPart {
  readonly series: SeriesReading;
  readonly in_flight: number;
  readonly queued: number;
  readonly generation: number | null;
  readonly canary: number | null;
  readonly marks: readonly Mark[];
  readonly deployments: readonly DeploymentTrouble[];
  readonly deployments_total: number;
  readonly budgets: readonly WatchedBudget[];
  readonly attention: readonly Attention[];
}

/** Minutes that a deployment is judged by. */
const RECENT_MINUTES = 15;
/** Deployments and budgets that one process reports. */
const MAX_REPORTED = 50;

/** The part of this process, of a window that ends now. */
export function overviewPart(windowMs: number, nowMs: number, parts: OverviewParts): OverviewPart {
  const { series, shared, edits } = parts;
  const { live, draining, canary } = edits.status;
  const registry = shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined;
  const views = registry?.list() ?? [];
  const watch = shared.find(BUDGET_WATCH_KEY) as BudgetWatch | undefined;
  const budgets = (watch?.list() ?? []).slice(0, MAX_REPORTED);
  const serving = [live, canary?.generation, ...draining];
  return {
    series: series.read(windowMs),
    in_flight: serving.reduce((sum, generation) => sum + (generation?.leases ?? 0), 0),
    queued: views.reduce((sum, { queued }) => sum + queued, 0),
    generation: live?.number ?? null,
    canary: canary?.generation.number ?? null,
    marks: marksOf(edits, nowMs - windowMs),
    deployments: troubles(registry, parts.minutes).slice(0, MAX_REPORTED),
    deployments_total: views.length,
    budgets,
    attention: attentionOf({ ...parts, views, budgets, nowMs }),
  };
}

function marksOf({ history }: OverviewParts["edits"], fromMs: number): readonly Mark[] {
  return history.entries
    .filter(({ atMs }) => atMs >= fromMs)
    .map((entry) => ({
      at: new Date(entry.atMs).toISOString(),
      generation: entry.generation,
      origin: entry.origin,
      author: entry.author?.name ?? null,
      risk: summaryOf(entry.effects ?? []).risk,
      returned: entry.returned ?? null,
    }));
}

/** Deployments that are not healthy, are held, or had failures lately; the worst first. */
function troubles(
  registry: DeploymentRegistry | undefined,
  minutes: DeploymentMinutes,
): readonly DeploymentTrouble[] {
  const recent = minutes.within(RECENT_MINUTES);
  const found = (registry?.list() ?? []).map((view): DeploymentTrouble => {
    const { success = 0, failure = 0 } = recent.get(view.id) ?? {};
    const last = registry?.events(view.id).find(({ code }) => code !== undefined);
    return {
      deployment: view.id,
      breaker: view.breaker,
      held_until: timeOf(view.heldUntilMs),
      credential_refused: view.isCredentialRefused,
      success,
      failure,
      last:
        last === undefined
          ? null
          : { at: new Date(last.atMs).toISOString(), code: last.code ?? null },
    };
  });
  return found.filter(isTroubled).sort(byTrouble);
}

/** Whether a deployment is worth a look. */
export function isTroubled({ breaker, failure, held_until: held }: DeploymentTrouble): boolean {
  return breaker !== "closed" || failure > 0 || held !== null;
}

/** The order of troubles: what takes no requests, then the share of failures. */
export function byTrouble(a: DeploymentTrouble, b: DeploymentTrouble): number {
  return rankOf(b) - rankOf(a) || shareOf(b) - shareOf(a) || b.failure - a.failure;
}

function rankOf({ breaker, credential_refused: isRefused }: DeploymentTrouble): number {
  return isRefused ? 3 : { closed: 0, half_open: 1, open: 2 }[breaker];
}

function shareOf({ success, failure }: DeploymentTrouble): number {
  return failure === 0 ? 0 : failure / (success + failure);
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
