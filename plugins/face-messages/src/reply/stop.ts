/** Why a reply ended, in Anthropic's words. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { Members } from "@sluice/kit/dialect";

/** Reasons of the API that the reference dialect keeps as `native_finish_reason`. */
const NATIVE: ReadonlySet<JsonValue | undefined> = new Set([
  "end_turn",
  "max_tokens",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
]);
/** How providers say that a reply ended at a stop sequence. Not all of them say at which. */
const SEQUENCES: ReadonlySet<JsonValue | undefined> = new Set(["stop_sequence", "STOP_SEQUENCE"]);
const REASONS = Members.table<string>({
  stop: "end_turn",
  length: "max_tokens",
  content_filter: "refusal",
});

/** What is known of a choice's end. */
export interface ChoiceEnd {
  /** The choice, or its last chunk. */
  readonly choice: JsonObject;
  readonly hasCalls: boolean;
  /** The text of a refusal; empty without one. */
  readonly refusal: string;
}

/** `stop_reason`, `stop_sequence` and `stop_details`. */
export function stopOf({ choice, hasCalls, refusal }: ChoiceEnd): JsonObject {
  const reason = reasonOf(choice, hasCalls, refusal);
  return {
    stop_reason: reason,
    stop_sequence:
      reason === "stop_sequence" ? (Members.textIn(choice.stop_sequence) ?? null) : null,
    stop_details:
      reason === "refusal"
        ? { type: "refusal", category: null, explanation: refusal === "" ? null : refusal }
        : null,
  };
}

/**
 * A reply with calls asks for them, unless it was cut short or refused: then the last call may lack
 * its end.
 */
function reasonOf(choice: JsonObject, hasCalls: boolean, refusal: string): string {
  const { finish_reason: finish, native_finish_reason: native } = choice;
  const said = REASONS[String(finish)] ?? "end_turn";
  const isNative = NATIVE.has(native) && native !== "end_turn";
  if (said === "max_tokens" || said === "refusal") return isNative ? String(native) : said;
  if (hasCalls) return "tool_use";
  if (refusal !== "") return "refusal";
  if (Members.textIn(choice.stop_sequence) !== undefined || SEQUENCES.has(native))
    return "stop_sequence";
  return isNative ? String(native) : said;
}
