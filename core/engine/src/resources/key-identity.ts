/** The identities that records of keys and teams make. */

import type { Identity, KeyRecord, RecordLimits, TeamRecord } from "@sluice/contract";

/** What an identity takes from its team. */
export type TeamBounds = RecordLimits &
  Pick<TeamRecord, "models" | "tags" | "allowedTags" | "guardrails" | "passthrough">;

/** A key of the store, without its team. */
export function identityOf(record: KeyRecord): Identity {
  const { spendScope, userId, teamId } = record;
  const hasScope = spendScope === "key" || (spendScope === "user" ? userId : teamId) !== null;
  return Object.freeze<Identity>({
    kind: "key",
    keyId: record.id,
    alias: record.alias ?? undefined,
    userId: userId ?? undefined,
    teamId: teamId ?? undefined,
    models: record.models,
    // A key without a user or team reads its own rows, not those of all keys without one.
    spendScope: hasScope ? spendScope : "key",
    tags: record.tags,
    ...(record.allowedTags.length === 0 ? {} : { allowedTags: record.allowedTags }),
    guardrails: record.guardrails,
    ...(record.passthrough ? { passthrough: true } : {}),
    metadata: record.metadata,
    limits: limitsOf(record),
  });
}

/** A key as a member of its team. */
export function memberOf(identity: Identity, team: TeamBounds): Identity {
  const tags = [...new Set([...identity.tags, ...team.tags])];
  const guardrails = [...new Set([...(identity.guardrails ?? []), ...team.guardrails])];
  const allowed = [...(identity.allowedTags ?? []), ...team.allowedTags];
  const allowedTags = allowed.length === 0 ? {} : { allowedTags: allowed };
  const opened = identity.passthrough === true || team.passthrough ? { passthrough: true } : {};
  return Object.freeze({
    ...identity,
    ...opened,
    ...allowedTags,
    teamModels: team.models,
    teamLimits: limitsOf(team),
    tags,
    guardrails,
  });
}

/** The limits of a record; `undefined` when it has none. */
function limitsOf(record: RecordLimits): RecordLimits | undefined {
  const { maxBudgetNanoUsd, softBudgetNanoUsd, budgetDuration, rpm, tpm, maxParallelRequests } =
    record;
  const { importedSpend } = record;
  const bounds = [maxBudgetNanoUsd, softBudgetNanoUsd, rpm, tpm, maxParallelRequests];
  if (importedSpend === undefined && bounds.every((bound) => bound === null)) return undefined;
  return Object.freeze({
    maxBudgetNanoUsd,
    softBudgetNanoUsd,
    budgetDuration,
    rpm,
    tpm,
    maxParallelRequests,
    ...(importedSpend !== undefined && { importedSpend }),
  });
}
