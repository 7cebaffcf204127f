/** Findings: what is wrong with a configuration, where, and what to do. */

import type { Position } from "./snapshot.ts";

/** One fault. Findings are collected; nothing stops at the first. */
export interface Finding {
  readonly at: Position;
  /** What is wrong. */
  readonly message: string;
  /** What to do. */
  readonly fix: string;
  /** Set where the fault is a plugin that no loaded package has. */
  readonly isUnknownPlugin?: boolean;
  /** The unknown plugin, as `kind/name`. */
  readonly unknownPlugin?: string;
}

/** A finding in one line: `file:line:col  what is wrong  what to do`. */
export function formatFinding(finding: Finding): string {
  return `${finding.at.file}:${finding.at.line}:${finding.at.column}  ${finding.message}  ${finding.fix}`;
}
