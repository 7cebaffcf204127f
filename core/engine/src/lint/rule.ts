/**
 * Lints report settings that are allowed but rarely intended. A policy turns a lint into an error,
 * or switches it off.
 */

import type { GuardrailUseSettings, Position, Snapshot } from "../config/snapshot.ts";
import type { Finding } from "../config/finding.ts";
import type { LintName, LintSeverity } from "../config/schema/policies.ts";
import type { Definitions } from "../registry/definitions.ts";

/** A lint finding with its rule and severity. */
export interface Lint extends Finding {
  readonly rule: LintName;
  readonly severity: Exclude<LintSeverity, "off">;
}

/** A finding of a rule, before its severity is known. */
export type LintFinding = Finding;

/** The input of a rule. */
export interface LintSubject {
  readonly snapshot: Snapshot;
  readonly definitions: Definitions;
  /** Places of steps whose condition names something that does not exist. */
  readonly unknown?: readonly Position[];
}

/** The capabilities that a step provides, its own name among them. */
export function capabilitiesOf(use: string, { steps }: Definitions): readonly string[] {
  return [use, ...(steps.get(use)?.order?.provides ?? [])];
}

/** Names of the guardrails with `default_on`, which run in every step `guardrails`. */
export function standingGuardrails(guardrails: readonly GuardrailUseSettings[]): readonly string[] {
  return guardrails.filter(({ settings }) => settings.defaultOn).map(({ name }) => name);
}
