/** Admin routes for the configuration. */

import { type Finding, formatFinding } from "../../config/finding.ts";
import type { Generation } from "../../generation/generation.ts";
import type { ApplyResult, GenerationManager } from "../../generation/manager.ts";
import type { AdminRoutes } from "./app.ts";

/** `GET /config/status`: what runs, what was tried last, what still drains. */
export function configRoutes(manager: GenerationManager): AdminRoutes {
  return {
    async "GET /config/status"() {
      const { live, draining, lastAttempt } = manager.status;
      return {
        live: live === undefined ? null : describeLive(live),
        last_attempt: lastAttempt === undefined ? null : describeAttempt(lastAttempt),
        draining: draining.map(describeDraining),
      };
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

function describeAttempt({ outcome, atMs, digest, findings }: ApplyResult) {
  return { outcome, at: new Date(atMs).toISOString(), digest: digest ?? null, findings: findings.map(describeFinding) };
}

function describeFinding(finding: Finding) {
  const { at, message, fix } = finding;
  return { file: at.file, line: at.line, column: at.column, message, fix, text: formatFinding(finding) };
}

function describeDraining({ number, leases, oldestLeaseMs }: Generation) {
  return { generation: number, leases, oldest_age_ms: Math.round(oldestLeaseMs) };
}
