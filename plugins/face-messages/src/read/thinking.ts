/** Thinking and effort of a request. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { invalidField } from "@sluice/kit/dialect";
import { isSet, type Notes, object, string } from "./fields.ts";

/** The least budget that the API takes. */
const MIN_BUDGET = 1_024;

/**
 * `thinking` as it is, and the effort of `output_config`. A budget below the API's minimum is
 * raised; where the reply has no place for it, thinking is off.
 */
export function readThinking(
  value: JsonObject,
  maxTokens: number | undefined,
  notes: Notes,
): JsonObject {
  const config = isSet(value.output_config) ? object(value.output_config, "output_config") : {};
  const effort = isSet(config.effort) ? string(config.effort, "output_config.effort") : undefined;
  const thinking = thinkingOf(value.thinking, maxTokens, notes);
  return {
    ...(thinking === undefined ? {} : { thinking }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
  };
}

function thinkingOf(
  value: JsonValue | undefined,
  maxTokens: number | undefined,
  notes: Notes,
): JsonObject | undefined {
  if (!isSet(value)) return undefined;
  const thinking = object(value, "thinking");
  if (thinking.type !== "enabled") {
    if (thinking.type === "adaptive" || thinking.type === "disabled") return thinking;
    throw invalidField("thinking.type", "enabled, adaptive or disabled");
  }
  const { budget_tokens: budget } = thinking;
  if (typeof budget !== "number" || !Number.isInteger(budget) || budget < 1)
    throw invalidField("thinking.budget_tokens", "a whole number of at least 1");
  if (budget >= MIN_BUDGET) return thinking;
  notes.drop("thinking.budget_tokens");
  return maxTokens === undefined || maxTokens > MIN_BUDGET
    ? { ...thinking, budget_tokens: MIN_BUDGET }
    : { type: "disabled" };
}
