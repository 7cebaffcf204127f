/** The declared keys and teams of a snapshot. */

import { EMPTY_TEAM, type RecordLimits, type Secret } from "@sluice/contract";
import { configuredNanoUsd } from "@sluice/runtime";
import type { ResolvedDocument } from "./files/references.ts";
import type { GatewaySections } from "./schema/gateway.ts";
import type { AmountsSection } from "./schema/keys.ts";
import type { DeclaredKey, DeclaredTeam } from "./snapshot.ts";

/** The entries of `keys:`. */
export function keysOf(gateway: ResolvedDocument, sections: GatewaySections): DeclaredKey[] {
  return sections.keys.map((key, index) => {
    const limits = limitsOf(key);
    return {
      alias: key.alias,
      key: key.key as Secret,
      models: key.models,
      userId: key.user_id,
      teamId: key.team_id,
      spendScope: key.spend_scope,
      guardrails: key.guardrails,
      passthrough: key.passthrough,
      tags: key.tags,
      allowedTags: key.allowed_tags,
      metadata: key.metadata,
      // Without a limit the key is as cheap as one of the store that has none.
      ...(isBounded(limits) && { limits }),
      at: gateway.document.keyAt(["keys", index]),
    };
  });
}

/** The entries of `teams:`. */
export function teamsOf(gateway: ResolvedDocument, sections: GatewaySections): DeclaredTeam[] {
  return sections.teams.map((team, index) => ({
    ...EMPTY_TEAM,
    id: team.team_id,
    alias: team.team_alias ?? null,
    models: team.models,
    ...limitsOf(team),
    tags: team.tags,
    allowedTags: team.allowed_tags,
    metadata: team.metadata,
    guardrails: team.guardrails,
    passthrough: team.passthrough,
    blocked: team.blocked,
    at: gateway.document.keyAt(["teams", index]),
  }));
}

/** The amounts of a section, by either of their names. */
export function limitsOf(section: AmountsSection): RecordLimits {
  const { budget_duration: budgetDuration = null } = section;
  const { rpm = section.rpm_limit ?? null, tpm = section.tpm_limit ?? null } = section;
  const { max_parallel_requests: maxParallelRequests = section.max_parallel ?? null } = section;
  return {
    maxBudgetNanoUsd: nullableNanoUsd(section.max_budget),
    softBudgetNanoUsd: nullableNanoUsd(section.soft_budget),
    budgetDuration,
    rpm,
    tpm,
    maxParallelRequests,
  };
}

function isBounded({ budgetDuration: _period, ...bounds }: RecordLimits): boolean {
  return Object.values(bounds).some((bound) => bound !== null);
}

function nullableNanoUsd(dollars: number | undefined): number | null {
  return dollars === undefined ? null : configuredNanoUsd(dollars);
}
