/** The lint `uncovered_route`, and the policy `require`: protections that every route must have. */

import type { Finding } from "../config/finding.ts";
import { PROTECTIONS, type Protection } from "../config/schema/policies.ts";
import { callsUpstreams, coverageOf, hasProtection, type RouteCoverage } from "./coverage.ts";
import type { LintFinding, LintSubject } from "./rule.ts";

const WORDS: Readonly<Record<Protection, string>> = {
  limits: "limits",
  cost: "a price (the step cost)",
  guardrails_in: "a guardrail for requests",
  guardrails_out: "a guardrail for replies",
};

/**
 * Reports pipelines without a protection that another pipeline has. A reader of the other one
 * expects it everywhere.
 */
export function uncoveredRoutes(subject: LintSubject): LintFinding[] {
  const covered = onePerPipeline(subject);
  return PROTECTIONS.flatMap((protection) => {
    const having = covered.filter((coverage) => hasProtection(coverage, protection));
    const [first] = having;
    const reason =
      first === undefined ? relied(subject, protection) : `pipeline ${first.pipeline} has it`;
    if (reason === undefined) return [];
    return covered
      .filter((coverage) => !having.includes(coverage) && mayHave(coverage, protection))
      .map(({ pipeline, at }) => ({
        at,
        message: `The routes of pipeline ${pipeline} have no ${WORDS[protection].replace(/^an? /, "")}, and ${reason}.`,
        fix: "Add the step, or the guardrail's name to its options; `sluice check --coverage` shows every route.",
      }));
  });
}

/** Findings for pipelines without a protection of `policies.require`. */
export function missingProtections(subject: LintSubject): Finding[] {
  const { require } = subject.snapshot.policies;
  return onePerPipeline(subject).flatMap((coverage) =>
    require
      .filter((protection) => mayHave(coverage, protection) && !hasProtection(coverage, protection))
      .map((protection) => ({
        at: coverage.at,
        message: `The routes of pipeline ${coverage.pipeline} have no ${WORDS[protection].replace(/^an? /, "")}, which \`policies.require\` requires.`,
        fix: `Add it, or take ${protection} out of \`policies.require\` in gateway.yaml.`,
      })),
  );
}

/** Whether a protection can apply: the reply of an embeddings route holds no text. */
function mayHave({ operation }: RouteCoverage, protection: Protection): boolean {
  return protection !== "guardrails_out" || operation !== "embeddings";
}

/** The reason to report a protection that no pipeline has. `undefined`: there is none. */
function relied({ snapshot }: LintSubject, protection: Protection): string | undefined {
  if (protection !== "limits") return undefined;
  const key = snapshot.keys.find(({ limits }) => limits !== undefined);
  if (key !== undefined) return `the key ${key.alias} has limits that no step enforces`;
  const team = snapshot.teams.find((declared) =>
    [declared.maxBudgetNanoUsd, declared.rpm, declared.tpm, declared.maxParallelRequests].some(
      (bound) => bound !== null,
    ),
  );
  return team === undefined ? undefined : `the team ${team.id} has limits that no step enforces`;
}

function onePerPipeline(subject: LintSubject): RouteCoverage[] {
  const calling = new Set(
    subject.snapshot.pipelines.filter(callsUpstreams).map(({ name }) => name),
  );
  const byPipeline = new Map<string, RouteCoverage>();
  for (const coverage of coverageOf(subject)) {
    if (calling.has(coverage.pipeline) && !byPipeline.has(coverage.pipeline))
      byPipeline.set(coverage.pipeline, coverage);
  }
  return [...byPipeline.values()];
}
