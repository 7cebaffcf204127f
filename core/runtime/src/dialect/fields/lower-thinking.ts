/** Lowers `thinking` to an effort, for a model that has no field for it. */

import type { JsonDocument, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** The least budget of each effort. */
const BUDGETS = [
  [10_000, "high"],
  [5_000, "medium"],
  [2_000, "low"],
] as const;
/** Efforts that few models have. */
const BEYOND_HIGH: ReadonlySet<JsonValue | undefined> = new Set(["xhigh", "max"]);

/** A document without `thinking`, and the fields that are not honoured. */
export interface LoweredThinking {
  readonly document: JsonDocument;
  readonly dropped: readonly string[];
}

/**
 * A request of a client that asks every model to think: its budget becomes an effort where the
 * model may take one, and has no effect elsewhere.
 */
export function lowerThinking(document: JsonDocument, takesEffort: boolean): LoweredThinking {
  const { thinking, reasoning_effort: asked } = document.value;
  const effort = asked ?? effortOf(thinking);
  if (takesEffort) {
    const reasoning_effort = BEYOND_HIGH.has(effort) ? "high" : effort;
    return { document: document.with({ thinking: undefined, reasoning_effort }), dropped: [] };
  }
  const isAsking = isObject(thinking) && thinking.type !== "disabled";
  const dropped = [
    ...(isAsking ? ["thinking"] : []),
    ...(asked === undefined || asked === null ? [] : ["reasoning_effort"]),
  ];
  return {
    document: document.with({ thinking: undefined, reasoning_effort: undefined }),
    dropped,
  };
}

function effortOf(thinking: JsonValue | undefined): string | undefined {
  if (!isObject(thinking) || thinking.type !== "enabled") return undefined;
  const budget = Number(thinking.budget_tokens);
  return BUDGETS.find(([least]) => budget >= least)?.[1] ?? "minimal";
}
