/** Faults of a configuration that show when its plugins are made. */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { placeOf } from "../pipeline/blame.ts";
import { withPlace } from "../registry/fault-place.ts";

/** A configuration that turned out to be at fault when its plugins were made. */
export class BuildError extends Error {
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    super(findings[0]?.message ?? "The configuration is at fault.");
    this.findings = findings;
  }
}

/**
 * The report of a build that threw: its findings, or the plugin that could not be created, at the
 * place that names it.
 */
export function buildFindings(snapshot: Snapshot, error: unknown): readonly Finding[] {
  return error instanceof BuildError ? error.findings : [buildFinding(snapshot, error)];
}

function buildFinding(snapshot: Snapshot, error: unknown): Finding {
  const at = placeOf(error) ?? { file: snapshot.files[0]?.end.file ?? "", line: 1, column: 1 };
  return {
    at,
    message: `A plugin could not be made: ${withPlace(error)}`,
    fix: "Correct the plugin or its options.",
  };
}
