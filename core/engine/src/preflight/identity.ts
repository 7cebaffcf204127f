/** The identity of the caller in a test. */

import type { Identity } from "@sluice/contract";
import { configuredNanoUsd } from "@sluice/runtime";
import type { TestKeySection } from "../config/schema/pipeline-tests.ts";

const SCOPE = {
  kind: "key",
  id: "sluice-test",
  anchor: "calendar",
  createdAtMs: 0,
  perModel: [],
} as const;

/** The identity of a test's key. */
export function identityOf(key: TestKeySection): Identity {
  const {
    alias = "test",
    user_id: userId,
    team_id: teamId,
    team_models: teamModels = [],
    guardrails,
    passthrough,
  } = key;
  const { rpm = null, tpm = null, max_parallel: maxParallelRequests = null } = key;
  const maxBudgetNanoUsd = nullableNanoUsd(key.max_budget);
  const softBudgetNanoUsd = nullableNanoUsd(key.soft_budget);
  const amounts = {
    maxBudgetNanoUsd,
    softBudgetNanoUsd,
    budgetDuration: null,
    rpm,
    tpm,
    maxParallelRequests,
  };
  const isLimited = Object.values(amounts).some((bound) => bound !== null);
  return Object.freeze({
    kind: "key",
    keyId: "sluice-test",
    alias,
    userId,
    teamId,
    models: key.models ?? [],
    ...(teamModels.length > 0 && { modelBounds: [teamModels] }),
    spendScope: "key",
    tags: key.tags ?? [],
    ...(guardrails === undefined ? {} : { guardrails }),
    ...(passthrough === true ? { passthrough } : {}),
    metadata: key.metadata ?? {},
    ...(isLimited && { scopes: [{ ...SCOPE, amounts }] }),
  });
}

function nullableNanoUsd(dollars: number | undefined): number | null {
  return dollars === undefined ? null : configuredNanoUsd(dollars);
}
