/** Admin routes for the configuration: what runs and how it came to be, and the ways to change it. */

import type { JsonObject, JsonValue, Log } from "@sluice/spec";
import { isObject } from "@sluice/kit";
import { type Finding, formatFinding } from "../../config/finding.ts";
import type { ConfigEdits } from "../../generation/edits.ts";
import type { Generation } from "../../generation/generation.ts";
import type { HistoryEntry } from "../../generation/history.ts";
import type { ApplyResult } from "../../generation/manager.ts";
import type { AdminRoutes } from "./app.ts";
import { audit } from "./audit.ts";
import { invalid, readText, refuseUnknown } from "./fields.ts";

/** The routes. A refusal is an answer, with status 200 and `"outcome": "refused"`: the request itself was well. */
export function configRoutes(edits: ConfigEdits, log: Log, waitingForRestart: () => readonly string[]): AdminRoutes {
  return {
    async "GET /config/status"() {
      const { live, draining, lastAttempt, entry, drift } = edits.status;
      return {
        live: live === undefined ? null : { ...describeLive(live), ...describeOrigin(entry) },
        drift: { files_differ: drift.length > 0, files: drift },
        last_attempt: lastAttempt === undefined ? null : describeAttempt(lastAttempt),
        draining: draining.map(describeDraining),
        waiting_for_restart: waitingForRestart(),
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
          changes: entry.changes,
        })),
        attempts: attempts.toReversed().map(describeAttempt),
      };
    },
    async "POST /config/reload"({ body }) {
      refuseUnknown(Object.keys(body), ["force"], "field");
      const { force = null } = body;
      const digest = force === null ? undefined : readText(force, "force");
      audit(log, { action: digest === undefined ? "config.reload" : "config.reload.force" });
      return describeAttempt(await edits.reload(digest));
    },
    async "POST /config/rollback"({ body }) {
      refuseUnknown(Object.keys(body), ["generation"], "field");
      const generation = readGeneration(body["generation"] ?? null);
      audit(log, { action: "config.rollback" });
      return describeAttempt(await edits.rollback(generation));
    },
    async "POST /config/validate"({ body }) {
      refuseUnknown(Object.keys(body), ["files"], "field");
      const { digest, isUnchanged, findings } = edits.review(readFiles(body["files"] ?? {}));
      return {
        outcome: findings.length > 0 ? "refused" : isUnchanged ? "unchanged" : "applicable",
        digest: digest ?? null,
        findings: findings.map(describeFinding),
      };
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

function describeOrigin(entry: HistoryEntry | undefined) {
  return { origin: entry?.origin ?? null, contents_of: entry?.contentsOf ?? null, forced: entry?.isForced ?? false };
}

function describeAttempt({ outcome, atMs, digest, generation, findings }: ApplyResult) {
  return {
    outcome,
    at: new Date(atMs).toISOString(),
    digest: digest ?? null,
    generation: generation ?? null,
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
