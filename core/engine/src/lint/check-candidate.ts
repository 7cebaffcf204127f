/**
 * The check of a candidate: the command `check`, the start and an edit all refuse what this
 * function finds.
 */

import type { Finding } from "../config/finding.ts";
import type { ResolvedConfig } from "../config/load.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { checkPipelines } from "../pipeline/compile.ts";
import type { Definitions } from "../registry/definitions.ts";
import { policyFindings } from "./lint.ts";

/** A candidate whose snapshot was made before: its reading had no findings. */
export function resolvedAs(snapshot: Snapshot): ResolvedConfig {
  return { snapshot, findings: [], pipelines: snapshot.pipelines };
}

/**
 * The findings of a candidate in itself, before anything is made of it: those of its reading, of
 * the order and the names of its steps and, where it could be read whole, of its policies.
 */
export function checkCandidate(
  { snapshot, findings, pipelines }: ResolvedConfig,
  definitions: Definitions,
): Finding[] {
  const policies = snapshot === undefined ? [] : policyFindings(snapshot, definitions);
  return [...findings, ...checkPipelines(pipelines, definitions.steps, snapshot), ...policies];
}
