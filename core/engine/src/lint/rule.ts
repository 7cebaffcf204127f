/** Lints: what is allowed and hardly meant. A policy makes one an error, or switches it off. */

import type { GuardrailUseSettings, Position, Snapshot } from "../config/snapshot.ts";
import type { Finding } from "../config/finding.ts";
import type { LintName, LintSeverity } from "../config/schema/policies.ts";
import type { Definitions } from "../registry/definitions.ts";

/** Something that is hardly meant, where it stands, with the reason and what to do. */
export interface Lint extends Finding {
  readonly rule: LintName;
  readonly severity: Exclude<LintSeverity, "off">;
}

/** A lint before its severity is known. */
export type Doubt = Finding;

/** What a rule looks at. */
export interface LintSubject {
  readonly snapshot: Snapshot;
  readonly definitions: Definitions;
  /** Places of steps whose condition names what does not exist. */
  readonly unknown?: readonly Position[];
}

/** The words that a step provides, its own name among them. */
export function wordsOf(use: string, { steps }: Definitions): readonly string[] {
  return [use, ...(steps.get(use)?.provides ?? [])];
}

/** Names of guardrails that run wherever a step runs guardrails. */
export function standingGuardrails(guardrails: readonly GuardrailUseSettings[]): readonly string[] {
  return guardrails.filter(({ settings }) => settings.defaultOn).map(({ name }) => name);
}
