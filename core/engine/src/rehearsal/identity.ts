/** Who asks in a test. */

import type { Identity } from "@sluice/spec";
import type { TestKeySection } from "../config/schema/pipeline-tests.ts";

/** The identity of a test's key. */
export function identityOf(key: TestKeySection): Identity {
  const { alias = "test", user_id: userId, team_id: teamId, team_models: teamModels, guardrails, max_budget: dollars } = key;
  const { rpm = null, tpm = null, max_parallel: maxParallelRequests = null } = key;
  const maxBudgetNanoUsd = dollars === undefined ? null : Math.round(dollars * 1e9);
  const isLimited = dollars !== undefined || rpm !== null || tpm !== null || maxParallelRequests !== null;
  return Object.freeze({
    kind: "key",
    keyId: "sluice-test",
    alias,
    userId,
    teamId,
    models: key.models ?? [],
    ...(teamModels === undefined ? {} : { teamModels }),
    spendScope: "key",
    tags: key.tags ?? [],
    ...(guardrails === undefined ? {} : { guardrails }),
    metadata: key.metadata ?? {},
    ...(isLimited ? { limits: { maxBudgetNanoUsd, budgetDuration: null, rpm, tpm, maxParallelRequests } } : {}),
  });
}
