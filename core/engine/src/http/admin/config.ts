/** Admin routes for the configuration: what runs and how it came to be, and the ways to change it. */

import type { JsonObject, JsonValue, Log } from "@sluice/spec";
import { isObject } from "@sluice/kit";
import { type Finding, formatFinding } from "../../config/finding.ts";
import { type Canary, type CanaryPlan, percent } from "../../generation/canary.ts";
import { readPlan } from "../../generation/canary-plan.ts";
import type { ConfigEdits } from "../../generation/edits.ts";
import { formatEffect, summaryOf } from "../../generation/effects/effect.ts";
import type { Generation } from "../../generation/generation.ts";
import type { HistoryEntry } from "../../generation/history.ts";
import type { ApplyResult } from "../../generation/apply.ts";
import type { EditMeanings, Meaning, Side } from "../../generation/meaning.ts";
import { countOf, type Replay } from "../../generation/replay.ts";
import type { Judged } from "../../generation/swap-watch.ts";
import { type HasName, unknownNames } from "../../pipeline/condition-names.ts";
import type { LedgerHealth } from "../../resources/ledger.ts";
import type { ShadowReport } from "../../pipeline/shadow.ts";
import { VERSION } from "../../telemetry/version.ts";
import type { AdminRoutes } from "./app.ts";
import { audit } from "./audit.ts";
import { dollarsOf } from "./dollars.ts";
import { invalid, readText, refuseUnknown } from "./fields.ts";

/** The routes. A refusal is an answer, with status 200 and `"outcome": "refused"`: the request itself was well. */
export function configRoutes(
  edits: ConfigEdits,
  meanings: EditMeanings,
  waitingForRestart: () => readonly string[],
  log: Log,
  ledgerHealth: () => LedgerHealth,
  hasName: HasName,
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
        ledger: describeLedger(ledgerHealth()),
      };
    },
    async "GET /config/history"({ query }) {
      refuseUnknown(query.keys(), [], "query parameter");
      const { entries, attempts } = edits.history;
      const live = edits.status.live?.number;
      return {
        generations: entries.toReversed().map((entry) => ({
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
        attempts: attempts.toReversed().map(describeAttempt),
      };
    },
    async "GET /config/files"({ query }) {
      refuseUnknown(query.keys(), ["of"], "query parameter");
      const of = query.get("of") ?? "running";
      const side = readSide(/^\d{1,15}$/.test(of) ? Number(of) : of, "of");
      return { of: side, files: meanings.filesOf(side, "of") };
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
        ...(snapshot === undefined ? {} : describeMeaning(meanings.of(snapshot, isReplayed))),
      };
    },
    async "POST /config/diff"({ body }) {
      refuseUnknown(Object.keys(body), ["from", "to", "replay"], "field");
      const isReplayed = readFlag(body["replay"] ?? false, "replay");
      const from = readSide(body["from"] ?? "running", "from");
      const to = readSide(body["to"] ?? "files", "to");
      return { from, to, ...describeMeaning(meanings.compare(from, to, isReplayed)) };
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

/** `{ share: "5%", for: "10m", abort_if: "error_rate>5%", min_requests: 20 }`. */
function readCanary(value: JsonValue): CanaryPlan | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) throw invalid("canary", "The field canary must be an object, with a `share` such as 5%.");
  const words = value as JsonObject;
  refuseUnknown(Object.keys(words), ["share", "for", "abort_if", "min_requests"], "field");
  const text = (name: string): string | undefined => {
    const member = words[name] ?? null;
    return member === null ? undefined : readText(member, `canary.${name}`);
  };
  const { min_requests: least = null } = words;
  if (least !== null && typeof least !== "number") throw invalid("canary.min_requests", "It must be a whole number.");
  const share = text("share") ?? "";
  return readPlan({ share, for: text("for"), abortIf: text("abort_if"), minRequests: least ?? undefined });
}

/** Who asks, by their own word: the master key is one for all. */
function readAuthor({ author = null }: JsonObject): string | undefined {
  if (author === null) return undefined;
  const name = readText(author, "author").trim();
  if (/^[^\p{C}]{1,100}$/u.test(name)) return name;
  throw invalid("author", "The field author must be a name of 1 to 100 characters, on one line.");
}

function readSide(value: JsonValue, name: string): Side {
  if (value === "running" || value === "files") return value;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(name, `The field ${name} must be "running", "files" or the number of a generation.`);
}

function readFlag(value: JsonValue, name: string): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(name, `The field ${name} must be true or false.`);
}

function describeMeaning({ effects, replay }: Meaning) {
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
      did_cost: dollarsOf(did),
      would_cost: { least: dollarsOf(would.least), most: dollarsOf(would.most) },
      refused: dollarsOf(refused),
      unknown,
    },
  };
}

function readGeneration(value: JsonValue): number | undefined {
  if (value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid("generation", "The field generation must be the number of a generation; GET /config/history lists them.");
}

function readFiles(value: JsonValue): Record<string, string | null> {
  if (!isObject(value)) throw invalid("files", "The field files must be an object: names of files and their contents.");
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, text]) => {
      if (typeof text === "string" || text === null) return [name, text];
      throw invalid("files", `The file ${JSON.stringify(name)} must be a text, or null to leave it out.`);
    }),
  );
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
