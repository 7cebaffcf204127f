/** Runs the lints on a snapshot, and turns them into findings where its policies say so. */

import type { Finding } from "../config/finding.ts";
import type { LintName } from "../config/schema/policies.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import { narrowConnections } from "./connections.ts";
import { unkeptReplies } from "./entries.ts";
import { weakerFallbacks } from "./fallbacks.ts";
import { missingProtections, uncoveredRoutes } from "./routes.ts";
import type { LintFinding, Lint, LintSubject } from "./rule.ts";
import { unreachableLimits } from "./unreachable-limits.ts";
import { unreachableFallbacks } from "./unreachable-fallbacks.ts";
import { unusualOrders } from "./step-order.ts";
import { unpricedModels, unreachableTargets, untaggedRequests } from "./targets.ts";
import { weakKeys } from "./weak-keys.ts";

const RULES: Readonly<Record<LintName, (subject: LintSubject) => readonly LintFinding[]>> = {
  step_order: unusualOrders,
  uncovered_route: uncoveredRoutes,
  fallback_capability: weakerFallbacks,
  unreachable_fallback: unreachableFallbacks,
  unreachable_target: unreachableTargets,
  untagged_requests: untaggedRequests,
  unpriced_model: unpricedModels,
  unkept_reply: unkeptReplies,
  narrow_connections: narrowConnections,
  weak_key: weakKeys,
  unreachable_limit: unreachableLimits,
};

/** Runs every lint that is not `off`, in the order of the rules. */
export function lintsOf(snapshot: Snapshot, definitions: Definitions): readonly Lint[] {
  const { lints } = snapshot.policies;
  return (Object.keys(RULES) as LintName[]).flatMap((rule) => {
    const severity = lints[rule];
    if (severity === "off") return [];
    return RULES[rule]({ snapshot, definitions }).map((finding): Lint => ({
      ...finding,
      rule,
      severity,
    }));
  });
}

/**
 * The findings of the policies: lints with severity `error`, and pipelines without a required
 * protection.
 */
export function policyFindings(snapshot: Snapshot, definitions: Definitions): readonly Finding[] {
  const { lints, require } = snapshot.policies;
  const strict = (Object.keys(RULES) as LintName[]).filter((rule) => lints[rule] === "error");
  if (strict.length === 0 && require.length === 0) return [];
  const subject = { snapshot, definitions };
  const refused = strict.flatMap((rule) =>
    RULES[rule](subject).map(({ at, message, fix }) => ({
      at,
      message: `${message} (${rule})`,
      fix,
    })),
  );
  return [...refused, ...missingProtections(subject)];
}
