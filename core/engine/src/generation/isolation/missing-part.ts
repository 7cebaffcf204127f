/** Whether what `create` of a guardrail returned can judge. */

import type { Guardrail } from "@sluice/contract";

/** What an instance lacks; `undefined` for one that can judge. */
export function missingPart(made: Partial<Guardrail> | undefined): string | undefined {
  if (typeof made !== "object" || made === null) return "is nothing: `create` returns no object";
  if (made instanceof Promise) return "is a promise: `create` must return the object itself";
  if (typeof made.check !== "function") return "has no check: `create` returns no `check(text, …)`";
  return made.reach !== undefined && made.reach >= 0
    ? undefined
    : "has no reach of 0 or more: `create` returns no `reach`";
}
