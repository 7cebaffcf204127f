/** Admin routes for the configuration: status, history, comparison, and changes. */

import type { JsonObject, Log } from "@sluice/contract";
import { type Finding, formatFinding } from "../../../config/finding.ts";
import { type Canary, percent } from "../../../generation/rollout/canary.ts";
import type { ConfigEdits } from "../../../generation/rollout/edits.ts";
import { formatEffect, summaryOf } from "../../../generation/diff/effects/effect.ts";
import type { Generation } from "../../../generation/generation.ts";
import type { HistoryEntry } from "../../../generation/history/history.ts";
import type { ApplyResult } from "../../../generation/rollout/apply.ts";
import type { ConfigDiff, ChangeImpact } from "../../../generation/diff/config-diff.ts";
import { countOf, type Replay } from "../../../generation/diff/replay.ts";
import type { Judged } from "../../../generation/rollout/rollout-monitor.ts";
import { type HasName, unknownNames } from "../../../pipeline/steps/condition-names.ts";
import type { LedgerHealth } from "../../../accounting/ledger/ledger.ts";
import type { ShadowReport } from "../../../pipeline/shadow/shadow.ts";
import { VERSION } from "../../../telemetry/version.ts";
import type { AdminRoutes } from "../app.ts";
import { audit } from "../audit.ts";
import { within } from "../time-query.ts";
import { budgetDollars } from "../dollars.ts";
import { readAuthor, readCanary, readFiles, readFlag, readGeneration, readSide } from "./body-fields.ts";
import { readText, refuseUnknown } from "../fields.ts";

/** The routes. A refusal is an answer, with status 200 and `"outcome": "refused"`, because the request itself was valid. */
export function configRoutes(
  edits: ConfigEdits,
  configDiff: ConfigDiff,
  waitingForRestart: () => readonly string[],
  log: Log,
  ledgerHealth: () => LedgerHealth,
  hasName: HasName,
  previousKey: () => JsonObject | null,
): AdminRoutes {
  return {
    async "GET /config/status"() {
      const { live, draining, canary, judged, lastAttempt, entry, drift } = edits.status;
      return {
        version: VERSION,
        live:
          live === undefined
            ? null
            : { ...describeLive(live), ...describeOrigin(entry), ...(await describeNames(live, hasName)) },
        drift: { files_differ: drift.length > 0, files: drift },
        last_attempt: lastAttempt === undefined ? null : describeAttempt(lastAttempt),
        draining: draining.map(describeDraining),
        canary: canary === undefined ? null : describeCanary(canary),
        judged: judged === undefined ? null : describeJudged(judged),
        shadows: live === undefined ? [] : live.shadows.map(describeShadow),
        waiting_for_restart: waitingForRestart(),
        previous_key: previousKey(),
        ledger: describeLedger(ledgerHealth()),
      };
    },
    async "GET /config/history"({ query }) {
      refuseUnknown(query.keys(), ["since", "until"], "query parameter");
      const isAsked = within(query);
      const { entries, attempts } = edits.history;
      const live = edits.status.live?.number;
      return {
        generations: entries
          .filter(isAsked)
          .toReversed()
          .map((entry) => ({
            generation: entry.generation,
            digest: entry.digest,
            at: new Date(entry.atMs).toISOString(),
            is_live: entry.generation === live,
            ...describeOrigin(entry),
            returned: entry.returned ?? null,
            changes: entry.changes,
            risk: summaryOf(entry.effects ?? []).risk,
            effects: (entry.effects ?? []).map((effect) => ({ ...effect, text: formatEffect(effect) })),
          })),
        attempts: attempts.filter(isAsked).toReversed().map(describeAttempt),
      };
    },
    async "GET /config/files"({ query }) {
      refuseUnknown(query.keys(), ["of"], "query parameter");
      const of = query.get("of") ?? "running";
      const side = readSide(/^\d{1,15}$/.test(of) ? Number(of) : of, "of");
      return { of: side, files: configDiff.filesOf(side, "of") };
    },
    async "POST /config/reload"({ body }) {
      refuseUnknown(Object.keys(body), ["force", "canary", "author"], "field");
      const { force = null } = body;
      const digest = force === null ? undefined : readText(force, "force");
      const plan = readCanary(body["canary"] ?? null);
      const action = digest === undefined ? "config.reload" : "config.reload.force";
      const author = readAuthor(body);
      audit(log, { action: plan === undefined ? action : `${action}.canary`, author });
      return describeAttempt(await edits.reload(digest, plan, author));
    },
    async "POST /config/canary/promote"({ body }) {
      refuseUnknown(Object.keys(body), ["author"], "field");
      const author = readAuthor(body);
      audit(log, { action: "config.canary.promote", author });
      return describeAttempt(edits.endCanary("promoted", author));
    },
    async "POST /config/canary/abort"({ body }) {
      refuseUnknown(Object.keys(body), ["author"], "field");
      const author = readAuthor(body);
      audit(log, { action: "config.canary.abort", author });
      return describeAttempt(edits.endCanary("returned", author));
    },
    async "POST /config/rollback"({ body }) {
      refuseUnknown(Object.keys(body), ["generation", "author"], "field");
      const generation = readGeneration(body["generation"] ?? null);
      const author = readAuthor(body);
      audit(log, { action: "config.rollback", author });
      return describeAttempt(await edits.rollback(generation, author));
    },
    async "POST /config/validate"({ body }) {
      refuseUnknown(Object.keys(body), ["files", "replay"], "field");
      const isReplayed = readFlag(body["replay"] ?? false, "replay");
      const { digest, isUnchanged, findings, snapshot } = edits.review(readFiles(body["files"] ?? {}));
      return {
        outcome: findings.length > 0 ? "refused" : isUnchanged ? "unchanged" : "applicable",
        digest: digest ?? null,
        findings: findings.map(describeFinding),
        ...(snapshot === undefined ? {} : describeImpact(await configDiff.of(snapshot, isReplayed))),
      };
    },
    async "POST /config/diff"({ body }) {
      refuseUnknown(Object.keys(body), ["from", "to", "replay"], "field");
      const isReplayed = readFlag(body["replay"] ?? false, "replay");
      const from = readSide(body["from"] ?? "running", "from");
      const to = readSide(body["to"] ?? "files", "to");
      return { from, to, ...describeImpact(await configDiff.compare(from, to, isReplayed)) };
    },
  };
}

/** `writable`: whether spend rows can be stored; while they cannot, requests are refused. */
function describeLedger({ fault, isStoreFailing, keptRows, pendingBatches }: LedgerHealth): JsonObject {
  return {
    writable: fault === undefined,
    fault: fault === undefined ? null : { place: fault.place, text: fault.text },
    store_failing: isStoreFailing,
    kept_rows: keptRows,
    outbox_batches: pendingBatches,
  };
}

function describeImpact({ effects, replay }: ChangeImpact) {
  return {
    ...summaryOf(effects),
    effects: effects.map(({ risk, about, message, at }) => ({
      risk,
      about,
      message,
      file: at?.file ?? null,
      line: at?.line ?? null,
      text: formatEffect({ risk, about, message }),
    })),
    ...(replay === undefined ? {} : { replay: describeReplay(replay) }),
  };
}

function describeReplay({ evaluated, spend, ...tallies }: Replay) {
  const counted = Object.entries(tallies).map(([name, groups]) => [name, { count: countOf(groups), groups }] as const);
  const { requests, didCostNanoUsd: did, wouldCostNanoUsd: would, refusedNanoUsd: refused, unknown } = spend;
  return {
    evaluated,
    ...Object.fromEntries(counted),
    spend: {
      requests,
      did_cost: budgetDollars(did),
      would_cost: { least: budgetDollars(would.least), most: budgetDollars(would.most) },
      refused: budgetDollars(refused),
      unknown,
    },
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

function describeAttempt({ outcome, atMs, digest, generation, findings, reason, author }: ApplyResult) {
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

function describeFinding(finding: Finding) {
  const { at, message, fix } = finding;
  return { file: at.file, line: at.line, column: at.column, message, fix, text: formatFinding(finding) };
}

function describeDraining({ number, leases, oldestLeaseMs }: Generation) {
  return { generation: number, leases, oldest_age_ms: Math.round(oldestLeaseMs) };
}

function describeJudged({ generation, untilMs, requests, errors, before }: Judged) {
  return { generation, until: new Date(untilMs).toISOString(), requests, errors, before: { ...before } };
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
    abort_if: { error_rate: errorRate === undefined ? null : percent(errorRate), p99_ms: p99Ms ?? null },
    min_requests: plan.minRequests,
    leases,
    requests: tally.requests,
    errors: tally.errors,
    p99_ms: tally.p99Ms() ?? null,
    others: { requests: liveTally.requests, errors: liveTally.errors, p99_ms: liveTally.p99Ms() ?? null },
    shadows: shadows.map(describeShadow),
  };
}

function describeShadow({ pipeline, step, at, counts }: ShadowReport) {
  return { pipeline, step, file: at.file, line: at.line, ...counts };
}
