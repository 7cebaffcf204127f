/** The answers of the config routes: the status, the history and the result of an edit. */

import type { JsonObject } from "@sluice/contract";
import type { LedgerHealth } from "../../../accounting/ledger/ledger.ts";
import type { LeaderView } from "../../../fleet/leader.ts";
import type { StoreHealth } from "../../../resources/store/validity.ts";
import { type Finding, formatFinding } from "../../../config/finding.ts";
import { formatEffect, summaryOf } from "../../../generation/diff/effects/effect.ts";
import type { Generation } from "../../../generation/generation.ts";
import type { HistoryEntry } from "../../../generation/history/history.ts";
import type { ApplyResult } from "../../../generation/rollout/apply.ts";
import type { Canary } from "../../../generation/rollout/canary/canary.ts";
import type { EditStatus } from "../../../generation/rollout/edit-parts.ts";
import type { Judged } from "../../../generation/rollout/rollout-monitor.ts";
import { type HasName, unknownNames } from "../../../pipeline/steps/condition-names.ts";
import { percent } from "../../../generation/rollout/canary/percent.ts";
import type { ShadowReport } from "../../../pipeline/shadow/shadow.ts";

/**
 * Describes the generations of a process, its last edit, and conditions that name teams and keys
 * which do not exist.
 */
export async function describeStatus(status: EditStatus, hasName: HasName) {
  const { live, draining, canary, judged, lastAttempt, entry, drift } = status;
  return {
    live:
      live === undefined
        ? null
        : {
            ...describeLive(live),
            ...describeOrigin(entry),
            ...(await describeNames(live, hasName)),
          },
    drift: { files_differ: drift.length > 0, files: drift },
    last_attempt: lastAttempt === undefined ? null : describeAttempt(lastAttempt),
    draining: draining.map(describeDraining),
    canary: canary === undefined ? null : describeCanary(canary),
    judged: judged === undefined ? null : describeJudged(judged),
    shadows: live === undefined ? [] : live.shadows.map(describeShadow),
  };
}

/** Describes a generation of the history. `live`: the number of the generation that serves. */
export function describeEntry(entry: HistoryEntry, live: number | undefined) {
  const effects = entry.effects ?? [];
  return {
    generation: entry.generation,
    digest: entry.digest,
    at: new Date(entry.atMs).toISOString(),
    is_live: entry.generation === live,
    ...describeOrigin(entry),
    returned: entry.returned ?? null,
    changes: entry.changes,
    risk: summaryOf(effects).risk,
    effects: effects.map((effect) => ({ ...effect, text: formatEffect(effect) })),
  };
}

/**
 * Describes the ledger. `writable`: whether spend rows can be stored; while they cannot, requests
 * are refused.
 */
export function describeLedger({
  fault,
  isStoreFailing,
  keptRows,
  pendingBatches,
}: LedgerHealth): JsonObject {
  return {
    writable: fault === undefined,
    fault: fault === undefined ? null : { place: fault.place, text: fault.text },
    store_failing: isStoreFailing,
    kept_rows: keptRows,
    outbox_batches: pendingBatches,
  };
}

/**
 * Describes the store. `changes_age_ms`: since the log of changes was last read; `null` for a store
 * without one. `serves`: keys that are served; `known` and `none` while the store does not answer.
 */
export function describeStore(health: StoreHealth | undefined): JsonObject {
  if (health === undefined) return { away: false, serves: "all", changes_age_ms: null };
  const { isAway, servesKnown, ageMs } = health;
  return {
    away: isAway,
    serves: !isAway ? "all" : servesKnown ? "known" : "none",
    changes_age_ms: ageMs === undefined ? null : Math.round(ageMs),
  };
}

/**
 * Describes the process that does the work on the store for all. `holder` is null where none is
 * known; the jobs are those that it has run.
 */
export function describeLeader({ isLeading, holder, sinceMs, jobs }: LeaderView): JsonObject {
  return {
    is_self: isLeading,
    holder: holder === "" ? null : holder,
    since: holder === "" ? null : new Date(sinceMs).toISOString(),
    jobs: Object.entries(jobs).map(([job, { atMs, did, error }]) => ({
      job,
      at: new Date(atMs).toISOString(),
      did,
      error,
    })),
  };
}

function describeLive(live: Generation) {
  const { number, snapshot, createdAtMs, leases } = live;
  return {
    generation: number,
    digest: snapshot.digest,
    since: new Date(createdAtMs).toISOString(),
    leases,
    files: snapshot.files.map(({ path, digest }) => ({ path, digest })),
    notices: snapshot.notices,
  };
}

/** Conditions that name teams and keys which do not exist. */
async function describeNames({ snapshot }: Generation, hasName: HasName) {
  return { warnings: (await unknownNames(snapshot, hasName)).map(describeFinding) };
}

function describeOrigin(entry: HistoryEntry | undefined) {
  return {
    origin: entry?.origin ?? null,
    contents_of: entry?.contentsOf ?? null,
    forced: entry?.isForced ?? false,
    reason: entry?.reason ?? null,
    author: entry?.author ?? null,
  };
}

/** Describes the result of an edit. */
export function describeAttempt({
  outcome,
  atMs,
  digest,
  generation,
  findings,
  reason,
  author,
}: ApplyResult) {
  return {
    outcome,
    at: new Date(atMs).toISOString(),
    digest: digest ?? null,
    generation: generation ?? null,
    reason: reason ?? null,
    author: author ?? null,
    findings: findings.map(describeFinding),
  };
}

/** Describes a finding, also as one text. */
export function describeFinding(finding: Finding) {
  const { at, message, fix } = finding;
  return {
    file: at.file,
    line: at.line,
    column: at.column,
    message,
    fix,
    text: formatFinding(finding),
  };
}

function describeDraining({ number, leases, oldestLeaseMs }: Generation) {
  return { generation: number, leases, oldest_age_ms: Math.round(oldestLeaseMs) };
}

function describeJudged({ generation, untilMs, requests, errors, before }: Judged) {
  return {
    generation,
    until: new Date(untilMs).toISOString(),
    requests,
    errors,
    before: { ...before },
  };
}

function describeCanary({ generation, plan, beganAtMs, tally, liveTally }: Canary) {
  const { number, snapshot, leases, shadows } = generation;
  const { errorRate, p99Ms } = plan.abortIf;
  return {
    generation: number,
    digest: snapshot.digest,
    share: percent(plan.share),
    since: new Date(beganAtMs).toISOString(),
    ends_at: new Date(beganAtMs + plan.forMs).toISOString(),
    abort_if: {
      error_rate: errorRate === undefined ? null : percent(errorRate),
      p99_ms: p99Ms ?? null,
    },
    min_requests: plan.minRequests,
    leases,
    requests: tally.requests,
    errors: tally.errors,
    p99_ms: tally.p99Ms() ?? null,
    others: {
      requests: liveTally.requests,
      errors: liveTally.errors,
      p99_ms: liveTally.p99Ms() ?? null,
    },
    shadows: shadows.map(describeShadow),
  };
}

function describeShadow({ pipeline, step, at, counts }: ShadowReport) {
  return { pipeline, step, file: at.file, line: at.line, ...counts };
}
