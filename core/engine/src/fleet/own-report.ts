/** What a process reports about itself to the instances that share its store. */

import type { InstanceReport, InstanceState } from "@sluice/contract";
import { formatFinding } from "../config/finding.ts";
import type { ManagerStatus } from "../generation/rollout/apply.ts";
import { VERSION } from "../telemetry/version.ts";
import type { InstanceIdentity } from "./identity.ts";

/** What does not change while a process runs. */
export interface OwnFacts extends InstanceIdentity {
  /** The number of the worker; 0: the process is the whole gateway. */
  readonly worker: number;
  readonly workers: number;
  /** The absolute path of the data folder. */
  readonly dataDirectory: string;
  readonly startedAtMs: number;
}

/** What decides a report. */
export interface OwnState {
  readonly state: InstanceState;
  readonly adminUrl: string | undefined;
  readonly status: Pick<ManagerStatus, "live" | "canary" | "lastAttempt">;
}

/** Maximum of reported findings, and of the characters of each. */
const MAX_REASONS = 10;
const MAX_REASON_LENGTH = 500;

/** The report; `undefined` while no generation serves. */
export function ownReport(facts: OwnFacts, own: OwnState): InstanceReport | undefined {
  const { live, canary, lastAttempt } = own.status;
  if (live === undefined) return undefined;
  const { digest, contents } = live.snapshot;
  const refused =
    lastAttempt?.outcome !== "refused"
      ? null
      : {
          contents: lastAttempt.contents ?? null,
          reasons: lastAttempt.findings
            .slice(0, MAX_REASONS)
            .map((finding) => formatFinding(finding).slice(0, MAX_REASON_LENGTH)),
        };
  return {
    ...facts,
    version: VERSION,
    adminUrl: own.adminUrl === undefined ? null : nameHost(own.adminUrl, facts.name),
    state: own.state,
    generation: live.number,
    sinceMs: live.createdAtMs,
    digest,
    contents,
    canary: canary?.generation.snapshot.contents ?? null,
    refused,
  };
}

/** The address of a listener on all addresses, with the name of its machine. */
function nameHost(url: string, name: string): string {
  return url.replace(
    /^(\w+:\/\/)(?:0\.0\.0\.0|\[::\])(?=:)/,
    (_all, scheme: string) => scheme + name,
  );
}
