/** Coverage as the command and the admin listener say it. */

import type { RouteCoverage } from "./coverage.ts";

/** One route in plain words. */
export function describeCoverage(line: RouteCoverage) {
  return {
    route: line.route,
    pipeline: line.pipeline,
    operation: line.operation,
    auth: line.auth,
    limits: line.limits,
    budget: line.budget,
    cost: line.cost,
    guardrails_in: line.guardrailsIn,
    guardrails_out: line.guardrailsOut,
    stream: line.streams ? (line.streamMode ?? "yes") : "no",
    deadline_ms: line.deadlineMs,
    tests: line.tests,
    file: line.at.file,
    line: line.at.line,
  };
}
