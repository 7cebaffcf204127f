/** Lints of a snapshot, and the findings that its policies make of them. */

import type { Finding } from "../config/finding.ts";
import type { LintName } from "../config/schema/policies.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import { narrowConnections } from "./connections.ts";
import { unkeptReplies } from "./entries.ts";
import { weakerStandIns } from "./fallbacks.ts";
import { missingProtections, uncoveredRoutes } from "./routes.ts";
import type { Doubt, Lint, LintSubject } from "./rule.ts";
import { unreachableStandIns } from "./stand-ins.ts";
import { unusualOrders } from "./step-order.ts";
import { unpricedModels, unreachableTargets } from "./targets.ts";
import { weakKeys } from "./weak-keys.ts";

const RULES: Readonly<Record<LintName, (subject: LintSubject) => readonly Doubt[]>> = {
  step_order: unusualOrders,
  uncovered_route: uncoveredRoutes,
  fallback_capability: weakerStandIns,
  unreachable_fallback: unreachableStandIns,
  unreachable_target: unreachableTargets,
  unpriced_model: unpricedModels,
  unkept_reply: unkeptReplies,
  narrow_connections: narrowConnections,
  weak_key: weakKeys,
};

/** Every lint that is not switched off, by rule. */
export function lintsOf(snapshot: Snapshot, definitions: Definitions): readonly Lint[] {
  const { lints } = snapshot.policies;
  return (Object.keys(RULES) as LintName[]).flatMap((rule) => {
    const severity = lints[rule];
    if (severity === "off") return [];
    return RULES[rule]({ snapshot, definitions }).map((doubt): Lint => ({ ...doubt, rule, severity }));
  });
}

/** What the policies refuse: lints that are errors, and pipelines without what every route must have. */
export function policyFindings(snapshot: Snapshot, definitions: Definitions): readonly Finding[] {
  const { lints, require } = snapshot.policies;
  const strict = (Object.keys(RULES) as LintName[]).filter((rule) => lints[rule] === "error");
  if (strict.length === 0 && require.length === 0) return [];
  const subject = { snapshot, definitions };
  const refused = strict.flatMap((rule) =>
    RULES[rule](subject).map(({ at, message, fix }) => ({ at, message: `${message} (${rule})`, fix })),
  );
  return [...refused, ...missingProtections(subject)];
}
