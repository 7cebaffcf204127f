/** The answers of the fleet routes. */

import type { RolloutRecord, RolloutReport } from "@sluice/contract";
import type { Instance } from "../../../fleet/join-instances.ts";
import { type InstanceOutcome, outcomesOf } from "../../../fleet/outcomes.ts";
import { joinReports } from "../../../fleet/canary/verdict.ts";
import { percent } from "../../../generation/rollout/canary/percent.ts";

/** Describes an instance. `own` is the id of the one that answers. */
export function describeInstance(
  instance: Instance,
  own: string,
  outcome: InstanceOutcome | undefined,
) {
  const { id, name, version, adminUrl, state, generation, digest, contents, canary } = instance;
  const { dataDirectory, startedAtMs, sinceMs, seenAtMs, refused, workers } = instance;
  return {
    id,
    name,
    is_self: id === own,
    version,
    admin_url: adminUrl,
    data_directory: dataDirectory,
    state,
    generation,
    digest,
    contents,
    canary,
    since: new Date(sinceMs).toISOString(),
    started_at: new Date(startedAtMs).toISOString(),
    seen_at: new Date(seenAtMs).toISOString(),
    workers: { ...workers },
    refused: refused === null ? null : { ...refused },
    rollout: outcome === undefined ? null : { ...outcome },
  };
}

/** Describes what became of a rollout at each instance that has reported. */
export function describeReports(
  reports: readonly RolloutReport[],
  nameOf: (instance: string) => string | undefined,
) {
  const outcomeOf = outcomesOf(reports);
  const instances = [...new Set(reports.map(({ instance }) => instance))];
  return instances.map((id) => ({ id, name: nameOf(id) ?? null, ...outcomeOf(id) }));
}

/** Describes a rollout. `reports`: what the requests of a canary say about it is counted. */
export function describeRollout(record: RolloutRecord, reports: readonly RolloutReport[]) {
  const { id, source, kind, contents, stage, reason, author, instance, contentsOf, isForced } =
    record;
  const { plan, atMs, endsAtMs, effects } = record;
  const { requests, errors } = joinReports(reports).evidence;
  return {
    id,
    source,
    kind,
    contents,
    contents_of: contentsOf,
    stage,
    reason,
    author,
    asked_at: instance,
    forced: isForced,
    at: new Date(atMs).toISOString(),
    ends_at: new Date(endsAtMs).toISOString(),
    effects,
    canary:
      plan === null
        ? null
        : {
            share: percent(plan.share),
            abort_if: {
              error_rate: plan.errorRate === null ? null : percent(plan.errorRate),
              p99_ms: plan.p99Ms,
            },
            min_requests: plan.minRequests,
            requests,
            errors,
          },
  };
}
